"""Bad rows: which rows of a table cannot be scored, and why. The others get the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeAlias, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from shafer._files.atomic import replacing
from shafer._text import one_line
from shafer.errors import BadRowsError
from shafer.rows.csv_cells import check_names, escaped
from shafer.rows.schema import ColumnSchema
from shafer.scale.tables import SIDE_COLUMNS, column_names, format_of, raw_chunks

T = TypeVar("T")
Rows: TypeAlias = NDArray[np.intp]
"""Positions of rows, in ascending order."""

OnError: TypeAlias = Literal["stop", "skip", "quarantine"]
ON_ERROR: tuple[OnError, ...] = ("stop", "skip", "quarantine")
_ROW_ERRORS = (ValueError, TypeError)
_AT_A_TIME = 100_000  # rows that are read again


def checked_on_error(given: Any) -> OnError:
    """Return what to do about bad rows."""
    if given not in ON_ERROR:
        raise ValueError(f"on_error must be one of {', '.join(ON_ERROR)}; got {given!r}.")
    found: OnError = given
    return found


@final
@dataclass(frozen=True, eq=False)
class Divided(Generic[T]):
    """Rows that were scored, and those that cannot be.

    Attributes
    ----------
    good : array of positions
    result : object or None
        What the function returned for the good rows; None if there are none.
    bad : dict from position to text
        What is wrong with each bad row.
    """

    good: Rows
    result: T | None
    bad: dict[int, str]


def divided(score: Callable[[Rows], T], rows: Rows) -> Divided[T]:
    """Call a function on all rows that it can take.

    Parameters
    ----------
    score : callable
        Takes positions of rows, and raises a ``ValueError`` or ``TypeError`` if one of them is bad.
    rows : array of positions

    Raises
    ------
    ValueError, TypeError
        If rows fail together of which none fails alone: the error is not about a row.
    """
    bad: dict[int, str] = {}
    while len(rows):
        try:
            return Divided(rows, score(rows), bad)
        except _ROW_ERRORS as error:
            found = _known(score, rows, error) or _searched(score, rows, error)
        bad |= found
        rows = rows[~np.isin(rows, list(found))]
    return Divided(rows, None, bad)


def first_bad(score: Callable[[Rows], Any], rows: Rows, error: Exception) -> tuple[int, str] | None:
    """Return the first bad row and what is wrong with it; None if no row fails alone."""
    found = _known(score, rows, error)
    if found:
        first = min(found)
        return first, found[first]
    while len(rows) > 1:
        half = rows[: len(rows) // 2]
        rows = rows[len(half) :] if _error(score, half) is None else half
    alone = _error(score, rows)
    return None if alone is None else (int(rows[0]), reason(alone))


def reason(error: Exception) -> str:
    """Return what is wrong with one row."""
    return error.reasons[0] if isinstance(error, BadRowsError) else one_line(error)


def _known(score: Callable[[Rows], Any], rows: Rows, error: Exception) -> dict[int, str]:
    """Return the rows that an error names, if it is right about the first and the last of them."""
    if not isinstance(error, BadRowsError) or not error.rows or error.rows[-1] >= len(rows):
        return {}
    named = rows[list(error.rows)]
    if any(_error(score, named[[k]]) is None for k in {0, len(named) - 1}):
        return {}
    return dict(zip(named.tolist(), error.reasons, strict=True))


def _searched(score: Callable[[Rows], Any], rows: Rows, error: Exception) -> dict[int, str]:
    """Find bad rows by halving."""
    if len(rows) == 1:
        return {int(rows[0]): reason(error)}
    middle = len(rows) // 2
    found = divided(score, rows[:middle]).bad | divided(score, rows[middle:]).bad
    if not found:
        raise error
    return found


def _error(score: Callable[[Rows], Any], rows: Rows) -> Exception | None:
    try:
        score(rows)
    except _ROW_ERRORS as error:
        return error
    return None


def with_column(text: str, names: Sequence[str], cells: Sequence[Any]) -> str:
    """Name the column of a bad cell, if a library's message quotes the cell of one column only."""
    if any(repr(name) in text for name in names):
        return text
    quoted = [
        name
        for name, cell in zip(names, cells, strict=True)
        if isinstance(cell, str) and cell and repr(cell) in text
    ]
    return f"Column {quoted[0]!r}: {text}" if len(quoted) == 1 else text


