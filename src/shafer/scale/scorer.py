"""``RowScorer``: the table of scores of some rows, with a schema that is known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._column import Column
from shafer.explain.explainer import Explainer
from shafer.explain.row_pass import RowPass
from shafer.rows.schema import pandas_of_arrow
from shafer.scale.background_means import MeasuredModel
from shafer.scale.bad_rows import OnError, Rows, divided, first_bad, with_column
from shafer.scale.inputs import ModelColumns, ModelInputs

if TYPE_CHECKING:
    import pyarrow

T = TypeVar("T")

ERROR = "error"
"""The column that says what is wrong with a row, if bad rows are kept."""
_CELLS = 2**23  # input values in memory at a time
_MOST_ROWS = 100_000


@final
class ScoredRows:
    """Rows that are scored together. They pass through the model once, for all columns.

    Parameters
    ----------
    model : MeasuredModel
    X : as the model takes it
    beside : mapping from column name to values, such as a data frame
        The columns that are not the model's, such as one of groups.
    numbers : array of int, optional
        The number of each row in its table; by default from 0 on.
    kept : data frame, optional
        The columns that are passed on as they are.
    """

    def __init__(
        self, model: MeasuredModel, X: Any, beside: Any, numbers: Any = None, kept: Any = None
    ) -> None:
        self.model = model
        self.X = X
        self.numbers = numbers
        self.kept = kept
        self._beside = beside
        self._tables: dict[Callable[[ScoredRows], Any], Any] = {}

    @cached_property
    def given(self) -> RowPass:
        """The rows as they were given, after their pass through the model."""
        return self.model.observe(self.X)

    @cached_property
    def seen(self) -> RowPass:
        """The pass that answers: with a guard it is that of the guarded predictions."""
        predictor = self.model.predictor
        if predictor is None or not self.model.is_guarded:
            return self.given
        return predictor.observe(self.as_trained)

    @property
    def as_trained(self) -> Any:
        """The rows as a classifier takes them, which may have been trained on an array."""
        predictor = self.model.predictor
        named = isinstance(predictor, Explainer) or hasattr(predictor, "feature_names_in_")
        return self.X if named else np.asarray(self.X)

    def beside(self, column: str | None) -> NDArray[Any] | None:
        """Return a column of the data that is not the model's; None for no column."""
        return None if column is None else to_numpy(self._beside[column])

    def once(self, table: Callable[[ScoredRows], T]) -> T:
        """Call a function of these rows, unless it was called before."""
        if table not in self._tables:
            self._tables[table] = table(self)
        found: T = self._tables[table]
        return found

    def table(self, columns: Iterable[Column]) -> dict[str, Any]:
        """Return the values of columns, by name. Texts are lists, all else arrays."""
        return {column.name: column.of(self) for column in columns}


