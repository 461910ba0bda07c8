"""Least commitment: the minimum itself, the two binary forms, and wrong input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
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


def test_the_pool_is_its_own() -> None:
    means, coef = np.zeros(2), np.array([1.0, 2.0])
    pool = shafer.least_commitment(coef, 0.0, means)
    means[:] = coef[:] = 100.0
    assert (pool.means == 0).all()
    assert pool.beta[0, 1] == 0.5
    for array in (pool.beta, pool.alpha, pool.means, pool.offset, pool.classes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_precisions_meet_at_the_wider() -> None:
    single = torch.ones(2, dtype=torch.float32)
    pool = shafer.least_commitment(single, 0.0, torch.zeros(2, dtype=torch.float64))
    assert pool.beta.dtype == torch.float64
    narrow = shafer.least_commitment(single, 0.0)
    assert narrow(torch.ones(1, 2, dtype=torch.float64)).belief.dtype == torch.float64
    head = shafer.least_commitment(np.ones(2, np.float32), 0.0)
    for dtype in (np.float32, np.float64, np.longdouble, np.int8):
        X = np.ones((3, 2), dtype)
        ev = head(sparse.csr_array(X)) if dtype != np.longdouble else head(X)
        assert ev.belief.dtype == head(X).belief.dtype
        assert ev.weights.dtype == ev.belief.dtype


def test_sums_run_in_double_precision() -> None:
    weights = np.full((1, 300_000, 2), 0.1, dtype=np.float32) * np.float32([1, -1])
    ev = shafer.Evidence.from_weights(weights)
    assert_allclose(ev.weights_for[0, 0], np.float64(np.float32(0.1)) * 300_000, rtol=1e-7)
    assert_allclose(ev.grouped("one").weights[0, 0, 0], ev.weights_for[0, 0], rtol=1e-7)


@pytest.mark.parametrize("library", [np.asarray, torch.asarray])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_overflow_is_an_error(library: Any, dtype: str) -> None:
    big = np.finfo(dtype).max / 10
    with pytest.raises(ValueError, match="overflow .*float.*Scale the features"):
        shafer.least_commitment(library(np.array([big, 1], dtype)), 0.0)(
            library(np.array([[big, 1]], dtype))
        )
    with pytest.raises(ValueError, match="overflow"):
        shafer.Evidence.from_weights(library(np.full((1, 30, 2), big, dtype)))
    with pytest.raises(ValueError, match="overflow"):
        shafer.least_commitment(library(np.array([[big * 9, 1], [-big * 9, 1]], dtype)), [0.0, 1.0])
    ev = shafer.Evidence.from_weights(library(np.ones((1, 1, 2), dtype)))
    with pytest.raises(ValueError, match="overflow"):
        ev.tempered(float(big) * 9)


def test_masked_arrays_are_refused() -> None:
    masked = np.ma.masked_array(np.ones((2, 2)), mask=np.eye(2))
    with pytest.raises(ValueError, match="must not be a masked array"):
        shafer.least_commitment(masked, np.ones(2))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_columns_must_be_in_order(make: Any) -> None:
    pool = shafer.least_commitment([1.0, 2.0], 0.0, names=["a", "b"])
    assert len(pool(make({"a": [1.0], "b": [2.0]}))) == 1
    with pytest.raises(ValueError, match=r"columns \['a', 'b'\], in that order; got \['b', 'a'\]"):
        pool(make({"b": [2.0], "a": [1.0]}))
    unnamed = shafer.least_commitment([1.0, 2.0], 0.0)
    assert len(unnamed(make({"b": [2.0], "a": [1.0]}))) == 1


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
    # A matrix may name an entry twice; its value is the sum.
    twice = sparse.csr_array(
        (np.array([0.5, 0.25]), np.array([1, 1]), np.array([0, 2])), shape=(1, 30)
    )
    assert_allclose(pool(twice).belief, pool(twice.toarray()).belief, rtol=1e-9)
    monkeypatch.setattr("shafer._kernels.pooling._BLOCK", 7)
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
        (dict(classes=5), "classes must be a sequence of labels; got 5"),
        (dict(classes=[1.0, np.nan, 2.0]), "classes must not hold NaN"),
        (dict(names=5), "names must be a sequence of names; got 5"),
        (dict(names="ab"), "names must be a sequence of names; got 'ab'"),
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
        (sparse.coo_array(np.ones(2)), r"features must have 2 columns.*got shape \(2,\)"),
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


def test_single_precision_far_from_the_means() -> None:
    """With unscaled inputs the bias was lost: p was off by 3e-4 in the row of zeros."""
    layer = torch.nn.Linear(1, 2)
    layer.weight.data = torch.tensor([[-1.0], [1.0]])
    layer.bias.data = torch.tensor([-0.3, 0.4])
    X = torch.tensor([[0.0], [4e6]])
    wanted = torch.softmax(layer(X), 1).detach()
    assert_allclose(shafer.Explainer(layer, X)(X).probability, wanted, atol=1e-6)
    scaled = shafer.Explainer(layer, X / 4e6)(X / 4e6)
    assert scaled.probability.dtype == torch.float32
