"""Errors against coverage and against imprecision."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from shafer.metrics import (
    error_imprecision_area,
    error_imprecision_curve,
    excess_risk_coverage_area,
    mean_imprecision,
    risk_coverage_area,
    risk_coverage_curve,
    set_error_rate,
)

from .strategies import columns, repeated, scores

_ROWS = st.lists(
    st.tuples(st.booleans(), st.sampled_from([-1e4, 0.0, 0.3, 0.5, 1e4])), min_size=1, max_size=6
)


def _split(rows: list[tuple[bool, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    wrong, confidence = map(np.array, zip(*rows, strict=True))
    return np.zeros(len(wrong), dtype=int), wrong.astype(int), confidence


def _area_in_order(wrong: np.ndarray) -> float:
    return float(np.mean(np.cumsum(wrong) / np.arange(1, len(wrong) + 1)))


@given(_ROWS)
def test_ties_count_as_any_order_does_on_average(rows: list[tuple[bool, float]]) -> None:
    y_true, y_pred, confidence = _split(rows)
    orders = [
        order
        for order in map(list, itertools.permutations(range(len(rows))))
        if np.all(np.diff(confidence[order]) <= 0)
    ]
    mean = np.mean([_area_in_order(y_pred[order]) for order in orders])
    assert risk_coverage_area(y_true, y_pred, confidence) == pytest.approx(mean, abs=1e-12)
    least = _area_in_order(np.sort(y_pred))
    excess = excess_risk_coverage_area(y_true, y_pred, confidence)
    assert excess == pytest.approx(mean - least, abs=1e-12)
    assert excess >= 0.0


@given(_ROWS, st.data())
def test_curve(rows: list[tuple[bool, float]], data: st.DataObject) -> None:
    y_true, y_pred, confidence = _split(rows)
    n = len(rows)
    weight = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any)))
    curve = risk_coverage_curve(y_true, y_pred, confidence, sample_weight=weight)
    for coverage, risk, threshold in zip(*curve, strict=True):
        kept = confidence >= threshold
        assert coverage == pytest.approx(weight[kept].sum() / weight.sum())
        assert risk == pytest.approx(np.average(y_pred[kept], weights=weight[kept]))
    assert curve.coverage[-1] == 1.0
    assert np.all(np.diff(curve.thresholds) < 0)
    scaled = [
        risk_coverage_area(y_true, y_pred, confidence, sample_weight=w)
        for w in (weight, weight * 1e300)
    ]
    assert scaled[0] == pytest.approx(scaled[1])


def test_bounds() -> None:
    y_true, y_pred = [0] * 10, [0] * 7 + [1] * 3
    assert risk_coverage_area(y_true, y_pred, np.zeros(10)) == pytest.approx(0.3)
    assert excess_risk_coverage_area(y_true, y_pred, -np.arange(10)) == 0.0
    worst = risk_coverage_area(y_true, y_pred, np.arange(10))
    assert worst > 0.3 > risk_coverage_area(y_true, y_pred, -np.arange(10))


def test_sets_are_wrong_where_they_miss() -> None:
    y_set = [[1, 1, 0], [0, 0, 1], [0, 0, 0]]
    sets = risk_coverage_curve(["a", "b", "c"], y_set, [3, 2, 1], labels=list("abc"))
    assert_allclose(sets.risk, [0, 1 / 2, 2 / 3])
    assert_allclose(sets.coverage, [1 / 3, 2 / 3, 1])


def test_wrong_use() -> None:
    with pytest.raises(
        ValueError, match="same kind of labels; got strings in y_true, numbers in y_pred"
    ):
        risk_coverage_curve(["a", "b"], [0, 1], [0.5, 0.6])
    with pytest.raises(ValueError, match="got booleans in y_true, numbers in y_pred"):
        risk_coverage_curve([True, False], [1, 0], [0.5, 0.6])
    with pytest.raises(ValueError, match=r"Missing class label\(s\) \[nan\] in y_true"):
        risk_coverage_curve(np.array(["a", np.nan], dtype=object), ["a", "b"], [0.5, 0.6])
    with pytest.raises(ValueError, match=r"Unknown class label\(s\) \['c'\] in y_pred"):
        risk_coverage_curve(["a", "b"], ["a", "c"], [0.5, 0.6], labels=["a", "b"])
    with pytest.raises(ValueError, match="got y_true: 2, y_pred: 1"):
        risk_coverage_curve([0, 1], [0], [0.5, 0.6])
    with pytest.raises(ValueError, match="got y_true: 2, confidence: 3"):
        risk_coverage_curve([0, 1], [0, 1], [0.5, 0.6, 0.7])
    with pytest.raises(ValueError, match="confidence must be finite"):
        risk_coverage_curve([0, 1], [0, 1], [0.5, np.nan])
    with pytest.raises(ValueError, match="at least one row"):
        risk_coverage_curve([], [], [])
    with pytest.raises(ValueError, match="y_pred must be a sequence of labels; got 0"):
        risk_coverage_curve([0], 0, [0.5])


# Error imprecision.


def _sets(y_score: np.ndarray, threshold: float) -> np.ndarray:
    best = np.arange(y_score.shape[1]) == y_score.argmax(axis=1)[:, None]
    return best | (y_score >= threshold)


@given(scores())
def test_points_are_the_metrics_of_the_sets(case: tuple[np.ndarray, ...]) -> None:
    y_true, y_score, weight = case
    labels = columns(y_score)
    curve = error_imprecision_curve(y_true, y_score, labels=labels, sample_weight=weight)
    for imprecision, error, threshold in zip(*curve, strict=True):
        y_set = _sets(y_score, threshold)
        assert imprecision == pytest.approx(mean_imprecision(y_set, sample_weight=weight))
        assert error == pytest.approx(
            set_error_rate(y_true, y_set, labels=labels, sample_weight=weight), abs=1e-12
        )
    assert curve.imprecision[[0, -1]].tolist() == [0.0, 1.0]
    assert curve.error[-1] == 0.0
    assert np.all(np.diff(curve.imprecision) > 0)
    assert np.all(np.diff(curve.error) <= 0)


@given(scores())
def test_area_is_that_of_all_thresholds(case: tuple[np.ndarray, ...]) -> None:
    y_true, y_score, weight = case
    truth, values = repeated(weight, y_true, y_score)
    found = [_sets(values, t) for t in (np.inf, *np.unique(values)[::-1])]
    x = [mean_imprecision(y_set) for y_set in found]
    y = [set_error_rate(truth, y_set, labels=columns(y_score)) for y_set in found]
    area = error_imprecision_area(y_true, y_score, labels=columns(y_score), sample_weight=weight)
    assert area == pytest.approx(np.trapezoid(y, x), abs=1e-12)


def test_level_parts_have_two_points() -> None:
    y_score = np.array([[9.0, 5.0, 4.0, 3.0, 2.0], [9.0, 1.0, 0.5, 0.2, 0.1]])
    curve = error_imprecision_curve([0, 4], y_score, labels=range(5))
    assert_allclose(curve.imprecision, [0, 0.875, 1])
    assert_allclose(curve.error, [0.5, 0.5, 0])
    assert_allclose(curve.thresholds, [np.inf, 0.2, 0.1])


def test_a_score_that_says_nothing() -> None:
    n_classes = 4
    y_true = np.tile(np.arange(n_classes), 25)
    curve = error_imprecision_curve(y_true, np.zeros((100, n_classes)))
    assert_allclose(curve.imprecision, [0, 1])
    assert_allclose(curve.error, [0.75, 0])
    area = error_imprecision_area(y_true, np.zeros((100, n_classes)))
    assert area == pytest.approx((n_classes - 1) / (2 * n_classes))


def test_names_and_size() -> None:
    labels = ["b", "a"]
    y_score = [[0.9, 0.1], [0.6, 0.4]]
    assert error_imprecision_area(["b", "a"], y_score, labels=labels) == pytest.approx(0.125)
    random = np.random.default_rng(0)
    large = random.normal(size=(50, 1000))
    y_true = random.integers(1000, size=50)
    assert 0.4 < error_imprecision_area(y_true, large, labels=columns(large)) < 0.6


def test_wrong_use_of_error_imprecision() -> None:
    with pytest.raises(ValueError, match=r"at least one row and two classes; got shape \(0, 3\)"):
        error_imprecision_curve([], np.zeros((0, 3)))
    with pytest.raises(ValueError, match=r"y_score must have 2 dimension"):
        error_imprecision_curve([0, 1], [0.1, 0.2])
    with pytest.raises(ValueError, match=r"y_score must be finite"):
        error_imprecision_curve([0], [[np.nan, 1.0]])
    with pytest.raises(ValueError, match=r"got y_true: 1, y_score: 2"):
        error_imprecision_curve([0], np.zeros((2, 2)), labels=[0, 1])
