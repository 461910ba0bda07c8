"""Losing components, against all 2^G combinations of losses."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import shafer
from shafer.evidence.robustness import MOST_COMBINED, loss_fragility


def brute_force(weights: Any, base: Any, chance: float) -> Any:
    """Try all combinations of losses, one row at a time."""
    found = []
    for row in weights:
        chosen = row.sum(axis=0).argmax()
        total = 0.0
        for gone in product([False, True], repeat=len(row)):
            left = np.where(np.array(gone)[:, None], base, row).sum(axis=0)
            falls = left[chosen] < left.max() - 1e-9
            total += falls * chance ** sum(gone) * (1 - chance) ** (len(row) - sum(gone))
        found.append(total)
    return np.array(found)


def random_weights(seed: int, n: int, n_components: int, n_classes: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(n, n_components, n_classes))
    weights -= weights.mean(axis=2, keepdims=True)
    share = 0.1 * rng.normal(size=n_classes)
    return weights, np.tile(share - share.mean(), (n_components, 1))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, MOST_COMBINED), st.integers(2, 5), st.floats(0, 1))
def test_few_components_are_exact(seed: int, n_components: int, n_classes: int, q: float) -> None:
    weights, base = random_weights(seed, 4, n_components, n_classes)
    found = loss_fragility(weights, base, q)
    assert_allclose(found, brute_force(weights, base, q), atol=1e-9)


@pytest.mark.parametrize(("n_classes", "mean", "largest"), [(2, 0.02, 0.15), (4, 0.03, 0.15)])
def test_the_error_of_the_normal_approximation(n_classes: int, mean: float, largest: float) -> None:
    """With 10 and 12 components, and each lost with chance 0.2."""
    errors = []
    for n_components in (10, 12):
        weights, base = random_weights(n_components, 20, n_components, n_classes)
        found = loss_fragility(weights, base, 0.2)
        errors.append(found - brute_force(weights, base, 0.2))
    assert np.abs(errors).mean() < mean
    assert np.abs(errors).max() < largest


@pytest.mark.parametrize("q", [0.0, 1.0])
@pytest.mark.parametrize("n_components", [3, 30])
def test_nothing_and_everything_lost(q: float, n_components: int) -> None:
    weights, base = random_weights(0, 50, n_components, 3)
    found = loss_fragility(weights, base, q)
    falls = weights.sum(axis=1).argmax(axis=1) != base.sum(axis=0).argmax()
    assert_array_equal(found, falls if q == 1.0 else np.zeros(50))


def test_evidence_of_a_model_keeps_the_base_rate() -> None:
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=2000).fit(X, y)
    ev = shafer.Explainer(model, X)(X)
    weights = to_array(ev.weights)
    base = to_array(shafer.Explainer(model, X)(X.mean(axis=0)[None, :]).weights)[0]
    assert_allclose(ev.fragility(0.3), brute_force(weights, base, 0.3), atol=1e-9)
    assert_allclose(ev[3:5].fragility(0.3), ev.fragility(0.3)[3:5])
    assert_allclose(ev.tempered(0.1).fragility(), ev.fragility(), atol=1e-9)
    own = shafer.Explainer(model, X, prior="own")(X)
    assert_allclose(own.fragility(), ev.fragility(), atol=1e-9)  # the base rate cannot be lost


def to_array(weights: Any) -> Any:
    return np.asarray(weights, dtype=np.float64)


def test_any_additive_model() -> None:
    X, y = load_iris(return_X_y=True)
    ev = shafer.Explainer(GaussianNB().fit(X, y), X)(X)
    found = ev.fragility()
    assert found.shape == (150,)
    assert ((found >= 0) & (found <= 1)).all()
    base = to_array(ev.source.base_shares())
    assert_allclose(found, brute_force(to_array(ev.weights), base, 0.2), atol=1e-9)


def test_more_conflict_is_more_fragile() -> None:
    agree = [[0.2, -0.2]] * 10
    fight = [[2.0, -2.0]] * 5 + [[-1.6, 1.6]] * 5
    ev = shafer.Evidence.from_weights([agree, fight])
    assert_allclose(ev.probability[0], ev.probability[1])
    calm, torn = ev.fragility()
    assert calm < 1e-6
    assert torn > 0.2


def test_libraries_components_and_chunks(monkeypatch: Any) -> None:
    weights, _ = random_weights(1, 40, 12, 3)
    ev = shafer.Evidence.from_weights(weights)
    found = ev.fragility()
    tensor = shafer.Evidence.from_weights(torch.tensor(weights, dtype=torch.float32)).fragility()
    assert isinstance(tensor, torch.Tensor)
    assert tensor.dtype == torch.float32
    assert_allclose(tensor.numpy(), found, atol=1e-5)
    assert ev.components.fragility().shape == (40, 12)
    assert_array_equal(ev.components.fragility(), np.zeros((40, 12)))  # losing it is a tie
    monkeypatch.setattr("shafer.evidence.robustness._BLOCK", 100)
    assert_allclose(ev.fragility(), found, atol=1e-12)


def test_extreme_margins() -> None:
    ev = shafer.Evidence.from_weights([[[1e8, -1e8], [-1e-300, 1e-300]] * 6])
    assert np.isfinite(ev.fragility()).all()


@pytest.mark.parametrize("q", [-0.1, 1.1, np.nan, "0.2", True, None])
def test_refusals(q: Any) -> None:
    ev = shafer.Evidence.from_weights([[[1.0, -1.0]]])
    with pytest.raises(ValueError, match="q must be a number from 0"):
        ev.fragility(q)


@pytest.mark.parametrize("missing", ["error", "vacuous", "conditional"])
def test_prior_does_not_matter(missing: str) -> None:
    """With 8 inputs, a base rate of its own would be a ninth component that cannot be lost."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 8))
    y = (X.sum(axis=1) + rng.logistic(size=200) > 2.0).astype(int)
    model = LogisticRegression().fit(X, y)
    rows = X[:20].copy()
    if missing != "error":
        rows[::2, 3] = np.nan
    shared, own = (
        shafer.Explainer(model, X, missing=missing, prior=prior)(rows)
        for prior in ("shared", "own")
    )
    assert_allclose(shared.base_rate, own.base_rate, atol=1e-12)
    assert_allclose(own.weights[:, -1], own.base_rate, atol=1e-12)
    assert_allclose(shared.fragility(), own.fragility(), atol=1e-12)


def test_factors_of_any_size_do_not_matter() -> None:
    weights = np.random.default_rng(0).normal(size=(5, 12, 4))
    ev, huge = (shafer.Evidence.from_weights(weights * size) for size in (1.0, 1e290))
    assert_allclose(huge.fragility(), ev.fragility(), rtol=1e-9)
