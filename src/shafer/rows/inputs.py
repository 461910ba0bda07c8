"""The columns of the user's rows behind each component, and their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shafer._checks.arrays import to_numpy
from shafer._checks.frames import frame_of, pandas_columns
from shafer._typing import Array
from shafer.errors import UnsupportedModelError
from shafer.evidence.reasons import InputValues
from shafer.evidence.words import IN_TEXT, NOT_IN_TEXT, Usual
from shafer.rows.access import take_rows
from shafer.rows.columns import encoded_sources
from shafer.rows.usual import UsualValues
from shafer.texts.inputs import (
    TextPart,
    are_grouped,
    column_of_texts,
    spans_of_components,
    text_in_row,
    text_parts,
    texts_of,
)
from shafer.texts.spans import WordSpans

if TYPE_CHECKING:
    from shafer.models.read_model import ReadModel


@final
class ColumnTrace:
    """Which columns of the data each component of a model comes from; found on first use.

    A copy holds the result and not the model.
    """

    def __init__(self, model: ReadModel, columns: tuple[str, ...] | None) -> None:
        self._model = model
        self._columns = columns

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The names of the columns, in the order of the model's input."""
        return self._traced[0]

    @cached_property
    def places(self) -> dict[str, int]:
        """The position of each column in the order of the model's input."""
        return {name: j for j, name in enumerate(self.order)}

    @cached_property
    def by_component(self) -> tuple[frozenset[str], ...]:
        """The columns of each component; empty if they are not known."""
        return self._traced[1]

    @cached_property
    def _traced(self) -> tuple[tuple[str, ...], tuple[frozenset[str], ...]]:
        model = self._model
        if not model.by_column and model.term_columns is None:
            return (), ()
        order: Sequence[str] = self._columns or ()
        sources = [frozenset([name]) for name in order]
        if model.encoders:
            try:
                order, sources = encoded_sources(model.encoders, self._columns, None, [])
            except UnsupportedModelError:
                return (), ()
            sources = [found.intersection(order) for found in sources]
        if model.term_columns is not None and sources:
            terms = model.term_columns
            sources = [frozenset[str]().union(*(sources[j] for j in term)) for term in terms]
        return tuple(order), tuple(sources)

    @cached_property
    def text_parts(self) -> tuple[TextPart, ...]:
        """The text vectorizers behind the components; empty if components are not words."""
        model = self._model
        words = model.by_column and model.term_columns is None
        return text_parts(model.encoders) if words else ()

    def __getstate__(self) -> dict[str, Any]:
        return {"order": self.order, "by_component": self.by_component, "text_parts": ()}


