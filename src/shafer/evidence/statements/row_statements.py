"""Experts' opinions about each row of a data frame, read from its columns.

One expert is a mapping, as a single statement is, with columns in place of the class and of the
certainty::

    {"for": "diagnosis", "probability": "sure"}      both are columns
    {"for": "diagnosis", "probability": 0.8}         the same certainty in all rows
    {"for": "ill", "probability": "risk"}            the same class, if no column is called "ill"

A row where the expert's columns are empty (None, NaN, an empty text) has no evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from shafer._text import listed
from shafer._typing import FloatArray
from shafer._validation import is_missing, one_position
from shafer.decision.option_checks import is_number
from shafer.evidence.statements.stated_certainty import (
    log_odds_of,
    side_and_kind,
    signed_weight,
)

_Read = TypeVar("_Read")
_EXAMPLE = "columns={'doctor': {'for': 'diagnosis', 'probability': 'sure'}}"


def row_weights_of_experts(
    frame: nw.DataFrame[Any],
    columns: Any,
    classes: NDArray[Any],
    log_prior: FloatArray,
    index: Sequence[Any] | None,
) -> FloatArray:
    """Return the weights of each row, expert and class, (n, G, K); see the top of the file."""
    if not isinstance(columns, Mapping) or not columns:
        raise ValueError(
            f"columns must name at least one expert, such as {_EXAMPLE}; got {columns!r}."
        )
    if len(frame) == 0:
        raise ValueError("statements must have at least one row; got an empty data frame.")
    rows = _Rows(frame, classes, index)
    odds = np.array([log_odds_of([k], log_prior) for k in range(len(classes))])
    weights = np.zeros((len(frame), len(columns), len(classes)))
    for g, (name, given) in enumerate(columns.items()):
        for row, (position, weight) in enumerate(rows.opinions(str(name), given, odds)):
            weights[row, g, position] = weight
    return weights


def uses_probabilities(columns: Any) -> bool:
    """Return whether some expert gives probabilities, which are compared with a prior."""
    return any("probability" in given for given in columns.values() if isinstance(given, Mapping))


@final
@dataclass(frozen=True)
class _Rows:
    """The rows of a data frame, and how errors name them."""

    frame: nw.DataFrame[Any]
    classes: NDArray[Any]
    index: Sequence[Any] | None

    def opinions(self, expert: str, given: Any, odds: FloatArray) -> list[tuple[int, float]]:
        """Return the class and the signed weight of one expert in each row; weight 0 if empty."""
        if not isinstance(given, Mapping):
            raise ValueError(
                f"columns[{expert!r}] must be a mapping, such as in {_EXAMPLE}; got {given!r}."
            )
        side, kind = side_and_kind(given)
        labels, label_column = self._labels(given[side], expert)
        values, value_column = self._certainties(given[kind], kind, expert)
        position_of = _remembered(lambda label: one_position(label, self.classes))

        def opinion(row: int) -> tuple[int, float]:
            label, value = labels[row], values[row]
            if self._is_empty(row, (label, label_column), (value, value_column)):
                return 0, 0.0
            try:
                position = position_of(label)
            except ValueError as error:
                raise ValueError(f"{self._where(row, label_column)}: {error}") from error
            where = f"in {self._where(row, value_column, capital=False)}"
            return position, signed_weight(side, kind, value, float(odds[position]), where)

        return [opinion(row) for row in range(len(self.frame))]

    def _labels(self, given: Any, expert: str) -> tuple[list[Any], str | None]:
        """Return the class of each row, and the column it stands in; None for a fixed class."""
        known = given in self.classes.tolist() if isinstance(given, Hashable) else False
        column = isinstance(given, str) and given in self.frame.columns
        if known and column:
            raise ValueError(
                f"columns[{expert!r}] names {given!r}, which is a column and also a class. Rename "
                "the column."
            )
        if column:
            return self.frame[given].to_list(), given
        if known:
            return [given] * len(self.frame), None
        raise ValueError(
            f"columns[{expert!r}] names {given!r}, which is neither a column nor a class. The "
            f"columns are [{listed(self.frame.columns)}], the classes "
            f"[{listed(self.classes.tolist())}]."
        )

    def _certainties(self, given: Any, kind: str, expert: str) -> tuple[list[Any], str | None]:
        """Return the certainty of each row, and the column it stands in; None for a number."""
        if isinstance(given, str) and given in self.frame.columns:
            return self.frame[given].to_list(), given
        if is_number(given):
            return [given] * len(self.frame), None
        raise ValueError(
            f"columns[{expert!r}][{kind!r}] must be a column or a number; got {given!r}. The "
            f"columns are [{listed(self.frame.columns)}]."
        )

    def _is_empty(
        self, row: int, label: tuple[Any, str | None], value: tuple[Any, str | None]
    ) -> bool:
        """Return whether an expert is silent in a row; half an opinion is an error."""
        no_label = label[1] is not None and _is_blank(label[0], self.classes)
        no_value = value[1] is not None and _is_blank(value[0])
        if no_label == no_value or label[1] is None or value[1] is None:
            return no_label or no_value
        given, lacking = (value, label) if no_label else (label, value)
        raise ValueError(
            f"{self._where(row, given[1])} has {given[0]!r}, but column {lacking[1]!r} is empty "
            "there. Fill in both, or leave both empty for a row without an opinion."
        )

    def _where(self, row: int, column: str | None, *, capital: bool = True) -> str:
        label = "" if self.index is None else f" (index {self.index[row]!r})"
        stands = "" if column is None else f", column {column!r}"
        return f"{'Row' if capital else 'row'} {row}{label}{stands}"


def _is_blank(value: Any, classes: NDArray[Any] | None = None) -> bool:
    """Return whether a cell is empty; an empty text is not, if a class is called so."""
    if isinstance(value, str):
        return not value.strip() and (classes is None or value not in classes.tolist())
    return is_missing(value)


def _remembered(read: Callable[[Any], _Read]) -> Callable[[Any], _Read]:
    """Read each distinct value once; 1, 1.0 and True are different values."""
    found: dict[Any, _Read] = {}

    def look_up(value: Any) -> _Read:
        if not isinstance(value, Hashable):
            return read(value)
        key = type(value), value
        if key not in found:
            found[key] = read(value)
        return found[key]

    return look_up
