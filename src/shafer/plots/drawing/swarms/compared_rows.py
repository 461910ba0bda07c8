"""Weights of many rows for some classes, each over another class: arrays for a summary."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray, Label
from shafer._validation import one_position
from shafer.evidence import Evidence
from shafer.plots.drawing.compared_classes import (
    Compared,
    best_others,
    other_than,
    plain_weights,
)
from shafer.plots.drawing.evidence_arrays import numbers


class ComparedRows(NamedTuple):
    """Weights (n, G, C) for C classes, and the ends of their error bars, if they are known."""

    weights: FloatArray
    lower: FloatArray | None
    upper: FloatArray | None


def panel_classes(
    evidence: Evidence, wanted: list[int] | None, over: Label | None, most: int
) -> list[int]:
    """Return the classes that get a panel: those wanted, or those with most evidence."""
    if wanted is not None:
        if over is not None:
            for k in wanted:
                other_than(k, over, evidence.classes)
        return wanted
    every = list(range(evidence.n_classes))
    if over is not None:
        every.remove(one_position(over, evidence.classes, "over"))
    elif len(every) == 2:
        return [1]
    amount = np.abs(numbers(evidence.weights)[:, :, every]).sum(axis=(0, 1))
    return sorted(every[k] for k in np.argsort(-amount, kind="stable")[:most].tolist())


def compared_rows(
    evidence: Evidence, panels: list[int], over: Label | None, quantity: str, level: float
) -> ComparedRows:
    """Return the weights of all rows for each class of ``panels``.

    With ``quantity="log-odds"``, over the class ``over``; without it, over the most probable other
    class of each row.
    """
    plain = plain_weights(quantity, over)
    logits = numbers(evidence.logits)
    found = []
    for k in panels:
        if plain:
            rivals: NDArray[Any] = np.full(len(logits), -1)
        elif over is None:
            rivals = best_others(logits, k)
        else:
            rivals = np.full(len(logits), one_position(over, evidence.classes, "over"))
        found.append(_against(evidence, k, rivals, level))
    stacked = np.stack(found, axis=-1)  # (3, n, G, C)
    if evidence.errors is None:
        return ComparedRows(stacked[0], None, None)
    return ComparedRows(*stacked)


def _against(evidence: Evidence, k: int, rivals: NDArray[Any], level: float) -> FloatArray:
    """Return weights and error bars (3, n, G) for class k over each row's rival; −1 for none."""
    result = np.zeros((3, len(rivals), evidence.n_components))
    for rival in np.unique(rivals).tolist():
        rows = np.flatnonzero(rivals == rival)
        compared = Compared(k, None if rival < 0 else rival)
        part = evidence if len(rows) == len(rivals) else evidence[rows]
        result[0, rows] = compared.weights(part)
        if evidence.errors is not None:
            result[1:, rows] = compared.intervals(part, level)
    return result
