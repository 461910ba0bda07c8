"""Intervals of contrasts: their level and half-widths, on the page and in the terminal."""

from __future__ import annotations

import numpy as np

from shafer._typing import FloatArray
from shafer._validation import to_numpy
from shafer.evidence import Evidence
from shafer.evidence.weight_errors.error_intervals import interval
from shafer.report.answer_and_rival import Pair

LEVEL = 0.9
"""Level of the intervals that a report shows."""


def half_widths(std: FloatArray, evidence: Evidence) -> FloatArray:
    """Return how far the intervals of an evidence reach, for some standard errors."""
    _, upper = interval(np.zeros_like(std), std, evidence.errors, LEVEL)
    return to_numpy(upper).astype(np.float64)


def contrast_errors(evidence: Evidence, pair: Pair) -> FloatArray | None:
    """Return the half-widths of the contrasts of the first row, (G,); None if not known."""
    if evidence.errors is None:
        return None
    labels = evidence.classes.tolist()
    std = to_numpy(evidence[:1].contrast_std(labels[pair.class_], labels[pair.over]))[0]
    return half_widths(std, evidence)


def sum_error(evidence: Evidence, pair: Pair) -> float | None:
    """Return the half-width of the log-odds of the first row; None if not known."""
    if evidence.errors is None:
        return None
    half = contrast_errors(evidence[:1].grouped("one"), pair)
    assert half is not None
    return float(half[0])
