"""Calls of metrics and of the Displays that draw them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from shafer import metrics, plots

from .calls import covers
from .worlds import N_ROWS, World

SET_METRICS = (
    "coverage_score",
    "set_error_rate",
    "singleton_error_rate",
    "u65_score",
    "u80_score",
    "discounted_utility_score",
    "size_stratified_coverage_score",
    "worst_class_coverage_score",
    "set_confusion_matrix",
)


def _tables(world: World, numbers: np.ndarray) -> list[Any]:
    """An array, and data frames with their columns in another order, of two libraries."""
    frame = world.frame(numbers)
    texts = [str(name) for name in frame.columns]
    return [numbers, frame, pl.DataFrame(np.asarray(frame), schema=texts)]


def _sets(world: World) -> np.ndarray:
    return np.asarray(world.weights()[:, 0] > -0.3)


def _y(world: World) -> np.ndarray:
    return world.named(world.truth[:N_ROWS])


@covers(*(f"metrics.{name}" for name in SET_METRICS))
def metrics_of_sets(world: World) -> list[Any]:
    return [
        getattr(metrics, name)(_y(world), y_set, labels=world.classes)
        for name in SET_METRICS
        for y_set in _tables(world, _sets(world))
    ]


@covers("metrics.coverage_by_class", "metrics.coverage_by_size")
def coverage_in_strata(world: World) -> list[Any]:
    found = []
    for y_set in _tables(world, _sets(world)):
        by_class = metrics.coverage_by_class(_y(world), y_set, labels=world.classes)
        assert set(by_class.strata.tolist()) <= set(world.classes)
        by_size = metrics.coverage_by_size(_y(world), y_set, labels=world.classes)
        found += [by_class.coverage, by_size.coverage]
    return found


@covers(
    "metrics.confusion_sets",
    *(
        f"metrics.{name}"
        for name in ("mean_set_size", "mean_imprecision", "singleton_rate", "rejection_rate")
    ),
    compares=False,
)
def sizes(world: World) -> list[Any]:
    names = ("mean_set_size", "mean_imprecision", "singleton_rate", "rejection_rate")
    tables = _tables(world, _sets(world))
    found: list[Any] = [getattr(metrics, name)(y_set) for name in names for y_set in tables]
    return found + [metrics.confusion_sets(y_set, labels=world.given) for y_set in tables[:2]]


@covers(
    "metrics.error_imprecision_area",
    "metrics.error_imprecision_curve",
    "metrics.interval_calibration",
)
def metrics_of_scores(world: World) -> list[Any]:
    found: list[Any] = []
    low = world.weights()[:, 0] ** 2 / 50
    for score in _tables(world, world.weights()[:, 0]):
        found += list(metrics.error_imprecision_curve(_y(world), score, labels=world.classes))[:2]
        found += [metrics.error_imprecision_area(_y(world), score, labels=world.classes)]
    for belief in _tables(world, low):
        for plausibility in _tables(world, low + 0.4):
            result = metrics.interval_calibration(
                _y(world), belief, plausibility, labels=world.classes, events="every"
            )
            found.append(result.frequency)
    return found


@covers(
    *(
        f"metrics.{name}"
        for name in ("risk_coverage_curve", "risk_coverage_area", "excess_risk_coverage_area")
    )
)
def risk_and_coverage(world: World) -> list[Any]:
    y_pred = world.class_array[world.weights()[:, 0].argmax(axis=1)]
    confidence = world.weights()[:, 0].max(axis=1)
    found: list[Any] = []
    for predicted in (y_pred, y_pred.tolist(), *_tables(world, _sets(world))):
        arguments = (_y(world), predicted, confidence)
        found += [metrics.risk_coverage_area(*arguments, labels=world.classes)]
        found += [metrics.excess_risk_coverage_area(*arguments, labels=world.classes)]
        found += [metrics.risk_coverage_curve(*arguments, labels=world.classes).risk]
    return found


@covers(
    *(
        f"plots.{name}.from_predictions"
        for name in (
            "SetConfusionDisplay",
            "ErrorImprecisionDisplay",
            "RiskCoverageDisplay",
            "IntervalCalibrationDisplay",
        )
    )
)
def displays_of_metrics(world: World) -> list[Any]:
    y, scores, options = _y(world), world.weights()[:, 0], {"labels": world.classes}
    found: list[Any] = []
    for y_set in _tables(world, _sets(world)):
        found.append(plots.SetConfusionDisplay.from_predictions(y, y_set, **options).table)
    for score in _tables(world, scores):
        found.append(plots.ErrorImprecisionDisplay.from_predictions(y, score, **options).error)
    low = scores**2 / 50
    interval = plots.IntervalCalibrationDisplay.from_predictions(y, low, low + 0.4, **options)
    best = world.class_array[scores.argmax(axis=1)]
    risk = plots.RiskCoverageDisplay.from_predictions(y, best, scores.max(axis=1), **options)
    return [*found, interval.calibration.frequency, risk.risk]
