"""``RowAnswers``: all questions about the inputs of some rows, answered at once, by position."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._json import few_digits
from shafer._typing import BoolArray, FloatArray
from shafer._values import Value, plain
from shafer.asking.check_cells import CellTable, Suspicion, add_ranked_cells
from shafer.asking.input_questions import InputQuestions
from shafer.asking.inputs import AskedModel, AskedRows, InputUnits, LinearInputs
from shafer.asking.known_cells import KnownCells
from shafer.asking.next_inputs import Suggestions, ranked_units
from shafer.asking.overturn import overturn_rows, pattern_fragility
from shafer.decision.policy import answers
from shafer.errors import UnsupportedModelError
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.robustness import check_chance
from shafer.explain.missing import patterns
from shafer.models.read_model import ModelRows
from shafer.rows.access import take_rows


@final
@dataclass(frozen=True, eq=False)
class RowAnswers:
    """The answers about n rows. Tables have columns of equal length; ``row`` is a position.

    Attributes
    ----------
    filled : array of n positions
        The answers, with expectations in place of missing inputs.
    overturn, fragility, alarm : arrays of shape (n,)
        As ``Explainer`` gives them.
    next_inputs : mapping from column name to array
        ``row``, ``rank``, ``input`` and ``information`` of the missing inputs, the best first.
    cells : mapping from column name to array
        ``row``, ``rank``, ``input``, ``value``, ``expected``, ``surprise``, ``stake`` and the
        position of the ``answer`` with the expected value, of known inputs, ranked by stake. If
        all were asked for, missing inputs come too, with 0 as rank, surprise and stake, and values
        are as the user would write them; otherwise all values are texts if some input is.
    """

    filled: NDArray[np.intp]
    overturn: FloatArray
    fragility: FloatArray
    alarm: FloatArray
    next_inputs: Mapping[str, NDArray[Any]]
    cells: Mapping[str, NDArray[Any]]


def row_answers(
    explainer: Any, X: Any, chance: float, top: int | None = None, passed: ModelRows | None = None
) -> RowAnswers:
    """Ask everything about the rows of X, with one pass through the model.

    Parameters
    ----------
    explainer : Explainer
        Anything else raises ``UnsupportedModelError``.
    X : as the model takes it
    chance : float
        The chance of each input to be lost.
    top : int, optional
        The inputs listed for each row; by default all of them, known and missing.
    passed : ModelRows, optional
        X after an earlier pass, which is then not repeated.
    """
    asked, chance = asked_model(explainer), check_chance(chance)
    units = InputUnits.read(asked.inputs.blocks, None, None)
    filled, overturned, found, fragile, alarms = [], [], [], [], []
    table = CellTable(asked.inputs, mixed=top is None)
    for rows in asked.chunks(X, passed):
        filled.append(rows.answers)
        overturned.append(overturn_rows(rows, asked.inputs))
        found += ranked_units(rows, asked.inputs, units, top)
        fragility, alarm = np.zeros(len(rows)), np.zeros(len(rows))
        for where, gaps in patterns(rows.gaps, complete=True):
            far = KnownCells.of(asked.inputs, gaps).measured(rows.features[where])
            fragility[where] = pattern_fragility(rows, where, far, chance)
            alarm[where] = Suspicion.of(far, len(asked.names)).alarm
            add_ranked_cells(table, rows, where, far, top)
            if top is None:
                _add_missing(table, rows, where, asked.inputs, gaps)
        fragile.append(fragility)
        alarms.append(alarm)
    suggested = Suggestions.joined(found)
    return RowAnswers(
        np.concatenate(filled),
        np.concatenate(overturned),
        np.concatenate(fragile),
        np.concatenate(alarms),
        {
            "row": suggested.row,
            "rank": suggested.rank,
            "input": np.asarray(units.names, dtype=object)[suggested.unit],
            "information": suggested.information,
        },
        _by_row_and_rank(table.columns()),
    )


def asked_model(explainer: Any) -> AskedModel:
    """Return the model with the distribution of its inputs, if questions about them are allowed."""
    ask = getattr(explainer, "ask", None)
    if not isinstance(ask, InputQuestions):
        raise UnsupportedModelError(
            "Questions about inputs need an Explainer of a linear model; this model makes its own "
            "evidence. Ask ev.fragility(q) of its evidence."
        )
    return ask.model()


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
    more = {"surprise": none, "stake": none, "answer": rows.answers[owner]}
    table.add(rows, owner, which, rank, rows.features[owner], **more)


def _by_row_and_rank(columns: dict[str, Any]) -> dict[str, Any]:
    order = np.lexsort((columns["rank"], columns["row"]))
    return {name: values[order] for name, values in columns.items()}


# What would settle a row, whether its answer would stand, what to check.

LOST = 0.2
"""The chance of each input to be lost, when the question is whether an answer would stand."""
NAMED_NEXT = 3
"""Missing inputs that are named."""
_MOST_INPUTS = 500


@final
@dataclass(frozen=True)
class NextInput:
    """A missing input, and the information in nats that it would give about the class."""

    input: str
    information: float


@final
@dataclass(frozen=True)
class CheckedCell:
    """A known value, the one that the other inputs let expect, and what is at stake.

    Attributes
    ----------
    input : str
    value, expected : number or text
    surprise : float
        How many standard deviations lie between them.
    stake : float
        In nats.
    """

    input: str
    value: Value
    expected: Value
    surprise: float
    stake: float


@final
@dataclass(frozen=True, eq=False)
class RowQuestions:
    """The answers about one row.

    Attributes
    ----------
    answer : int
        Position of the class whose decision is asked about: that with expected values in place of
        missing inputs.
    fragility : float
        The chance that the answer changes if each input is lost with chance ``LOST``.
    of_inputs : bool
        Whether inputs are lost and replaced by their expected values; otherwise components are
        lost and replaced by their background means.
    overturn : float
        The chance that the missing inputs change the answer.
    missing : int
        The number of missing inputs.
    next_inputs : tuple of NextInput
        The best of the missing inputs.
    cell : CheckedCell, optional
        The known value with most at stake.
    expected : dict
        The expected value of each input.
    """

    answer: int
    fragility: float
    of_inputs: bool
    overturn: float = 0.0
    missing: int = 0
    next_inputs: tuple[NextInput, ...] = ()
    cell: CheckedCell | None = None
    expected: dict[str, Value] | None = None


@final
@dataclass(frozen=True, eq=False)
class AnsweredRows:
    """The answers about some rows, and why questions about single inputs have none.

    Attributes
    ----------
    rows : list of RowQuestions
    why_not : str
        Empty if all questions were answered. Otherwise only ``fragility`` is, of components.
    """

    rows: list[RowQuestions]
    why_not: str = ""


def ask_rows(
    explainer: Callable[[Any], MassEvidence], X: Any, evidence: Evidence, rows: Sequence[int]
) -> AnsweredRows:
    """Ask all questions about some rows, in their order.

    Parameters
    ----------
    explainer : Explainer, or another function that returns evidence
    X : as the model takes it
    evidence : Evidence
        That of all rows of X, undiscounted.
    rows : sequence of int
        Positions.
    """
    chosen = [int(row) for row in rows]
    try:
        if evidence.n_components > _MOST_INPUTS:
            raise UnsupportedModelError(f"More than {_MOST_INPUTS} inputs are too many for them.")
        found = row_answers(explainer, take_rows(X, chosen), LOST)
    except ValueError as reason:  # the evidence of these rows was found, so the model is why
        return AnsweredRows(_of_components(evidence[chosen]), str(reason))
    return AnsweredRows(_of_inputs(found))


def _of_components(evidence: Evidence) -> list[RowQuestions]:
    answered = answers(to_numpy(evidence.logits), evidence.cutoff).tolist()
    fragility = to_numpy(evidence.fragility(LOST)).tolist()
    return [RowQuestions(a, few_digits(f), False) for a, f in zip(answered, fragility, strict=True)]


def _of_inputs(found: RowAnswers) -> list[RowQuestions]:
    n = len(found.filled)
    next_rows, cell_rows = _by_row(found.next_inputs, n), _by_row(found.cells, n)
    return [_one_row(found, row, next_rows[row], cell_rows[row]) for row in range(n)]


def _by_row(table: Any, n: int) -> list[slice]:
    """Return where the lines of each row are in a table that is sorted by row."""
    ends = np.searchsorted(table["row"], np.arange(n + 1))
    return [slice(start, stop) for start, stop in pairwise(ends.tolist())]


def _one_row(found: RowAnswers, row: int, asked: slice, held: slice) -> RowQuestions:
    names: NDArray[Any] = found.next_inputs["input"][asked]
    gains = found.next_inputs["information"][asked]
    best = zip(names[:NAMED_NEXT], gains[:NAMED_NEXT], strict=True)
    cells = {name: values[held] for name, values in found.cells.items()}
    return RowQuestions(
        int(found.filled[row]),
        few_digits(found.fragility[row]),
        True,
        few_digits(found.overturn[row]),
        len(names),
        tuple(NextInput(str(name), few_digits(gain)) for name, gain in best),
        _first_cell(cells),
        {
            str(name): _few(value)
            for name, value in zip(cells["input"], cells["expected"], strict=True)
        },
    )


def _first_cell(cells: dict[str, NDArray[Any]]) -> CheckedCell | None:
    first = np.flatnonzero(cells["rank"] == 1)
    if not len(first):
        return None
    at = int(first[0])
    return CheckedCell(
        str(cells["input"][at]),
        _few(cells["value"][at]),
        _few(cells["expected"][at]),
        few_digits(cells["surprise"][at]),
        few_digits(cells["stake"][at]),
    )


def _few(value: Any) -> Value:
    known = plain(value)
    return few_digits(known) if isinstance(known, float) else known