@final
@dataclass(frozen=True, eq=False)
class RowScorer:
    """Scores rows; sent to each worker once.

    Attributes
    ----------
    model : MeasuredModel
    inputs : ModelColumns or ModelInputs
        The columns that the model takes.
    columns : tuple of Column
        What to write.
    keep : tuple of strings
        Columns that are passed on.
    on_error : {"stop", "skip", "quarantine"}
        What to do about rows that cannot be scored.
    """

    model: MeasuredModel
    inputs: ModelColumns | ModelInputs
    columns: tuple[Column, ...]
    keep: tuple[str, ...] = ()
    on_error: OnError = "stop"

    @property
    def read(self) -> list[str]:
        """The columns to read."""
        return list(dict.fromkeys((*self.keep, *self._scored)))

    @property
    def _scored(self) -> list[str]:
        """The columns that the scores depend on: those of the model, and those beside them."""
        return list(dict.fromkeys((*self.inputs.names, *reads_of(self.columns))))

    @property
    def chunk(self) -> int:
        """Rows that are scored at a time."""
        return max(1, min(_MOST_ROWS, _CELLS // max(1, len(self.inputs.names))))

    @property
    def schema(self) -> pyarrow.Schema:
        """The columns that are written, as a pyarrow schema."""
        return arrow_schema(self.columns, on_error=self.on_error)

    def table(self, frame: Any, numbers: Any = None, kept: Any = None) -> dict[str, Any]:
        """Return the scores of a pandas frame, by name; its rows have numbers."""
        rows = ScoredRows(self.model, self.inputs.rows(frame), frame, numbers, kept)
        return rows.table(self.columns)

    def evidence(self, table: Any) -> tuple[Any, Rows]:
        """Return the scores of a pyarrow table without its columns, and the rows they belong to."""
        chosen = table.select(self._scored)
        slices = (chosen.slice(i, self.chunk) for i in range(0, chosen.num_rows, self.chunk))
        return self._joined(map(pandas_of_arrow, slices), partial(self._called, table))

    def arrow(self, table: Any) -> Any:
        """Return the scores of a pyarrow table, with the columns that are kept."""
        import pyarrow

        scored, rows = self.evidence(table)
        kept = table.select(list(self.keep))
        if len(rows) < table.num_rows:
            kept = kept.take(rows)
        schema = pyarrow.schema([*kept.schema, *scored.schema])
        return pyarrow.Table.from_arrays([*kept.columns, *scored.columns], schema=schema)

    def pandas(self, frame: Any) -> Any:
        """Return the scores of a pandas frame, with its index and the columns that are kept."""
        import pandas

        slices = (frame.iloc[i : i + self.chunk] for i in range(0, len(frame), self.chunk))
        table, rows = self._joined(slices, lambda row: f"Row {frame.index[row]}")
        types = _gap_types().get if self.on_error == "quarantine" else None
        scored = table.to_pandas(types_mapper=types)
        own = frame.iloc[rows] if len(rows) < len(frame) else frame
        return pandas.concat([own[list(self.keep)], scored.set_axis(own.index)], axis=1)

    def _called(self, table: Any, row: int) -> str:
        """Return how a message calls a row of a pyarrow table."""
        if not self.keep:
            return f"Row {row} of {table.num_rows} rows that are scored together"
        [cells] = table.select(list(self.keep)).slice(row, 1).to_pylist()
        return "Row with " + ", ".join(f"{name}={cell!r}" for name, cell in cells.items())

    def _joined(self, frames: Iterable[Any], called: Callable[[int], str]) -> tuple[Any, Rows]:
        """Return the scores of frames as a pyarrow table, and the positions of its rows."""
        import pyarrow

        parts, rows, first = [], [np.empty(0, dtype=np.intp)], 0
        for frame in frames:
            part, good = self._part(frame, first, called)
            parts.append(part)
            rows.append(good + first)
            first += len(frame)
        found = pyarrow.concat_tables(parts or [self.schema.empty_table()])
        return found, np.concatenate(rows)

    def _part(self, frame: Any, first: int, called: Callable[[int], str]) -> tuple[Any, Rows]:
        plain = arrow_schema(self.columns)
        every = np.arange(len(frame))

        def scores(rows: Rows) -> Any:
            some = frame if len(rows) == len(frame) else frame.iloc[rows]
            return arrow_table(self.table(some), plain)

        if self.on_error == "stop":
            try:
                return scores(every), every
            except (ValueError, TypeError) as error:
                found = first_bad(scores, every, error)
                if found is None:
                    raise
                text = f"{called(first + found[0])}: {self._explained(frame, *found)}"
                raise ValueError(
                    f"{text} Correct the row, or pass on_error='skip' or 'quarantine'."
                ) from error
        split = divided(scores, every)
        table = plain.empty_table() if split.result is None else split.result
        if self.on_error == "skip":
            return table, split.good
        return self._with_reasons(frame, table, split.bad), every

    def _explained(self, frame: Any, row: int, text: str) -> str:
        """Return what is wrong with a row, with the name of the column."""
        names = list(self.inputs.names)
        return with_column(text, names, [frame[name].iloc[row] for name in names])

    def _with_reasons(self, frame: Any, table: Any, bad: dict[int, str]) -> Any:
        """Return scores with gaps for the bad rows, and a column that says what is wrong."""
        import pyarrow

        is_bad = np.isin(np.arange(len(frame)), list(bad))
        places = pyarrow.array(np.cumsum(~is_bad) - 1, mask=is_bad)
        reasons = [
            self._explained(frame, row, bad[row]) if row in bad else None
            for row in range(len(frame))
        ]
        filled = table.take(places)
        return filled.append_column(ERROR, pyarrow.array(reasons, pyarrow.string()))


def _gap_types() -> dict[Any, Any]:
    """Return the pandas types of whole numbers and truth values beside gaps."""
    import pandas
    import pyarrow

    return {pyarrow.int64(): pandas.Int64Dtype(), pyarrow.bool_(): pandas.BooleanDtype()}


def reads_of(columns: Iterable[Column]) -> list[str]:
    """Return the columns of the data that score columns need besides those of the model."""
    return list(dict.fromkeys(column.reads for column in columns if column.reads is not None))


def arrow_schema(columns: Iterable[Column], *, on_error: OnError = "stop") -> pyarrow.Schema:
    """Return the names and types of columns, without any row.

    With ``on_error="quarantine"`` there is a column more: what is wrong with a row.
    """
    import pyarrow

    types = {
        "number": pyarrow.float64(),
        "text": pyarrow.string(),
        "truth": pyarrow.bool_(),
        "whole": pyarrow.int64(),
    }
    return pyarrow.schema(
        [
            (column.name, types[column.kind] if column.type is None else column.type)
            for column in columns
        ]
        + ([(ERROR, pyarrow.string())] if on_error == "quarantine" else [])
    )


def arrow_table(table: Mapping[str, Any], schema: pyarrow.Schema) -> pyarrow.Table:
    """Return columns as a pyarrow table with the types of a schema."""
    import pyarrow

    arrays = []
    for name, kind in zip(schema.names, schema.types, strict=True):
        values = table[name]
        if not isinstance(values, list | np.ndarray):  # a pandas column that is passed on
            arrays.append(pyarrow.Array.from_pandas(values, type=kind))
            continue
        if kind != pyarrow.string():
            values = np.ascontiguousarray(values, dtype=kind.to_pandas_dtype())
        arrays.append(pyarrow.array(values, kind))
    return pyarrow.Table.from_arrays(arrays, schema=schema)
