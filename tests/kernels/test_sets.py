"""Risks and sets of classes, against all sets."""

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
from shafer._kernels.sets import largest_focal_sets

# Lower and upper risks against their definition over all focal sets.


finite = st.floats(-4, 4)


@given(
    st.integers(2, 6).flatmap(
        lambda k: st.tuples(
            arrays(float, (2, 3, k), elements=finite), arrays(float, (4, k), elements=finite)
        )
    )
)
def test_definition(drawn: tuple[NDArray[Any], NDArray[Any]]) -> None:
    weights, loss = drawn
    n_classes = loss.shape[1]
    terms = kernels.log_terms(kernels.pool(weights))
    masses = kernels.all_masses(terms)
    lower, upper = np.zeros((2, 4)), np.zeros((2, 4))
    for mask in range(1, 2**n_classes):
        inside = [k for k in range(n_classes) if mask >> k & 1]
        lower += masses[:, [mask]] * loss[:, inside].min(axis=1)
        upper += masses[:, [mask]] * loss[:, inside].max(axis=1)
    assert_allclose(kernels.lower_risk(terms, loss), lower, rtol=1e-10, atol=1e-12)
    assert_allclose(kernels.upper_risk(terms, loss), upper, rtol=1e-10, atol=1e-12)


def test_zero_one_loss_gives_belief_and_plausibility() -> None:
    terms = kernels.log_terms(kernels.pool(np.array([[[1.0, -0.5, 0.2], [0.3, 0.4, -2.0]]])))
    loss = 1 - np.eye(3)
    assert_allclose(kernels.upper_risk(terms, loss), 1 - np.exp(kernels.log_belief(terms)))
    assert_allclose(kernels.lower_risk(terms, loss), 1 - np.exp(kernels.log_plausibility(terms)))


# E-admissibility under 0-1 loss against all sets, and the shares it is made of.


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


# The largest focal sets against all 2^K masses, and their cost for many classes.


FOCAL_WEIGHT = st.one_of(st.sampled_from([0.0, 1.0, -1.0, -40.0]), st.floats(-4, 4))


def find(weights: NDArray[Any], top: int) -> list[tuple[float, tuple[int, ...]]]:
    terms = kernels.log_terms(kernels.pool(weights))
    log_u, log_v, log_singleton, log_scale = (array[0] for array in kernels.focal_logarithms(terms))
    return largest_focal_sets(log_u, log_v, log_singleton, float(log_scale[0]), top)


@given(st.integers(2, 5).flatmap(lambda k: arrays(float, (1, 2, k), elements=FOCAL_WEIGHT)))
def test_all_focal_sets_in_order_of_mass(weights: NDArray[Any]) -> None:
    masses = kernels.all_masses(kernels.log_terms(kernels.pool(weights)))[0]
    found = find(weights, len(masses))
    logs = [log_mass for log_mass, _ in found]
    assert logs == sorted(logs, reverse=True)
    assert len({inside for _, inside in found}) == len(found)
    by_set = np.zeros_like(masses)
    for log_mass, inside in found:
        by_set[sum(1 << k for k in inside)] = np.exp(log_mass)
    assert_allclose(by_set, masses, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("top", [1, 2, 5])
def test_few_of_many(top: int) -> None:
    # 2^60 sets: only a search that stops at the wanted number ends.
    weights = np.random.default_rng(0).normal(size=(1, 3, 60))
    found = find(weights, top)
    assert len(found) == top
    assert found == find(weights, 8)[:top]


def test_rounding_does_not_lead_above_one() -> None:
    never = np.full(2, -np.inf)
    ((log_mass, inside),) = largest_focal_sets(np.zeros(2), never, never, 1e-16, 1)
    assert (log_mass, inside) == (0.0, (0, 1))
