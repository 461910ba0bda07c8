"""Other ways to a threshold: MAPIE's controller, and two bounds that are broken on purpose."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from mapie.risk_control import BinaryClassificationController
from scipy.special import expit, logit

from shafer.metrics.bounds import rows_without_error, upper_rate

# A hundred thresholds that do not depend on the data, denser near 1.
GRID = expit(np.linspace(0.0, logit(0.9999), 100))


def mapie_threshold(
    scores: Any, wrong: Any, error: float, confidence: float, *, method: str
) -> float:
    """Return MAPIE's threshold on the log-odds; +∞ if it finds none.

    The positive class is "the answer is right", so that its precision among rows above a threshold
    is one minus the error among decided rows. Thresholds with too few rows above them to pass are
    left out: with one that has none, its p-value is NaN, and MAPIE 1.6 then finds no threshold.
    """
    order = np.sort(expit(scores))[::-1]
    grid = GRID[order[rows_without_error(error, confidence) - 1] >= GRID]
    if not len(grid):
        return np.inf
    controller = BinaryClassificationController(
        lambda p: np.column_stack([1 - p, p]),
        risk="precision",
        target_level=1.0 - error,
        confidence_level=confidence,
        list_predict_params=grid,
        fwer_method=method,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        controller.calibrate(expit(scores), ~wrong)
    found = controller.best_predict_param
    # MAPIE decides at the threshold, we decide above it.
    return np.inf if found is None else float(np.nextafter(logit(found), -np.inf))


def plain_error_threshold(scores: Any, wrong: Any, error: float, confidence: float) -> float:
    """Broken: the largest set of rows whose error was small enough, without any bound."""
    del confidence
    order = np.argsort(-scores)
    rate = np.cumsum(wrong[order]) / np.arange(1, len(scores) + 1)
    return _largest(scores[order], rate <= error)


def unpaid_search_threshold(scores: Any, wrong: Any, error: float, confidence: float) -> float:
    """Broken: the largest set of rows whose own exact bound is small enough, however found."""
    order = np.argsort(-scores)
    bound = upper_rate(np.cumsum(wrong[order]), np.arange(1, len(scores) + 1), confidence)
    return _largest(scores[order], bound <= error)


def _largest(ranked: Any, passes: Any) -> float:
    found = np.flatnonzero(passes)
    if not len(found):
        return np.inf
    rank = int(found[-1]) + 1
    return -np.inf if rank == len(ranked) else float(ranked[rank])
