"""Columns of ``shafer score --ask``: what to measure, what to check, whether the answer stands."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from shafer._checks.arrays import to_numpy
from shafer.asking.answers import LOST, RowAnswers, row_answers
from shafer.evidence.mass_evidence import MassEvidence


@final
class AskColumns:
    """Makes the columns, chunk by chunk; the first chunk decides which ones there are.

    A model that does not allow questions about single inputs has only ``fragility``.
    """

    def __init__(self, explainer: Any) -> None:
        self._explainer = explainer
        self._begun = False
        self._why_not = ""

    @property
    def left_out(self) -> str:
        """A sentence on the columns that are not there, and why; empty if all are there."""
        if not self._why_not:
            return ""
        return f"Of the columns of --ask, only fragility was written. {self._why_not}"

    def __call__(self, X: Any, evidence: MassEvidence) -> dict[str, Any]:
        """Return the columns about the rows of X, given their evidence."""
        begun, self._begun = self._begun, True
        if not self._why_not:
            try:
                return _columns(row_answers(self._explainer, X, LOST, 1))
            except ValueError as reason:
                if begun:
                    raise
                self._why_not = str(reason)
        return {"fragility": to_numpy(evidence.weighed.fragility(LOST))}


def _columns(found: RowAnswers) -> dict[str, Any]:
    n = len(found.filled)
    asked, held = found.next_inputs, found.cells
    return {
        "fragility": found.fragility,
        "overturn": found.overturn,
        "next_input": _placed(asked, "input", n),
        "next_information": _placed(asked, "information", n),
        "check_input": _placed(held, "input", n),
        "check_expected": _placed(held, "expected", n),
        "check_stake": _placed(held, "stake", n),
        "alarm": found.alarm,
    }


def _placed(table: Any, name: str, n: int) -> Any:
    """Return a column with one entry for each row: None, or NaN, for rows without a line.

    Texts are a list, as all columns of texts in a chunk.
    """
    values = table[name]
    numbers = values.dtype.kind == "f"
    column = np.full(n, np.nan) if numbers else np.full(n, None, dtype=object)
    column[table["row"]] = values
    return column if numbers else column.tolist()
