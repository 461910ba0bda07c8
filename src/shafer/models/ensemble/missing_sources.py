"""Rows where some sources are missing, under rules in which silence speaks.

Dempster's and the cautious rule pass over a source that says nothing. Where at least one source is
taken to be right, a source that leaves everything possible makes everything possible: there, a
missing source must be left out of the combination instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._typing import BoolArray, FloatArray
from shafer.fusion import FiniteEvidence, combine
from shafer.fusion.finite_evidence import check_frame

RULES_WITHOUT_SILENCE = ("disjunctive", "bold", "dubois_prade")


def combine_present(
    said: Mapping[str, Any],
    rule: str,
    present: BoolArray,
    factors: FloatArray,
    classes: NDArray[Any],
    components: str,
) -> FiniteEvidence:
    """Combine in each row the sources that are there; where none is, nothing is known.

    Parameters
    ----------
    said : mapping from source name to evidence of n rows
    rule : str
    present, factors : arrays of shape (n, S)
    classes, components : as for :func:`combine`
    """
    check_frame(len(classes), f"sources combined by the rule {rule!r}")
    table = np.zeros((len(present), 1 << len(classes)))
    table[:, -1] = 1.0
    conflict = np.zeros(len(present))
    names = list(said)
    patterns, where = np.unique(present, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows, there = np.flatnonzero(where.reshape(-1) == number), np.flatnonzero(pattern)
        if not len(there):
            continue
        part = combine(
            {names[s]: said[names[s]][rows] for s in there},
            rule,
            tempering=factors[np.ix_(rows, there)],
            classes=classes,
            granularity="sources" if components == "sources" else "components",
        )
        table[rows], conflict[rows] = part.masses(), part.conflict
    return FiniteEvidence(table, conflict, classes=classes)
