"""The closed forms, and the quadrature, against sums written out."""

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
from shafer._kernels.forms import LogTerms, closed_forms, gauss_legendre, quadrature_size

# The closed forms against sums over all 2^K masses, and against the formulas in plain numbers.


WEIGHT = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 9.0, -9.0]), st.floats(-4, 4))
WEIGHTS = st.integers(2, 5).flatmap(lambda k: arrays(float, (2, 2, k), elements=WEIGHT))


def read(weights: NDArray[Any]) -> tuple[LogTerms, NDArray[Any], NDArray[Any]]:
    """Return the terms, all masses, and which sets (2^K,) hold which classes (K,)."""
    terms = kernels.log_terms(kernels.pool(weights))
    sets = np.arange(2 ** weights.shape[-1])
    holds = (sets[:, None] >> np.arange(weights.shape[-1])) & 1 == 1
    return terms, kernels.all_masses(terms), holds


@given(WEIGHTS)
def test_all_masses_are_a_mass_function(weights: NDArray[Any]) -> None:
    terms, masses, holds = read(weights)
    assert_allclose(masses.sum(axis=-1), 1.0, rtol=1e-12)
    assert (masses[:, 0] == 0).all()
    u = np.exp(-terms.weights_against)
    large = holds.sum(axis=-1) > 1
    product = np.where(holds[large], u[:, None, :], 1 - u[:, None, :]).prod(axis=-1)
    scale = masses[:, -1:] / u.prod(axis=-1, keepdims=True)
    assert_allclose(masses[:, large], product * scale, rtol=1e-9, atol=1e-14)


@given(WEIGHTS)
def test_sums_over_masses(weights: NDArray[Any]) -> None:
    terms, masses, holds = read(weights)
    forms = closed_forms(kernels.pool(weights))
    size = holds.sum(axis=-1)
    close = {"rtol": 1e-10, "atol": 1e-14}
    assert_allclose(forms.plausibility, masses @ holds, **close)
    assert_allclose(forms.belief, masses[:, size == 1], **close)
    assert_allclose(forms.ignorance, masses[:, -1], **close)
    shared = np.divide(masses, size, where=size > 0, out=np.zeros_like(masses))
    assert_allclose(kernels.pignistic(terms), shared @ holds, **close)
    total = forms.plausibility.sum(axis=-1, keepdims=True)
    assert_allclose(forms.probability, forms.plausibility / total, **close)


@given(WEIGHTS, st.data())
def test_any_set(weights: NDArray[Any], data: st.DataObject) -> None:
    terms, masses, holds = read(weights)
    mask = data.draw(st.integers(1, len(holds) - 1))
    inside, outside = (np.flatnonzero(where).tolist() for where in (holds[mask], ~holds[mask]))
    close = {"rtol": 1e-10, "atol": 1e-14}
    within, meets = ~holds[:, outside].any(axis=1), holds[:, inside].any(axis=1)
    assert_allclose(
        kernels.belief_of(terms, inside, outside), masses[:, within].sum(axis=-1), **close
    )
    assert_allclose(kernels.plausibility_of(terms, inside), masses[:, meets].sum(axis=-1), **close)
    if len(inside) > 1:
        contains = holds[:, inside].all(axis=1)
        found = kernels.commonality_of(terms, inside)
        assert_allclose(found, masses[:, contains].sum(axis=-1), **close)
        assert_allclose(kernels.mass_of(terms, inside, outside), masses[:, mask], **close)


@given(WEIGHTS)
def test_conflict_in_plain_numbers(weights: NDArray[Any]) -> None:
    terms = kernels.log_terms(kernels.pool(weights))
    w_for, w_against = terms.weights_for, terms.weights_against
    u, product = np.exp(-w_against), (1 - np.exp(-w_against)).prod(axis=-1)
    odds = np.expm1(w_for).sum(axis=-1)
    d = (u * np.expm1(w_for)).sum(axis=-1) + 1 - product
    kappa = kernels.conflict(terms)
    assert_allclose(1 - kappa, d * np.exp(-w_for.sum(axis=-1)), rtol=1e-9, atol=1e-13)
    weight = kernels.weight_of_conflict(terms)
    assert_allclose(weight, w_for.sum(axis=-1) - np.log(d), rtol=1e-9, atol=1e-12)
    if weights.shape[-1] > 2:
        expected = 1 - d / ((1 + odds) * (1 - product))
        assert_allclose(kernels.conflict_for_against(terms), expected, rtol=1e-7, atol=1e-10)
    else:
        assert (kernels.conflict_for_against(terms) == kappa).all()


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e3, 1e8])
def test_ends(scale: float, sign: float) -> None:
    weights = sign * scale * np.array([[[1.0, 2.0, 3.0], [0.0, 0.5, 0.25]]])
    terms = kernels.log_terms(kernels.pool(weights))
    forms = closed_forms(kernels.pool(weights))
    best = 2 if sign > 0 else 0
    if scale < 1:
        assert_allclose(forms.ignorance, 1.0, rtol=1e-11)
        assert_allclose(forms.plausibility, 1.0, rtol=1e-11)
        # Conflict keeps its relative accuracy: the chance that two of the three pairs hold.
        pairs = scale**2 * (2.5 * 1.0 + 3.25 * 1.0 + 2.5 * 3.25)
        assert_allclose(forms.conflict, pairs if sign > 0 else 0.0, rtol=1e-9, atol=1e-35)
    else:
        assert forms.belief[0].tolist() == [float(k == best) for k in range(3)]
        assert_allclose(kernels.weight_of_conflict(terms), scale * (3.5 if sign > 0 else 1.0))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("K", [2, 3, 5])
def test_rounding_does_not_lead_above_one(K: int, scale: float, dtype: str) -> None:
    rng = np.random.default_rng(K)
    weights = rng.normal(size=(4000, 4, K)) * scale * (rng.random((4000, 4, K)) < 0.4)
    for some in (weights, -np.abs(weights)):
        forms = closed_forms(kernels.pool(some.astype(dtype)))
        assert (forms.plausibility <= 1.0).all()
        assert (forms.belief <= forms.plausibility).all()
        assert (forms.belief >= 0.0).all()


# The quadrature: enough nodes for any number of classes.


@pytest.mark.parametrize("n_classes", [2, 3, 8, 20, 64, 100, 300, 1000, 3000, 10_000])
def test_every_monomial_is_integrated_to_rounding(n_classes: int) -> None:
    # The integrand has nonnegative coefficients, so this bounds its relative error.
    one_minus_t, weight = gauss_legendre(quadrature_size(n_classes))
    degree = np.unique(np.geomspace(1, n_classes, 200).astype(int)) - 1
    integral = np.exp(degree[:, None] * np.log1p(-one_minus_t)) @ weight
    assert_allclose(integral, 1 / (degree + 1.0), rtol=5e-15)


def test_the_number_of_nodes_grows_as_the_root() -> None:
    assert quadrature_size(3) == 2
    assert quadrature_size(10_000) < 400
