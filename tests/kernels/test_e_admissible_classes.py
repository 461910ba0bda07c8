"""E-admissibility under 0-1 loss against all sets, and the shares it is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from shafer import _kernels as kernels

WEIGHT = st.one_of(st.sampled_from([0.0, 1e-9, -1e-9, -60.0, -1e3, 40.0]), st.floats(-4, 4))
WEIGHTS = st.integers(2, 6).flatmap(lambda k: arrays(float, (1, 2, k), elements=WEIGHT))


def beliefs(masses: NDArray[Any], n_classes: int) -> NDArray[Any]:
    index = np.arange(2**n_classes)
    return np.array([masses[(index & ~mask) == 0].sum() for mask in index])


@given(WEIGHTS, st.floats(0, 1))
def test_excess_belief_is_the_largest_over_all_sets(w: NDArray[Any], threshold: float) -> None:
    n_classes = w.shape[-1]
    terms = kernels.log_terms(kernels.pool(w))
    belief = beliefs(kernels.all_masses(terms)[0], n_classes)
    size = np.array([mask.bit_count() for mask in range(2**n_classes)])
    for k in range(n_classes):
        without = (np.arange(2**n_classes) >> k & 1) == 0
        expected = (belief - threshold * size)[without].max()
        found = kernels.excess_belief(
            kernels.shares(terms), np.array([[k]]), np.array([[threshold]])
        )
        assert_allclose(found, expected, atol=1e-10)


@given(WEIGHTS)
def test_shares_give_belief_and_plausibility(w: NDArray[Any]) -> None:
    terms = kernels.log_terms(kernels.pool(w))
    parts = kernels.shares(terms)
    plausibility = parts.s + parts.t_share * kernels.one_minus_exp_ratio(parts.t)
    assert_allclose(plausibility, np.exp(kernels.log_plausibility(terms)), rtol=1e-9, atol=1e-300)
    rest = parts.t.sum(axis=-1, keepdims=True) - parts.t
    belief = parts.s + np.exp(-rest) * (plausibility - parts.s)
    assert_allclose(belief, np.exp(kernels.log_belief(terms)), rtol=1e-9, atol=1e-13)
    for array in parts:
        assert np.isfinite(array).all()


@pytest.mark.parametrize("scale", [1e3, 1e4, 1e5])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_huge_weights(scale: float, sign: float) -> None:
    w = sign * np.abs(np.random.default_rng(0).normal(size=(5, 2, 7))) * scale
    terms = kernels.log_terms(kernels.pool(w))
    kept = kernels.e_admissible_classes(
        kernels.shares(terms), terms.logits, np.exp(kernels.log_plausibility(terms)), np.zeros(5)
    )
    # Nothing is left open: only the most plausible class can be the most probable.
    assert (kept == (terms.logits == 0)).all()


def test_ratio_at_zero() -> None:
    t = np.array([0.0, 1e-300, 1e-8, 1.0, 800.0])
    ratio = kernels.one_minus_exp_ratio(t)
    assert_allclose(ratio, [1.0, 1.0, 1.0 - 5e-9, 1.0 - np.exp(-1.0), 1 / 800.0])


@pytest.mark.parametrize("K", [2, 3, 4, 5, 8, 9])
def test_the_search_agrees_with_asking_every_class(K: int) -> None:
    weights = (
        np.random.default_rng(K).normal(size=(300, 2, K))
        * np.geomspace(0.01, 3, 300)[:, None, None]
    )
    terms = kernels.log_terms(kernels.pool(weights))
    parts, threshold = kernels.shares(terms), np.exp(kernels.log_plausibility(terms))
    kept = kernels.e_admissible_classes(parts, terms.logits, threshold, np.full(300, 1e-12))
    for k in range(K):
        position = np.full((300, 1), k)
        excess = kernels.excess_belief(parts, position, threshold[:, k : k + 1])
        assert (kept[:, k] == (excess <= 1e-12)).all()
    assert len(np.unique(kept.sum(axis=1))) == K  # every size of set is among them
