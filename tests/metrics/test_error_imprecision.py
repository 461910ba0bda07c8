from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose

from shafer.metrics import (
    error_imprecision_area,
    error_imprecision_curve,
    mean_imprecision,
    set_error_rate,
)

from .strategies import columns, repeated, scores


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


def test_wrong_use() -> None:
    with pytest.raises(ValueError, match=r"at least one row and two classes; got shape \(0, 3\)"):
        error_imprecision_curve([], np.zeros((0, 3)))
    with pytest.raises(ValueError, match=r"y_score must have 2 dimension"):
        error_imprecision_curve([0, 1], [0.1, 0.2])
    with pytest.raises(ValueError, match=r"y_score must be finite"):
        error_imprecision_curve([0], [[np.nan, 1.0]])
    with pytest.raises(ValueError, match=r"got y_true: 1, y_score: 2"):
        error_imprecision_curve([0], np.zeros((2, 2)), labels=[0, 1])
