"""The ten models of tests/golden: R evclass 2.0.2 and 800-digit brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import shafer

# In the binary form the file has one weight per feature, for the first class; here each class has
# its own, half of it, so the positive class (column 1) is the second one listed in the file.


@pytest.fixture
def pool(golden: dict[str, Any]) -> Any:
    beta = np.array(golden["beta"])
    means = None if golden["mu"] is None else np.ravel(golden["mu"])
    if golden["binary_vector_form"]:
        return shafer.least_commitment(-beta[1:], -beta[0], means)
    return shafer.least_commitment(beta[1:].T, beta[0], means)


@pytest.fixture
def ev(golden: dict[str, Any], pool: Any) -> shafer.Evidence:
    return pool(np.array(golden["X"], dtype=float).reshape(golden["n"], golden["J"]))


def _exact(golden: dict[str, Any], name: str, actual: Any) -> None:
    expected = np.array(golden["exact"][name], dtype=float).reshape(np.shape(actual))
    size = max(1.0, float(np.max(golden["exact"]["w_plus"])))
    assert_allclose(actual, expected, rtol=1e-12 * size, atol=0)


def test_alpha_and_beta(golden: dict[str, Any], pool: Any) -> None:
    binary = golden["binary_vector_form"]
    for name, array in (("A", pool.alpha), ("B", pool.beta)):
        _exact(golden, name, 2 * array[:, 0] if binary else array)
        r = np.array(golden[name]).reshape(golden["J"], -1)
        assert_allclose(2 * array[:, :1] if binary else array, r, rtol=0, atol=1e-12)


def test_pooled_weights(golden: dict[str, Any], ev: shafer.Evidence) -> None:
    binary = golden["binary_vector_form"]
    _exact(golden, "w_plus", 2 * ev.weights_for[:, :1] if binary else ev.weights_for)
    _exact(golden, "w_minus", 2 * ev.weights_against[:, :1] if binary else ev.weights_against)


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("mass", lambda ev: ev.masses()),
        ("pl", lambda ev: ev.plausibility),
        ("bel", lambda ev: ev.belief),
        ("betp", lambda ev: ev.pignistic),
        ("prob", lambda ev: ev.probability),
        ("conflict_total", lambda ev: ev.conflict),
        ("log_one_minus_conflict_total", lambda ev: -ev.weight_of_conflict),
        ("kappa_paper", lambda ev: ev.conflict_for_against),
    ],
)
def test_exact_values(golden: dict[str, Any], ev: shafer.Evidence, name: str, of: Any) -> None:
    _exact(golden, name, of(ev))


def test_ignorance_is_the_mass_of_the_frame(golden: dict[str, Any], ev: shafer.Evidence) -> None:
    whole = np.array(golden["exact"]["mass"])[:, -1]
    assert_allclose(ev.ignorance, whole, rtol=1e-12 * max(1.0, float(ev.weights_for.max())))


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("mass", lambda ev: ev.masses()),
        ("pl", lambda ev: ev.plausibility),
        ("bel", lambda ev: ev.belief),
        ("prob", lambda ev: ev.probability),
        ("conf", lambda ev: ev.conflict),
    ],
)
def test_what_r_prints(golden: dict[str, Any], ev: shafer.Evidence, name: str, of: Any) -> None:
    assert_allclose(of(ev), np.array(golden[name]), rtol=0, atol=1e-12)


def test_sets_agree_with_all_masses(golden: dict[str, Any], ev: shafer.Evidence) -> None:
    masses = np.array(golden["exact"]["mass"])
    columns = np.arange(masses.shape[1])
    for mask in columns:
        subset = [k for k in range(golden["K"]) if mask >> k & 1]
        inside = (columns & ~mask) == 0
        inside[0] = False
        assert_allclose(ev.mass_of(subset), masses[:, mask], rtol=1e-10, atol=1e-300)
        assert_allclose(ev.belief_of(subset), masses[:, inside].sum(1), rtol=1e-10)
        assert_allclose(
            ev.plausibility_of(subset), masses[:, (columns & mask) != 0].sum(1), rtol=1e-10
        )
        assert_allclose(
            ev.commonality_of(subset), masses[:, (columns & mask) == mask].sum(1), rtol=1e-10
        )
