"""Least commitment: the minimum itself, the two binary forms, and wrong input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import shafer


def test_it_is_the_least_committed() -> None:
    # Any other way of sharing the intercept or shifting the logits costs more.
    rng = np.random.default_rng(0)
    coef, intercept, X = rng.normal(size=(3, 4)), rng.normal(size=3), rng.normal(2, 1, (50, 4))
    pool = shafer.least_commitment(coef, intercept, X.mean(axis=0))
    least = (pool(X).weights ** 2).sum()
    for _ in range(20):
        share = rng.normal(size=(4, 3))
        share -= share.mean(axis=0)  # the sum over the features stays the intercept
        shift = rng.normal(size=(4, 1))
        other = X[:, :, None] * (pool.beta + 0.1 * shift) + pool.alpha + 0.1 * share
        assert (other**2).sum() > least


@pytest.mark.parametrize("shape", [(3,), (1, 3)])
def test_binary_is_two_classes(shape: tuple[int, ...]) -> None:
    coef, intercept, means = np.array([0.3, -1.0, 2.0]), 0.7, np.array([1.0, 0.0, -1.0])
    X = np.random.default_rng(1).normal(size=(6, 3))
    ev = shafer.least_commitment(coef.reshape(shape), [intercept], means)(X)
    log_odds = X @ coef + intercept
    assert_allclose(ev.probability[:, 1], 1 / (1 + np.exp(-log_odds)), rtol=1e-13)
    # The paper's binary weights are twice ours, for the positive class.
    w = coef * (X - means) + (intercept + coef @ means) / 3
    assert_allclose(2 * ev.weights[:, :, 1], w, atol=1e-14)
    for_, against = np.clip(w, 0, None).sum(1), np.clip(-w, 0, None).sum(1)
    kappa = (1 - np.exp(-for_)) * (1 - np.exp(-against))
    assert_allclose(ev.conflict, kappa, rtol=1e-12)
    assert_allclose(ev.conflict_for_against, kappa, rtol=1e-12)
    assert_allclose(ev.ignorance, np.exp(-for_ - against) / (1 - kappa), rtol=1e-12)
    same = shafer.least_commitment([-coef / 2, coef / 2], [-intercept / 2, intercept / 2], means)
    assert_allclose(same(X).belief, ev.belief, rtol=1e-13)


def test_equal_classes_are_vacuous_exactly() -> None:
    pool = shafer.least_commitment(np.full((3, 2), 0.1), np.full(3, 0.7), [0.3, 1e9])
    assert (pool([[5.0, -3e9]]).ignorance == 1.0).all()


def test_kinds_of_input() -> None:
    lists = shafer.least_commitment([[1, 2], [0, 1], [3, -1]], [0, 1, 2], [0, 0])
    assert lists.beta.dtype == np.float64
    half = shafer.least_commitment(np.ones((3, 2), np.float16), np.ones(3, np.float16))
    assert half.beta.dtype == np.float32
    tensor = shafer.least_commitment(torch.ones(2, dtype=torch.float32), 0.5, [1.0, 2.0])
    assert tensor.alpha.dtype == torch.float32
    assert tensor(torch.ones(1, 2)).belief.dtype == torch.float32
    boxed = shafer.least_commitment(np.array([[1, 2.5]], dtype=object), np.float64(0.0))
    assert_array_equal(boxed.beta[:, 1], [0.5, 1.25])
    assert lists.means.shape == (2,)


def test_sparse_agrees_with_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 30)) * (rng.random((40, 30)) < 0.2)
    X[3] = 0
    pool = shafer.least_commitment(rng.normal(size=(4, 30)), rng.normal(size=4), X.mean(axis=0))
    dense = pool(X)
    for form in (sparse.csr_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_array):
        ev = pool(form(X))
        assert_allclose(ev.belief, dense.belief, rtol=1e-9)
        assert_allclose(ev.conflict, dense.conflict, rtol=1e-9)
        assert_allclose(ev.weights, dense.weights, atol=1e-13)
    monkeypatch.setattr("shafer.kernels.sparse._BLOCK", 7)
    assert_allclose(pool(sparse.csr_array(X)).weights_for, dense.weights_for, rtol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(coef=np.ones((3, 2, 1))), r"coef must have 1 or 2 dimension.*got shape \(3, 2, 1\)"),
        (dict(coef=[["a", "b"]]), "coef must hold real numbers; got an array of <U1"),
        (dict(coef=np.ones((3, 2)) * 1j), "coef must hold real numbers; got an array of complex"),
        (dict(coef=[[1, 2], [3]]), "coef must be an array of real numbers; got list"),
        (dict(coef=np.full((3, 2), np.nan)), r"coef must be finite; got 6 NaN .* index \(0, 0\)"),
        (dict(coef=np.ones((3, 0))), r"at least one row and one feature; got shape \(3, 0\)"),
        (
            dict(coef=np.ones((0, 2)), intercept=np.ones(0)),
            r"at least one row and one feature; got shape \(0, 2\)",
        ),
        (dict(intercept=np.ones(2)), r"intercept must have 3 value\(s\).*\(3, 2\) has; got 2"),
        (dict(intercept=np.inf), "intercept must be finite"),
        (dict(intercept=None), "intercept must be an array of real numbers; got None"),
        (
            dict(feature_means=np.ones(3)),
            r"feature_means .* each of the 2 columns.*got shape \(3,\)",
        ),
        (dict(feature_means=[np.nan, 0]), "feature_means must be finite"),
        (dict(classes=["a", "b"]), r"classes must hold 3 labels; got shape \(2,\)"),
        (dict(classes=["a", "b", "a"]), "classes must be distinct"),
        (dict(names=["a"]), "names must hold 2 names; got 1"),
        (dict(names=["a", "a"]), r"names must be distinct; given more than once: \['a'\]"),
        (dict(intercept=torch.ones(3)), "All arrays must come from one library; got coef: numpy"),
    ],
)
def test_wrong_heads(arguments: dict[str, Any], message: str) -> None:
    right = dict(coef=np.ones((3, 2)), intercept=np.ones(3))
    with pytest.raises(ValueError, match=message):
        shafer.least_commitment(**{**right, **arguments})


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.ones(2), r"features must have 2 dimension.*got shape \(2,\)"),
        (np.ones((4, 3)), r"features must have 2 columns.*got shape \(4, 3\)"),
        (np.ones((0, 2)), "features must have at least one row"),
        ([[1.0, np.nan]], r"features must be finite; got 1 NaN.*index \(0, 1\)"),
        ([[np.inf, -np.inf]], "features must be finite; got 2"),
        ([["a", "b"]], "features must hold real numbers"),
        (torch.ones(1, 2), "All arrays must come from one library; got features: torch"),
        (sparse.csr_array(np.array([[np.nan, 0.0]])), "features must be finite"),
        (sparse.csr_array(np.array([[1j, 0.0]])), "features must hold real numbers"),
        (sparse.csr_array((0, 2)), "features must have at least one row"),
    ],
)
def test_wrong_features(features: Any, message: str) -> None:
    pool = shafer.least_commitment(np.eye(3)[:, :2], np.ones(3))
    with pytest.raises(ValueError, match=message):
        pool(features)


@pytest.mark.parametrize("shape", [(0, 2, 3), (2, 0, 3), (2, 2, 1), (2, 3)])
def test_wrong_weights(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"weights must|at least 2 classes"):
        shafer.Evidence.from_weights(np.ones(shape))
