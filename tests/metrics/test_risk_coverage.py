from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from shafer.metrics import excess_risk_coverage_area, risk_coverage_area, risk_coverage_curve

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