@final
@dataclass(frozen=True, eq=False)
class RowInputs(InputValues):
    """Rows as the user gave them, and the columns of the model's components.

    Attributes
    ----------
    X : data frame, array, sparse matrix or list of rows
    trace : ColumnTrace
    members : tuple of tuples of int, optional
        The model's components in each component of the evidence; None if they are the same.
    chosen : array of positions, optional
        Rows of X; None for all.
    usual_values : UsualValues, optional
        What is usual in each column of the background.
    """

    X: Any
    trace: ColumnTrace
    members: tuple[tuple[int, ...], ...] | None = None
    chosen: NDArray[np.intp] | None = None
    usual_values: UsualValues | None = None

    def usual(self, component: int) -> Usual | None:
        names = self.columns(component)
        if self.usual_values is None or len(names) != 1 or self.is_word(component):
            return None
        return self.usual_values.of(self.trace.places[names[0]])

    def columns(self, component: int) -> tuple[str, ...]:
        known = self.trace.by_component
        inside = (component,) if self.members is None else self.members[component]
        if any(g >= len(known) for g in inside):  # such as the base rate
            return ()
        found = frozenset[str]().union(*(known[g] for g in inside))
        if len(found) < 2:
            return tuple(found)
        return tuple(sorted(found, key=self.trace.places.__getitem__))

    def is_word(self, component: int) -> bool:
        return self._word(component) is not None

    def _word(self, component: int) -> tuple[TextPart, int] | None:
        """Return the vectorizer of a component, and its column there; None if it is not a word."""
        inside = (component,) if self.members is None else self.members[component]
        for part in self.trace.text_parts:
            if len(inside) == 1 and (column := part.column_of(inside[0])) >= 0:
                return part, column
        return None

    @cached_property
    def _present(self) -> dict[int, Any]:
        """The words that each text has, by vectorizer, as far as it was asked for."""
        return {}

    def _has_word(self, part: TextPart, column: int) -> Array:
        if id(part) not in self._present:
            texts = texts_of(self.X, part.column)
            some = texts if self.chosen is None else take_rows(texts, self.chosen.tolist())
            self._present[id(part)] = part.vectorizer.transform(some).tocsc()
        held = self._present[id(part)][:, [column]].toarray()[:, 0] != 0
        return np.where(held, IN_TEXT, NOT_IN_TEXT).astype(object)

    def values(self, component: int) -> Array | None:
        word = self._word(component)
        if word is not None:
            return self._has_word(*word)
        return super().values(component)

    @property
    def order(self) -> tuple[str, ...]:
        return self.trace.order

    @property
    def is_sparse(self) -> bool:
        return bool(sparse.issparse(self.X))

    @cached_property
    def _table(self) -> Any:
        """The rows, so that a column is found without a pass over the others."""
        if pandas_columns(self.X) is not None:
            return self.X
        frame = frame_of(self.X)
        if frame is not None:
            return frame
        if sparse.issparse(self.X):
            return self.X.tocsc()
        return to_numpy(self.X) if hasattr(self.X, "shape") else np.asarray(self.X, dtype=object)

    def column(self, name: str) -> Array | None:
        table = self._table
        if hasattr(table, "iloc"):
            column = _pandas_column(table, name)
        elif isinstance(table, nw.DataFrame):
            column = table[name].to_numpy() if name in table.columns else None
        else:
            column = _array_column(table, self.trace.places[name])
        return column if column is None or self.chosen is None else column[self.chosen]

    def rows(self, positions: NDArray[np.intp]) -> RowInputs:
        chosen = positions if self.chosen is None else self.chosen[positions]
        return replace(self, chosen=chosen)

    def same_rows(self, other: InputValues) -> bool:
        if not isinstance(other, RowInputs) or not _same(self.chosen, other.chosen):
            return False
        return _same(self.X, other.X)

    def text_columns(self) -> tuple[str | None, ...]:
        parts = self.trace.text_parts
        if any(are_grouped(part, self.members) for part in parts):
            return ()
        return tuple(dict.fromkeys(part.column for part in parts))

    def word_spans(
        self, row: int, text: str | None = None, column: str | None = None
    ) -> WordSpans | None:
        parts = self.trace.text_parts
        if not parts:
            return None
        column = column_of_texts(parts, column)
        if text is None:
            at = row if self.chosen is None else int(self.chosen[row])
            text = text_in_row(self.X, at, column, parts[0].vectorizer)
        chosen = [part for part in parts if part.column == column]
        return spans_of_components(chosen, text, self.members)

    def grouped(self, groups: Sequence[Sequence[int]]) -> RowInputs:
        inside = [
            [m for g in group for m in ((g,) if self.members is None else self.members[g])]
            for group in groups
        ]
        return replace(self, members=tuple(tuple(int(m) for m in members) for members in inside))


def _pandas_column(table: Any, name: str) -> Array | None:
    """Return a column of a pandas frame; None if there is none."""
    if name not in table.columns:
        return None
    column = table[name]
    if isinstance(column.dtype, np.dtype):
        return np.asarray(column.to_numpy())
    return nw.from_native(column, series_only=True).to_numpy()  # it knows nullable types


def _same(first: Any, second: Any) -> bool:
    """Return whether two tables of one type have the same cells; False if it is not known."""
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if sparse.issparse(first):
        return bool(first.shape == second.shape and (first != second).nnz == 0)
    if frame_of(first) is not None:
        return bool(first.equals(second))
    if isinstance(first, list):
        return bool(first == second)
    if not hasattr(first, "shape"):
        return False
    one, other = to_numpy(first), to_numpy(second)
    return np.array_equal(one, other, equal_nan=one.dtype.kind == other.dtype.kind == "f")


def _array_column(table: Any, position: int) -> Array | None:
    """Return a column of an array or a sparse matrix; None if it has none."""
    if sparse.issparse(table):
        return np.asarray(table[:, [position]].toarray())[:, 0]
    return table[:, position] if table.ndim == 2 and position < table.shape[1] else None