# Bad rows of a file: where they are, and the side file with their cells.


@final
@dataclass(frozen=True)
class BadRowOptions:
    """What to do about bad rows, and how texts are written to CSV files.

    Attributes
    ----------
    on_error : {"stop", "skip", "quarantine"}
    raw_csv : bool
        Read and write texts as they are, also if a spreadsheet would run them as formulas.
    """

    on_error: OnError = "stop"
    raw_csv: bool = False


@final
@dataclass(frozen=True)
class BadRow:
    """A row of a file that cannot be scored.

    Attributes
    ----------
    row : int
        Its number in the file, from 0 on.
    named : str
        Its ids.
    reason : str
    """

    row: int
    named: str
    reason: str

    @property
    def text(self) -> str:
        """Where the row is, and what is wrong with it."""
        named = f" ({self.named})" if self.named else ""
        return f"row {self.row}{named}: {self.reason}"


def first_reason(path: Path, bad: Sequence[BadRow]) -> str:
    """Return where the first bad row is, and what is wrong with it; empty if there is none."""
    return f"{path}, {bad[0].text}" if bad else ""


def side_name(name: str, data: Path) -> str:
    """Return the name of the side file of some scores. It has the format of the data."""
    return f"{name}.quarantine.{format_of(data)}"


def write_bad_rows(out: Path, data: Path, bad: Sequence[BadRow], options: BadRowOptions) -> None:
    """Write bad rows with all their cells, as the file has them, and what is wrong with each.

    The file is read again: only now it is known which rows are wanted.
    """
    reasons = {one.row: one.reason for one in bad}
    with replacing(out) as file:
        if format_of(data) == "csv":
            _write_csv(file, data, reasons, options)
        else:
            _write_parquet(file, data, reasons)


def _added(data: Path, rows: Sequence[int], reasons: dict[int, str]) -> dict[str, list[Any]]:
    columns = ([str(data)] * len(rows), list(rows), [reasons[row] for row in rows])
    return dict(zip(SIDE_COLUMNS, columns, strict=True))


def _write_csv(file: Any, data: Path, reasons: dict[int, str], options: BadRowOptions) -> None:
    import pandas

    names = [name for name in column_names(data) if name not in SIDE_COLUMNS]
    if not options.raw_csv:
        check_names(names, data)
    as_text = {name: ColumnSchema("text") for name in names}
    header = True
    chunks = raw_chunks(data, as_text, names, _AT_A_TIME, raw_csv=options.raw_csv)
    for chunk in chunks:
        rows = [row for row in chunk.frame.index.tolist() if row in reasons]
        if not rows and not header:
            continue
        cells = chunk.beside().loc[rows]
        added = pandas.DataFrame(_added(data, rows, reasons), index=cells.index)
        table = pandas.concat([added, cells], axis=1)
        table = table if options.raw_csv else escaped(table)
        table.to_csv(file, mode="wb", index=False, header=header)
        header = False


def _write_parquet(file: Any, data: Path, reasons: dict[int, str]) -> None:
    import pyarrow
    from pyarrow import parquet

    with parquet.ParquetFile(data) as source:
        names = [name for name in source.schema_arrow.names if name not in SIDE_COLUMNS]
        kinds = (pyarrow.string(), pyarrow.int64(), pyarrow.string())
        first = [pyarrow.field(name, kind) for name, kind in zip(SIDE_COLUMNS, kinds, strict=True)]
        schema = pyarrow.schema([*first, *(source.schema_arrow.field(name) for name in names)])
        start = 0
        with parquet.ParquetWriter(file, schema) as writer:
            for group in range(source.num_row_groups):
                count = source.metadata.row_group(group).num_rows
                rows = [row for row in range(start, start + count) if row in reasons]
                if rows:
                    cells = source.read_row_group(group, columns=names)
                    cells = cells.take([row - start for row in rows])
                    added = pyarrow.table(_added(data, rows, reasons), schema=pyarrow.schema(first))
                    columns = [*added.columns, *cells.columns]
                    writer.write_table(pyarrow.Table.from_arrays(columns, schema=schema))
                start += count
