"""The kernels on every array library: same kind out, same numbers, same precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from shafer import _kernels as kernels
from shafer._checks import to_numpy

LIBRARIES: dict[str, Callable[[Any], Any]] = {
    "torch": torch.asarray,
    "strict": array_api_strict.asarray,
}
FORMS = (
    kernels.probability,
    kernels.log_plausibility,
    kernels.log_belief,
    kernels.log_ignorance,
    kernels.conflict,
    kernels.weight_of_conflict,
    kernels.conflict_for_against,
    kernels.pignistic,
    kernels.all_masses,
    lambda terms: kernels.doubt(kernels.shares(terms)),
    lambda terms: kernels.surplus(kernels.shares(terms)),
    lambda terms: kernels.surprise(terms.logits),
    lambda terms: kernels.belief_of(terms, [0], [1, 2, 3]),
    lambda terms: kernels.plausibility_of(terms, [0, 2]),
    lambda terms: kernels.commonality_of(terms, [1, 2]),
    lambda terms: kernels.mass_of(terms, [1, 2], [0, 3]),
)


@pytest.fixture
def linear() -> tuple[Any, ...]:
    rng = np.random.default_rng(3)
    features, centre, beta = rng.normal(size=(5, 6)), rng.normal(size=6), rng.normal(size=(6, 4))
    features[0] = centre
    beta -= beta.mean(axis=1, keepdims=True)
    return features, centre, beta, np.array([0.3, -0.1, 0.0, -0.2])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_same_kind_out(library: str, dtype: str, linear: tuple[Any, ...]) -> None:
    arrays = [array.astype(dtype) for array in linear]
    there = [LIBRARIES[library](array) for array in arrays]
    pooled = kernels.pool_linear(*there)
    expected = kernels.pool_linear(*arrays)
    terms, expected_terms = kernels.log_terms(pooled), kernels.log_terms(expected)
    rtol = 1e-5 if dtype == "float32" else 1e-12
    for form in FORMS:
        actual, wanted = form(terms), form(expected_terms)
        assert type(actual) is type(there[0])
        assert actual.dtype == there[0].dtype
        assert wanted.dtype == dtype
        assert_allclose(to_numpy(actual), wanted, rtol=rtol, atol=rtol / 10)


@pytest.mark.parametrize("library", LIBRARIES)
def test_risks(library: str, linear: tuple[Any, ...]) -> None:
    loss = np.array([[0.0, 1.0, 2.0, 5.0], [1.0, 1.0, 1.0, 1.0], [3.0, 0.0, -1.0, 0.0]])
    terms = kernels.log_terms(kernels.pool_linear(*linear))
    there = kernels.log_terms(kernels.pool_linear(*(LIBRARIES[library](a) for a in linear)))
    for risk in (kernels.lower_risk, kernels.upper_risk):
        assert_allclose(to_numpy(risk(there, LIBRARIES[library](loss))), risk(terms, loss))


def test_blocks_do_not_change_the_sums(
    linear: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    features, centre, beta, offset = linear
    whole = kernels.pool(kernels.linear_weights(features - centre, beta, offset))
    for block in (1, 4, 9, 50):
        monkeypatch.setattr("shafer._kernels.pooling._BLOCK", block)
        for part, expected in zip(kernels.pool_linear(*linear), whole, strict=True):
            assert_allclose(part, expected, rtol=1e-13, atol=1e-15)


def test_no_rows(linear: tuple[Any, ...]) -> None:
    features, *rest = linear
    assert kernels.pool_linear(features[:0], *rest).logits.shape == (0, 4)


def test_gradients_are_finite() -> None:
    weights = torch.tensor([[[0.0, 1.0, -1.0], [2.0, 0.0, -2.0]]], dtype=torch.float64)
    weights.requires_grad_()
    terms = kernels.log_terms(kernels.pool(weights))
    for form in FORMS[:9]:
        (gradient,) = torch.autograd.grad(form(terms).sum(), weights, retain_graph=True)
        assert torch.isfinite(gradient).all()
