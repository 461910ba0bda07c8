"""Rows where some sources are missing, for rules where a vacuous source changes the result.

Dempster's rule and the cautious rule ignore a vacuous source. The rules below assume that at least
one source is right, so a vacuous source makes the whole result vacuous. With these rules a missing
source must be left out of the combination instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._typing import BoolArray, FloatArray
from shafer.evidence import MassEvidence
from shafer.fusion import FiniteEvidence
from shafer.fusion.combine_sources import combined
from shafer.fusion.finite_evidence import check_frame
from shafer.fusion.named_sources import checked_sources

CHANGED_BY_VACUOUS_SOURCES = ("disjunctive", "bold", "dubois_prade")


def combine_present(
    evidences: Mapping[str, Any],
    combination: str,
    present: BoolArray,
    tempering: FloatArray,
    reliability: FloatArray,
    classes: NDArray[Any],
    granularity: str,
) -> MassEvidence:
    """Combine in each row the sources that are present; without any, the result is vacuous.

    Parameters
    ----------
    evidences : mapping from source name to evidence of n rows
    combination : str
    present, tempering, reliability : arrays of shape (n, S)
    classes, granularity : as for :func:`combine`
    """

    def of_rows(rows: NDArray[np.intp] | slice, there: NDArray[np.intp]) -> MassEvidence:
        names = list(evidences)
        return combined(
            checked_sources({names[s]: evidences[names[s]][rows] for s in there}),
            combination,
            tempering=tempering[rows][:, there],
            reliability=reliability[rows][:, there],
            classes=classes,
            granularity=granularity,
        )

    if present.all():
        return of_rows(slice(None), np.arange(len(evidences)))
    check_frame(len(classes), f"sources combined by {combination!r}")
    table = np.zeros((len(present), 1 << len(classes)))
    table[:, -1] = 1.0
    conflict = np.zeros(len(present))
    patterns, where = np.unique(present, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows, there = np.flatnonzero(where.reshape(-1) == number), np.flatnonzero(pattern)
        if len(there):
            part = of_rows(rows, there)
            table[rows], conflict[rows] = part.masses(), part.conflict
    return FiniteEvidence(table, conflict, classes=classes)
