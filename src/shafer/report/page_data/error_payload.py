"""The data of the error bars: standard errors of the contrasts of pairs of classes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, final

import numpy as np

from shafer._typing import FloatArray
from shafer.evidence import Evidence
from shafer.evidence.weight_errors import WeightErrors
from shafer.report.answer_and_rival import answer_and_rival
from shafer.report.contrast_intervals import LEVEL, half_widths
from shafer.report.page_data.json_text import all_few_digits

_MOST_CLASSES = 4  # with more, errors are stored for the answer over the runner-up only


@final
@dataclass(frozen=True, eq=False)
class RowErrors:
    """Standard errors of some rows.

    Attributes
    ----------
    components : dict of row to array of shape (G, M)
        Of the contrasts of M pairs of classes, for each component.
    sums : dict of row to array of shape (M,)
        Of the sums over the components.
    """

    components: dict[int, FloatArray]
    sums: dict[int, FloatArray]

    def of(self, row: int, kept: list[int] | None) -> dict[str, Any]:
        """Return the errors of a row, for all components or for those kept."""
        std = self.components[row] if kept is None else self.components[row][kept]
        return {
            "std": [all_few_digits(values, 4) for values in std],
            "sum": all_few_digits(self.sums[row], 4),
        }


def errors_payload(evidence: Evidence) -> dict[str, Any]:
    """Return the level of the intervals, and how many standard errors they reach to each side."""
    if evidence.errors is None:
        return {"errors": None}
    every = evidence.n_classes <= _MOST_CLASSES
    times = float(half_widths(np.ones(1), evidence)[0])
    return {"errors": {"level": LEVEL, "times": times, "allPairs": every}}


def row_errors(evidence: Evidence, rows: list[int]) -> RowErrors | None:
    """Return the errors of some rows: of all pairs of classes if there are few classes."""
    if evidence.errors is None:
        return None
    chosen = evidence.errors.rows(np.asarray(rows, dtype=np.intp))
    whole = chosen.grouped([range(evidence.n_components)])
    every = list(combinations(range(evidence.n_classes), 2))
    if evidence.n_classes <= _MOST_CLASSES:
        contrasts = np.array([_contrast(a, b, evidence.n_classes) for a, b in every])
        parts, sums = chosen.std_of(contrasts), whole.std_of(contrasts)[:, 0]
    else:
        pairs = np.stack(answer_and_rival(evidence[rows]), axis=1)
        parts, sums = _of_pairs(chosen, pairs), _of_pairs(whole, pairs)[:, 0]
    return RowErrors(dict(zip(rows, parts, strict=True)), dict(zip(rows, sums, strict=True)))


def _of_pairs(errors: WeightErrors, pairs: Any) -> FloatArray:
    """Return the errors of one pair of classes in each row, (n, G, 1)."""
    n, n_components, n_classes = errors.shape
    result = np.empty((n, n_components, 1))
    for a, b in np.unique(pairs, axis=0).tolist():
        rows = np.flatnonzero((pairs == (a, b)).all(axis=1))
        result[rows] = errors.rows(rows).std_of(_contrast(a, b, n_classes)[None])
    return result


def _contrast(a: int, b: int, n_classes: int) -> FloatArray:
    units = np.eye(n_classes)
    difference: FloatArray = units[a] - units[b]
    return difference
