"""Rates of sets, by class and stratum, their intervals and the confusion matrix."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import confusion_matrix

import shafer
from shafer import metrics
from shafer.metrics import (
    confusion_sets,
    coverage_by_class,
    coverage_by_size,
    coverage_score,
    interval_calibration,
    rejection_rate,
    set_confusion_matrix,
    size_stratified_coverage_score,
    worst_class_coverage_score,
)

from .strategies import columns, decisions, repeated

WITH_TRUTH = ("coverage_score", "set_error_rate", "singleton_error_rate", "u65_score", "u80_score")
OF_SETS = ("mean_set_size", "mean_imprecision", "singleton_rate", "rejection_rate")


def _by_loop(name: str, y_true: np.ndarray, y_set: np.ndarray) -> float:
    """The definition, row by row, on sets of positions."""
    n_classes = y_set.shape[1]

    def value(truth: int, members: set[int]) -> float:
        size, hit = len(members), truth in members
        return {
            "coverage_score": lambda: hit,
            "set_error_rate": lambda: not hit,
            "singleton_error_rate": lambda: size == 1 and not hit,
            "u65_score": lambda: 1.6 / size - 0.6 / size**2 if hit else 0,
            "u80_score": lambda: 2.2 / size - 1.2 / size**2 if hit else 0,
            "mean_set_size": lambda: size,
            "mean_imprecision": lambda: max(size - 1, 0) / (n_classes - 1),
            "singleton_rate": lambda: size == 1,
            "rejection_rate": lambda: size == n_classes,
        }[name]()

    rows = zip(y_true.tolist(), y_set, strict=True)
    return float(np.mean([value(t, set(np.flatnonzero(row).tolist())) for t, row in rows]))


@pytest.mark.parametrize("name", WITH_TRUTH + OF_SETS)
@given(case=decisions())
def test_definitions_and_weights(name: str, case: tuple[np.ndarray, ...]) -> None:
    y_true, y_set, weight = case
    arrays = (y_true, y_set) if name in WITH_TRUTH else (y_set,)
    labels = {"labels": columns(y_set)} if name in WITH_TRUTH else {}
    metric = getattr(metrics, name)
    assert metric(*arrays, **labels) == pytest.approx(_by_loop(name, y_true, y_set), abs=1e-12)
    assert metric(*arrays, sample_weight=weight, **labels) == pytest.approx(
        _by_loop(name, *repeated(weight, y_true, y_set)), abs=1e-12
    )


def test_an_empty_set_is_an_error_worth_nothing() -> None:
    y_set = np.zeros((1, 3), dtype=bool)
    labels = ["a", "b", "c"]
    assert metrics.coverage_score(["a"], y_set, labels=labels) == 0.0
    assert metrics.set_error_rate(["a"], y_set, labels=labels) == 1.0
    assert metrics.singleton_error_rate(["a"], y_set, labels=labels) == 0.0
    assert metrics.u65_score(["a"], y_set, labels=labels) == 0.0
    assert metrics.u80_score(["a"], y_set, labels=labels) == 0.0
    assert metrics.discounted_utility_score(["a"], y_set, [1, 1, 1], labels=labels) == 0.0
    assert metrics.mean_set_size(y_set) == metrics.mean_imprecision(y_set) == 0.0


def test_results_are_plain_floats() -> None:
    for name in WITH_TRUTH:
        assert type(getattr(metrics, name)([0, 1], [[1, 0], [1, 0]])) is float
    for name in OF_SETS:
        assert type(getattr(metrics, name)([[1, 0], [1, 0]])) is float


# Strata.


@given(decisions())
def test_strata_are_restricted_coverages(case: tuple[np.ndarray, ...]) -> None:
    y_true, y_set, weight = case
    labels = columns(y_set)
    size = np.maximum(y_set.sum(axis=1), 1)
    for result, of_row in (
        (coverage_by_size(y_true, y_set, labels=labels, sample_weight=weight), size),
        (coverage_by_class(y_true, y_set, labels=labels, sample_weight=weight), y_true),
    ):
        rows, truth, sets = repeated(weight, of_row, y_true, y_set)
        assert_array_equal(result.strata, np.unique(rows))
        assert_allclose(
            result.coverage,
            [
                coverage_score(truth[rows == s], sets[rows == s], labels=labels)
                for s in result.strata
            ],
        )
        assert_allclose(result.share, [np.mean(rows == s) for s in result.strata])
        overall = coverage_score(y_true, y_set, labels=labels, sample_weight=weight)
        assert result.coverage @ result.share == pytest.approx(overall, abs=1e-12)
        assert result.worst == result.coverage.min()


def test_bins() -> None:
    y_set = np.tril(np.ones((6, 6), dtype=bool))
    y_set = np.concatenate([y_set, np.zeros((1, 6), dtype=bool)])  # sizes 1 to 6 and 0
    y_true = np.array([0, 5, 0, 0, 5, 0, 0])
    by_size = coverage_by_size(y_true, y_set, bins=[2, 4], labels=range(6))
    assert by_size.strata.tolist() == [2, 4, 6]
    assert_allclose(by_size.coverage, [1 / 3, 1, 1 / 2])
    by_size = coverage_by_size(y_true, y_set, bins=[0, 6], labels=range(6))
    assert by_size.coverage.tolist() == [0.0, 4 / 6]
    worst = partial(size_stratified_coverage_score, labels=range(6))
    assert worst(y_true, y_set, bins=[2, 4]) == pytest.approx(1 / 3)
    assert worst(y_true, y_set) == 0.0
    assert worst(y_true[:-1], y_set[:-1], bins=[6]) == 4 / 6


def test_worst_class() -> None:
    labels = ["b", "a", "c"]
    y_set = [[1, 0, 0], [1, 1, 0], [1, 0, 0]]
    assert worst_class_coverage_score(["b", "a", "a"], y_set, labels=labels) == 0.5
    by_class = coverage_by_class(["b", "a", "a"], y_set, labels=labels)
    assert by_class.strata.tolist() == ["b", "a"]  # in the order of the columns


@pytest.mark.parametrize("bins", [[2, 1], [1, 1], [], [0.5]])
def test_wrong_bins(bins: list[float]) -> None:
    with pytest.raises(ValueError, match="bins must be one or more increasing whole numbers"):
        coverage_by_size([0, 1], [[1, 0], [1, 0]], bins=bins)


# Confusion.


@given(decisions())
def test_counts_every_row_once(case: tuple[np.ndarray, ...]) -> None:
    y_true, y_set, weight = case
    sets = confusion_sets(y_set)
    labels = columns(y_set)
    counts = set_confusion_matrix(y_true, y_set, labels=labels, normalize=None)
    assert counts.dtype == np.int64
    expected = [
        [np.sum((y_true == k) & (y_set == members).all(axis=1)) for members in sets]
        for k in range(y_set.shape[1])
    ]
    assert_array_equal(counts, expected)
    weighted = set_confusion_matrix(y_true, y_set, labels=labels, sets=sets, sample_weight=weight)
    assert weighted.sum() == pytest.approx(100.0)
    again = set_confusion_matrix(*repeated(weight, y_true, y_set), labels=labels, sets=sets)
    assert_allclose(weighted, again, atol=1e-12)
    assert weighted[sets.T].sum() == pytest.approx(
        100 * coverage_score(y_true, y_set, labels=labels, sample_weight=weight)
    )


@given(decisions())
def test_columns(case: tuple[np.ndarray, ...]) -> None:
    y_set = case[1]
    n_classes = y_set.shape[1]
    sets = confusion_sets(y_set)
    assert_array_equal(sets[:n_classes], np.eye(n_classes))
    others = [frozenset(np.flatnonzero(row).tolist()) for row in sets[n_classes:]]
    decided = {frozenset(np.flatnonzero(row).tolist()) for row in y_set}
    assert len(set(others)) == len(others)
    assert set(others) == {members for members in decided if len(members) != 1}
    assert others == sorted(others, key=lambda s: (len(s) or n_classes + 1, sorted(s)))
    assert_array_equal(confusion_sets(y_set[::-1]), sets)


def test_precise_decisions_give_the_ordinary_matrix() -> None:
    random = np.random.default_rng(3)
    y_true, y_pred = random.integers(4, size=(2, 60))
    y_pred[y_pred == 2] = 0  # one class is never decided, and keeps its column
    y_set = np.eye(4)[y_pred]
    assert_array_equal(
        set_confusion_matrix(y_true, y_set, normalize=None), confusion_matrix(y_true, y_pred)
    )
    for normalize in ("all", "true", "pred"):
        assert_allclose(
            set_confusion_matrix(y_true, y_set, normalize=normalize),
            100 * confusion_matrix(y_true, y_pred, normalize=normalize),
        )


def test_names_and_the_papers_layout() -> None:
    y_set = np.array([[1, 0], [1, 1], [0, 1], [0, 1]], dtype=bool)
    y_true = ["yes", "no", "no", "yes"]
    table = set_confusion_matrix(y_true, y_set, labels=["yes", "no"])
    assert_allclose(table.T, [[25, 0], [25, 25], [0, 25]])
    assert table[:, 2].sum() == 100 * rejection_rate(y_set)
    weights = set_confusion_matrix(
        y_true, y_set, labels=["yes", "no"], normalize=None, sample_weight=[1.5, 2, 3, 4]
    )
    assert_array_equal(weights, [[1.5, 4, 0], [0, 3, 2]])


def test_wrong_use() -> None:
    y_set = [[1, 0, 0], [1, 1, 0]]
    matrix = partial(set_confusion_matrix, labels=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"normalize must be one of 'all'.* got 'rows'"):
        matrix(["a", "b"], y_set, normalize="rows")
    with pytest.raises(ValueError, match=r"every predicted set; 1 are missing.*\['a', 'b'\]"):
        matrix(["a", "b"], y_set, sets=np.eye(3))
    with pytest.raises(ValueError, match="sets must be distinct; got 2 of which 1 are different"):
        matrix(["a"], y_set[:1], sets=[[1, 0, 0]] * 2)
    with pytest.raises(ValueError, match=r"one column for each of the 3 classes; got shape \(2, 2"):
        matrix(["a", "b"], y_set, sets=np.eye(2))


# Intervals.


def _intervals(shape: tuple[int, int], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.sort(np.random.default_rng(seed).random((2, *shape)), axis=0)
    return low, high


@given(decisions())
def test_weights_are_repetitions(case: tuple[np.ndarray, ...]) -> None:
    y_true, y_set, weight = case
    belief, plausibility = _intervals(y_set.shape)
    for events in ("decided", "every"):
        options: dict[str, Any] = dict(
            events=events, strategy="uniform", n_bins=4, labels=columns(y_set)
        )
        weighted = interval_calibration(
            y_true, belief, plausibility, sample_weight=weight, **options
        )
        again = interval_calibration(*repeated(weight, y_true, belief, plausibility), **options)
        for name in ("belief", "plausibility", "frequency", "share", "mean_width", "inside"):
            assert_allclose(getattr(weighted, name), getattr(again, name), atol=1e-12)


def test_bins_are_means_of_their_events() -> None:
    random = np.random.default_rng(1)
    belief, plausibility = _intervals((200, 3))
    y_true = random.integers(3, size=200)
    result = interval_calibration(y_true, belief, plausibility, strategy="uniform", n_bins=5)
    best = plausibility.argmax(axis=1)
    rows = np.arange(200)
    low, high = belief[rows, best], plausibility[rows, best]
    bins = np.minimum(np.floor((low + high) / 2 * 5), 4).astype(int)
    present = np.unique(bins)
    assert_allclose(result.belief, [low[bins == b].mean() for b in present])
    assert_allclose(result.plausibility, [high[bins == b].mean() for b in present])
    assert_allclose(result.frequency, [(best == y_true)[bins == b].mean() for b in present])
    assert_allclose(result.share, [(bins == b).mean() for b in present])
    assert result.mean_width == pytest.approx((high - low).mean())
    held = (result.belief <= result.frequency) & (result.frequency <= result.plausibility)
    assert result.inside.tolist() == held.tolist()
    assert result.share_inside == held.mean()


def test_quantile_bins_hold_as_many_events_each() -> None:
    belief, plausibility = _intervals((1000, 4))
    y_true = np.zeros(1000, dtype=int)
    for events in ("decided", "every"):
        result = interval_calibration(
            y_true, belief, plausibility, events=events, labels=columns(belief)
        )
        assert_allclose(result.share, np.full(10, 0.1), atol=1e-3)
        assert np.all(np.diff(result.belief + result.plausibility) > 0)
    assert result.frequency @ result.share == pytest.approx(0.25)  # one true class of four


def test_intervals_that_say_everything_and_those_that_are_exact() -> None:
    y_true = np.array([0] * 3 + [1] * 7)
    vacuous = interval_calibration(y_true, np.zeros((10, 2)), np.ones((10, 2)))
    assert (vacuous.share_inside, vacuous.mean_width) == (1.0, 1.0)
    assert vacuous.frequency.tolist() == [0.3]  # a tie: the first class; equal middles, one bin
    p = np.tile([0.3, 0.7], (10, 1))
    exact = interval_calibration(y_true, p, p)
    assert (exact.share_inside, exact.mean_width) == (1.0, 0.0)
    wrong = interval_calibration(1 - y_true, p, p)
    assert wrong.share_inside == 0.0


def test_a_tie_in_plausibility_is_broken_by_belief() -> None:
    result = interval_calibration([1], [[0.1, 0.6]], [[1.0, 1.0]], labels=[0, 1])
    assert result.frequency.tolist() == [1.0]
    assert result.belief.tolist() == [0.6]


@pytest.mark.parametrize("n_classes", [2, 3, 10, 1000])
@pytest.mark.parametrize("scale", [0.0, 1.0, 1e4])
def test_intervals_of_evidence(n_classes: int, scale: float) -> None:
    random = np.random.default_rng(n_classes)
    ev = shafer.Evidence.from_weights(scale * random.normal(size=(30, 3, n_classes)))
    y_true = random.integers(n_classes, size=30)
    for events in ("decided", "every"):
        result = interval_calibration(
            y_true, ev.belief, ev.plausibility, events=events, labels=ev.classes
        )
        assert np.all(np.isfinite(result.frequency))
        assert 0.0 <= result.share_inside <= 1.0
        assert 0.0 <= result.mean_width <= 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(events="all"), "events must be one of 'decided', 'every'; got 'all'"),
        (dict(strategy="equal"), "strategy must be one of 'quantile', 'uniform'; got 'equal'"),
        (dict(n_bins=0), "n_bins must be a positive whole number; got 0"),
        (dict(n_bins=2.5), "got 2.5"),
        (dict(belief=[[0.9, 0.1]]), r"0 <= belief <= plausibility <= 1; got 0.9 and 0.5 .*\(0, 0"),
        (dict(plausibility=[[0.5, 1.5]]), r"got 0.1 and 1.5 at index \(0, 1\)"),
        (
            dict(belief=[[0.1]]),
            r"at least one row and two classes; got shape \(1, 1\)",
        ),
        (dict(y_true=[0, 1]), "got y_true: 2, belief: 1"),
    ],
)
def test_wrong_use_of_intervals(change: dict[str, Any], message: str) -> None:
    arguments = (
        dict(y_true=[0], labels=[0, 1], belief=[[0.1, 0.1]], plausibility=[[0.5, 0.9]]) | change
    )
    with pytest.raises(ValueError, match=message):
        interval_calibration(**arguments)
