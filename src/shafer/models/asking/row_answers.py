"""``RowAnswers``: all questions about the inputs of some rows, answered at once, by position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._errors import UnsupportedModelError
from shafer._typing import BoolArray, FloatArray
from shafer.models.asking.asked_model import AskedRows
from shafer.models.asking.cell_table import CellTable
from shafer.models.asking.check_cells import add_ranked_cells
from shafer.models.asking.guard import guard
from shafer.models.asking.input_loss import conditional_fragility
from shafer.models.asking.input_questions import InputQuestions
from shafer.models.asking.input_units import InputUnits
from shafer.models.asking.known_cells import KnownCells
from shafer.models.asking.linear_inputs import LinearInputs
from shafer.models.asking.next_inputs import Suggestions, ranked_units
from shafer.models.asking.overturn import overturn_rows
from shafer.models.uncertainty.conditional_gaussian import patterns


@final
@dataclass(frozen=True, eq=False)
class RowAnswers:
    """The answers about n rows. Tables have columns of equal length; ``row`` is a position.

    Attributes
    ----------
    filled : array of n positions
        The class of the largest logit, with expectations in place of missing inputs.
    overturn, fragility, alarm : arrays of shape (n,)
        As ``Explainer`` gives them.
    next_inputs : mapping from column name to array
        ``row``, ``rank``, ``input`` and ``information`` of the missing inputs, the best first.
    cells : mapping from column name to array
        ``row``, ``rank``, ``input``, ``value``, ``expected``, ``surprise`` and ``stake`` of known
        inputs, ranked by stake. If all were asked for, missing inputs come too, with 0 as rank,
        surprise and stake, and values are as the user would write them; otherwise all values are
        texts if some input is.
    """

    filled: NDArray[np.intp]
    overturn: FloatArray
    fragility: FloatArray
    alarm: FloatArray
    next_inputs: Mapping[str, NDArray[Any]]
    cells: Mapping[str, NDArray[Any]]


def row_answers(explainer: Any, X: Any, chance: float, top: int | None = None) -> RowAnswers:
    """Ask everything about the rows of X.

    Parameters
    ----------
    explainer : Explainer
        Anything else raises ``UnsupportedModelError``.
    X : as the model takes it
    chance : float
        The chance of each input to be lost.
    top : int, optional
        The inputs listed for each row; by default all of them, known and missing.
    """
    if not isinstance(explainer, InputQuestions):
        raise UnsupportedModelError(
            "Questions about inputs need an Explainer of a linear model; this model makes its own "
            "evidence. Ask ev.fragility(q) of its evidence."
        )
    asked = explainer._asked()
    units = InputUnits.read(asked.inputs.blocks, None, None)
    filled, overturned, found = [], [], []
    table = CellTable(asked.inputs, mixed=top is None)
    for rows in asked.chunks(X):
        filled.append(np.argmax(rows.logits, axis=1))
        overturned.append(overturn_rows(rows, asked.inputs))
        found += ranked_units(rows, asked.inputs, units, top)
        for where, gaps in patterns(rows.gaps, complete=True):
            far = KnownCells.of(asked.inputs, gaps).measured(rows.features[where])
            add_ranked_cells(table, rows, where, far, top)
            if top is None:
                _add_missing(table, rows, where, asked.inputs, gaps)
    suggested = Suggestions.joined(found)
    return RowAnswers(
        np.concatenate(filled),
        np.concatenate(overturned),
        conditional_fragility(asked, X, chance),
        guard(asked, X).alarm,
        {
            "row": suggested.row,
            "rank": suggested.rank,
            "input": np.asarray(units.names, dtype=object)[suggested.unit],
            "information": suggested.information,
        },
        _by_row_and_rank(table.columns()),
    )


def _add_missing(
    table: CellTable,
    rows: AskedRows,
    where: NDArray[np.intp],
    inputs: LinearInputs,
    gaps: BoolArray,
) -> None:
    """Add the missing inputs of rows of one pattern, with their expectations."""
    missing = [i for i, block in enumerate(inputs.blocks.features) if gaps[block[0]]]
    owner = np.repeat(where, len(missing))
    which = np.tile(np.asarray(missing, dtype=np.intp), len(where))
    none = np.zeros(len(owner))
    rank = none.astype(np.intp)
    table.add(rows, owner, which, rank, rows.features[owner], surprise=none, stake=none)


def _by_row_and_rank(columns: dict[str, Any]) -> dict[str, Any]:
    order = np.lexsort((columns["rank"], columns["row"]))
    return {name: values[order] for name, values in columns.items()}
