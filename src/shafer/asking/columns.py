"""Columns of ``shafer score --ask``: what to measure, what to check, whether the answer stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shafer._checks.arrays import to_numpy
from shafer._column import Column, ColumnKind, columns_of
from shafer.asking.answers import LOST, asked_model, row_answers
from shafer.explain.row_pass import ModelPass

if TYPE_CHECKING:
    from shafer.scale.scorer import ScoredRows


def ask_columns(explainer: Any) -> tuple[tuple[Column, ...], str]:
    """Return the columns, and a sentence on those that cannot be there; empty if all are.

    A model that does not allow questions about single inputs has only ``fragility``.
    """
    try:
        inputs = asked_model(explainer).inputs
    except ValueError as reason:
        only = (Column("fragility", "number", _fragility_of_components),)
        return only, f"Of the columns of --ask, only fragility was written. {reason}"
    kinds: dict[str, ColumnKind] = {
        "fragility": "number",
        "overturn": "number",
        "next_input": "text",
        "next_information": "number",
        "check_input": "text",
        "check_expected": "number" if inputs.are_numbers else "text",
        "check_stake": "number",
        "alarm": "number",
    }
    return columns_of(_answers, kinds), ""


def _fragility_of_components(rows: ScoredRows) -> Any:
    return to_numpy(rows.given.evidence.weighed.fragility(LOST))


def _answers(rows: ScoredRows) -> dict[str, Any]:
    assert isinstance(rows.given, ModelPass)  # questions need an explainer
    found = row_answers(rows.model.evidence, rows.X, LOST, 1, rows.given.rows)
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

    Texts are a list, as all columns of texts.
    """
    values = table[name]
    numbers = values.dtype.kind == "f"
    column = np.full(n, np.nan) if numbers else np.full(n, None, dtype=object)
    column[table["row"]] = values
    return column if numbers else column.tolist()
