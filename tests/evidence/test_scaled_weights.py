"""Weights times a factor for each instance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy import sparse

import shafer
from shafer._checks import to_numpy

N, G, K = 6, 5, 3
FACTOR = np.array([0.0, 0.25, 1.0, 2.0, 0.5, 3.0])
KINDS = ["dense", "linear", "sparse", "torch", "strict"]


@pytest.fixture(params=KINDS)
def ev(request: pytest.FixtureRequest) -> shafer.Evidence:
    rng = np.random.default_rng(1)
    arrays: list[Any] = [rng.normal(size=s) for s in ((K, G), K, G, (N, G))]
    if request.param == "torch":
        arrays = [torch.asarray(a) for a in arrays]
    elif request.param == "strict":
        arrays = [array_api_strict.asarray(a) for a in arrays]
    elif request.param == "sparse":
        arrays[3] = sparse.csr_array(arrays[3])
    evidence = shafer.least_commitment(*arrays[:3])(arrays[3])
    return shafer.Evidence.from_weights(evidence.weights) if request.param == "dense" else evidence


def same(one: shafer.Evidence, other: shafer.Evidence) -> None:
    for name in ("weights", "logits", "weights_for", "weights_against", "belief", "ignorance"):
        assert_allclose(
            to_numpy(getattr(one, name)), to_numpy(getattr(other, name)), rtol=1e-12, atol=1e-14
        )


def test_each_instance_has_its_own(ev: shafer.Evidence) -> None:
    warm = ev.tempered(FACTOR)
    for row, factor in enumerate(FACTOR):
        same(warm[row], ev[row].tempered(float(factor)))
    assert_allclose(to_numpy(warm.ignorance)[0], 1.0)


def test_what_comes_after(ev: shafer.Evidence) -> None:
    warm = ev.tempered(FACTOR)
    same(warm.tempered(2.0), ev.tempered(2 * FACTOR))
    same(warm.tempered(FACTOR), ev.tempered(FACTOR**2))
    same(warm[[3, 1]], ev[[3, 1]].tempered(FACTOR[[3, 1]]))
    same(warm.without("x0"), ev.without("x0").tempered(FACTOR))
    same(warm.grouped("one"), ev.grouped("one").tempered(FACTOR))
    assert_allclose(
        to_numpy(warm.components.belief)[2], to_numpy(ev.components.belief)[2], rtol=1e-12
    )
    assert warm.unchanged_source().shape == (N, G, K)


def test_one_factor_for_all(ev: shafer.Evidence) -> None:
    same(ev.tempered(np.full(N, 0.5)), ev.tempered(0.5))
    same(ev.tempered(np.array(0.5)), ev.tempered(0.5))


def test_saved_and_loaded(ev: shafer.Evidence, tmp_path: Path) -> None:
    warm = ev.tempered(FACTOR)
    warm.save(tmp_path / "warm.npz")
    same(shafer.Evidence.load(tmp_path / "warm.npz"), warm)


def test_changed_features_are_noticed() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, G))
    warm = shafer.least_commitment(rng.normal(size=(K, G)), np.zeros(K))(X).tempered(FACTOR)
    cold = warm.tempered(0.0)
    X[4] += 1.0
    with pytest.raises(ValueError, match="changed in place"):
        warm.weights  # noqa: B018 - the access is the test
    assert not to_numpy(cold.logits).any()
    X[4] -= 1.0
    X[0] += 1.0  # its factor is zero: its weights are zero whatever the features
    assert_allclose(warm.weights[0], 0.0)


def test_components_have_factors_too() -> None:
    parts = shafer.Evidence.from_weights(np.ones((2, 3, 4))).components
    factor = np.arange(6.0).reshape(2, 3)
    assert_allclose(parts.tempered(factor).logits, parts.logits * factor[..., None])
    assert parts.tempered(factor).weights.shape == (2, 3, 1, 4)


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        (FACTOR[:5], r"factor must be one number, or one for each instance \(6\); got shape \(5,"),
        (-FACTOR, "factor must be ≥ 0; got a smallest value of -3.0"),
        (FACTOR * np.nan, "factor must be finite"),
        (FACTOR * 5e307, "overflow"),
        (True, "factor must be a finite number ≥ 0"),
    ],
)
def test_bad_factors(factor: Any, message: str) -> None:
    ev = shafer.Evidence.from_weights(np.ones((N, G, K)))
    with pytest.raises(ValueError, match=message):
        ev.tempered(factor)
