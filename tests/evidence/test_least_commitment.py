"""Least commitment: the minimum itself, contributions given directly, and means over streams."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import shafer
from shafer.evidence import RunningMean, least_commitment, least_commitment_additive
from shafer.evidence.other_commitments import least_committed

# Least commitment: the minimum itself, the two binary forms, and wrong input.


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


def _information(weights: np.ndarray, power: float, measured: str) -> float:
    """I_p summed over the rows, by its definition."""
    if measured == "components":
        return float((np.abs(weights) ** power).sum())
    sides = np.clip(weights, 0, None).sum(axis=1), np.clip(-weights, 0, None).sum(axis=1)
    return float(sum((side**power).sum() for side in sides))


OTHER = [(1.0, "components"), (1.5, "components"), (3.0, "components"), (2.0, "combined")]


@pytest.mark.parametrize(("power", "measured"), [*OTHER, (1.5, "combined")])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_other_measures_are_least(power: float, measured: str, n_classes: int) -> None:
    rng = np.random.default_rng(0)
    coef, intercept = rng.normal(size=(n_classes, 3)), rng.normal(size=n_classes)
    X = rng.normal(2, [1, 5, 0.2], (30, 3))
    how = {"power": power, "measured": measured}
    pool = shafer.least_commitment(coef, intercept, features=X, **how)
    plain = shafer.least_commitment(coef, intercept, X.mean(axis=0))
    assert_allclose(pool(X).probability, plain(X).probability, rtol=1e-9)
    assert_allclose(pool(X).weights, X[:, :, None] * pool.beta + pool.alpha, atol=1e-12)
    least = _information(pool(X).weights, power, measured)
    assert least < 0.9999 * _information(plain(X).weights, power, measured)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    for size in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(5):
            share = rng.normal(size=(3, n_classes))
            share += rng.normal() / 3 - share.mean(axis=0)  # of the logits, a constant is free
            shift = size * (z[:, :, None] * rng.normal(size=(3, 1)) + share)
            # What the rounded corner of |w| costs.
            assert _information(pool(X).weights + shift, power, measured) > least * (1 - 1e-4)


def test_the_numerical_minimum_is_the_closed_form() -> None:
    rng = np.random.default_rng(1)
    coef, intercept, X = rng.normal(size=(3, 4)), rng.normal(size=3), rng.normal(1, 2, (40, 4))
    closed = shafer.least_commitment(coef, intercept, features=X)
    assert_array_equal(closed.alpha, shafer.least_commitment(coef, intercept, X.mean(0)).alpha)
    flat = (coef - coef.mean(axis=0)).T
    found = least_committed(flat, intercept - intercept.mean(), X, 2.0, "components")
    assert_allclose(found[0], closed.beta, atol=1e-6)
    assert_allclose(found[1], closed.alpha, atol=1e-6)
    sides = [
        shafer.least_commitment(coef, intercept, features=X, power=1, measured=measured)(X)
        for measured in ("components", "combined")
    ]
    totals = [_information(side.weights, 1.0, "components") for side in sides]
    assert_allclose(*totals, rtol=1e-4)  # for p = 1 the two measures are one


def test_other_measures_in_two_classes_shift_only_the_shares() -> None:
    rng = np.random.default_rng(2)
    pool = shafer.least_commitment([0.5, -2.0], 0.4, features=rng.normal(size=(30, 2)), power=1)
    assert_allclose(pool.beta.sum(axis=1), 0.0, atol=1e-9)
    assert_allclose(pool(np.zeros((1, 2))).logits, [[-0.2, 0.2]], atol=1e-12)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"power": 0.5}, "power must be a number from 1 to 20; got 0.5"),
        ({"power": 21}, "from 1 to 20; got 21"),
        ({"power": True}, "power must be"),
        ({"measured": "rows"}, "'components' or 'combined'; got 'rows'"),
        ({"power": 3}, "need the background rows; got none"),
        ({"power": 3, "features": np.eye(2), "feature_means": [0, 0]}, "got both"),
        ({"power": 3, "features": np.eye(3)}, r"2 columns.*got shape \(3, 3\)"),
        ({"power": 3, "features": np.eye(2), "prior": "own"}, "Use prior='shared'"),
    ],
)
def test_what_other_measures_need(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        shafer.least_commitment([1.0, 2.0], 0.0, **options)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize(("power", "measured"), OTHER)
def test_other_measures_have_no_unit(size: float, power: float, measured: str) -> None:
    rng = np.random.default_rng(3)
    coef, X = rng.normal(size=(3, 2)), np.column_stack([rng.normal(9, 2, 20), np.full(20, 7.0)])
    how = {"features": X, "power": power, "measured": measured}
    plain = shafer.least_commitment(coef, np.zeros(3), **how)
    large = shafer.least_commitment(size * coef, np.zeros(3), **how)
    assert_allclose(large.beta / size, plain.beta, rtol=1e-6)
    assert_allclose(large.alpha / size, plain.alpha, rtol=1e-6)
    with pytest.raises(ValueError, match="overflow"):
        shafer.least_commitment(1e308 * np.sign(coef), np.zeros(3), **how)


def test_other_measures_take_dense_features_and_keep_no_zero_evidence() -> None:
    pool = shafer.least_commitment([1.0, 2.0], 0.0, features=np.eye(2), power=1.5)
    with pytest.raises(ValueError, match="must be dense"):
        pool(sparse.csr_array(np.eye(2)))
    none = shafer.least_commitment(np.ones((3, 2)), np.ones(3), features=np.eye(2), power=1.5)
    assert (none(np.eye(2)).ignorance == 1.0).all()


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


# Contributions given directly: the same identification, and what the pool refuses.


@pytest.fixture
def linear() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {
        "coef": rng.normal(size=(3, 4)),
        "intercept": rng.normal(size=3),
        "features": rng.normal(size=(20, 4)) + 2.0,
    }


def test_it_agrees_with_the_linear_form(linear: dict[str, Any]) -> None:
    features, coef = linear["features"], linear["coef"]
    contributions = features[:, :, None] * coef.T
    means = features.mean(axis=0)
    expected = least_commitment(coef, linear["intercept"], means)(features)
    pool = least_commitment_additive(contributions.mean(axis=0), linear["intercept"])
    assert_allclose(pool(contributions).weights, expected.weights, atol=1e-12)
    tensors = least_commitment_additive(
        torch.asarray(contributions.mean(axis=0)), torch.asarray(linear["intercept"])
    )(torch.asarray(contributions))
    assert isinstance(tensors.belief, torch.Tensor)
    assert_allclose(tensors.weights.numpy(), expected.weights, atol=1e-12)


def test_constants_may_move(linear: dict[str, Any]) -> None:
    # From the intercept to a component, or between classes and components: nothing changes.
    contributions = linear["features"][:, :, None] * linear["coef"].T
    moved = contributions.copy()
    moved[:, 1] += linear["intercept"]
    moved += np.random.default_rng(1).normal(size=(20, 4, 1))
    one = least_commitment_additive(contributions.mean(axis=0), linear["intercept"])
    other = least_commitment_additive(moved.mean(axis=0))
    assert_allclose(other(moved).weights, one(contributions).weights, atol=1e-12)


def test_it_has_the_smallest_sum_of_squares(linear: dict[str, Any]) -> None:
    contributions = np.tanh(linear["features"])[:, :, None] * linear["coef"].T
    pool = least_commitment_additive(contributions.mean(axis=0), linear["intercept"])
    weights = pool(contributions).weights
    rng = np.random.default_rng(2)
    for _ in range(20):
        shares = rng.normal(size=(4, 3))
        shares -= shares.mean(axis=0)  # what one component gives up another gets
        other = weights + 0.1 * shares + 0.1 * rng.normal(size=(20, 4, 1))
        assert (other**2).sum() > (weights**2).sum()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.0, 1.0],), r"mean_contributions must have 2 dimension\(s\)"),
        ((np.zeros((0, 2)),), "mean_contributions must not be empty"),
        ((np.zeros((2, 2)), [1.0]), "one value for each of the 2 classes; got shape"),
        ((np.full((2, 2), np.nan),), "mean_contributions must be finite"),
    ],
)
def test_wrong_means(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        least_commitment_additive(*arguments)


@pytest.mark.parametrize(
    ("contributions", "message"),
    [
        (np.zeros((3, 2)), r"contributions must have 3 dimension\(s\)"),
        (np.zeros((3, 5, 2)), r"must have shape \(n, 4, 2\); got \(3, 5, 2\)"),
        (np.zeros((0, 4, 2)), "at least one row"),
        (np.full((1, 4, 2), np.inf), "contributions must be finite"),
    ],
)
def test_wrong_contributions(contributions: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        least_commitment_additive(np.zeros((4, 2)))(contributions)


# Means over a stream: the same however the rows are cut, in double precision.


@given(st.lists(st.integers(0, 7), min_size=1, max_size=6), st.booleans(), st.integers(0, 6))
def test_any_cut_gives_the_mean(sizes: list[int], weighted: bool, workers: int) -> None:
    rng = np.random.default_rng(sum(sizes))
    n = sum(sizes) + 1
    X, weight = rng.normal(1e6, 1, size=(n, 3)), rng.random(n) if weighted else np.ones(n)
    parts = np.split(np.arange(n), np.cumsum(sizes))
    left, right = RunningMean(), RunningMean()
    for number, rows in enumerate(parts):
        worker = left if number < workers else right
        worker.partial_fit(X[rows], weight[rows] if weighted else None)
    merged = left.merge(right)
    assert_allclose(merged.mean, np.average(X, axis=0, weights=weight), rtol=1e-14)
    assert_allclose(merged.weight, weight.sum())


@pytest.mark.parametrize("form", [np.asarray, torch.asarray, sparse.csr_array])
def test_single_precision_does_not_drift(form: Any) -> None:
    X = np.full((2_000_000, 2), 100.1, dtype=np.float32)
    for weight in (None, np.ones(len(X))):
        mean = RunningMean().partial_fit(form(X), weight).mean
        assert mean.dtype in (np.float32, torch.float32)
        assert_allclose(np.asarray(mean), np.float32(100.1), rtol=1e-6)


@pytest.mark.parametrize("form", [np.asarray, torch.asarray])
@pytest.mark.parametrize("value", [0.1, -1e9 / 3, 0.0, 7.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_constant_is_its_own_mean_to_the_last_digit(
    form: Any, value: float, weighted: bool
) -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(1001, value), rng.normal(size=1001)])
    running = RunningMean()
    for rows in np.array_split(np.arange(1001), 4):
        running.partial_fit(form(X[rows]), rng.random(len(rows)) if weighted else None)
    assert float(running.mean[0]) == value
    assert float(running.mean[1]) not in X[:, 1]


def test_weights_of_any_kind() -> None:
    X = torch.arange(6.0).reshape(3, 2)
    for weight in ([1, 2, 1], np.array([1, 2, 1]), torch.tensor([1.0, 2.0, 1.0]), 5.0):
        assert_allclose(RunningMean().partial_fit(X, weight).mean.numpy(), [2.0, 3.0])


def test_wrong_use() -> None:
    with pytest.raises(ValueError, match="at least one row with a positive weight"):
        _ = RunningMean().partial_fit(np.ones((2, 2)), [0.0, 0.0]).mean
    with pytest.raises(ValueError, match=r"same columns; got shape \(3,\) after \(2,\)"):
        RunningMean().partial_fit(np.ones((1, 2))).partial_fit(np.ones((1, 3)))
    with pytest.raises(ValueError, match="one weight for each of the 2 rows; got 3"):
        RunningMean().partial_fit(np.ones((2, 2)), np.ones(3))
    with pytest.raises(ValueError, match="background must be finite"):
        RunningMean().partial_fit([[np.nan]])
