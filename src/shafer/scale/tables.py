"""Tables on disk, whole or in chunks; a column is of the same kind in all chunks."""

from __future__ import annotations

import csv
import gzip
import importlib.util
import warnings
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from shafer._files.atomic import replacing
from shafer._terminal import writing
from shafer._text import listed
from shafer.rows.csv_cells import check_names, escaped, original
from shafer.rows.schema import GAP_WORDS, ColumnSchema, pandas_of_arrow

Kind: TypeAlias = Literal["number", "truth", "text"]
Kinds: TypeAlias = dict[str, Kind]
"""What each column of the whole table holds. A chunk alone may look different."""
Columns: TypeAlias = dict[str, ColumnSchema]
"""As what the columns of a table are read."""

SIDE_COLUMNS = ("error_file", "error_row", "error_reason")
"""What a side file of bad rows has before the columns of the data. No model takes them."""
_CSV, _PARQUET = (".csv", ".csv.gz"), (".parquet", ".pq")


def format_of(path: Path) -> Literal["csv", "parquet"]:
    """Return the format, by the ending of the name."""
    name = path.name.lower()
    if name.endswith(_CSV):
        return "csv"
    if name.endswith(_PARQUET):
        return "parquet"
    raise ValueError(f"A table must be a .csv, .csv.gz or .parquet file; got {path}.")


def _pandas(path: Path) -> Any:
    if path.is_dir():
        raise ValueError(f"{path} is a folder. Give a .csv, .csv.gz or .parquet file.")
    if not path.is_file():
        raise ValueError(f"{path} does not exist. Check the path.")
    if importlib.util.find_spec("pandas") is None:
        raise ValueError("Reading tables needs pandas; run: pip install pandas")
    if format_of(path) == "parquet" and importlib.util.find_spec("pyarrow") is None:
        raise ValueError("Reading Parquet files needs pyarrow; run: pip install pyarrow")
    import pandas

    return pandas


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Name the file in every error of its readers."""
    import pandas

    try:
        with warnings.catch_warnings():
            # Cells beyond the header: pandas would drop them, or take the first column for an
            # index and shift all others.
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            yield
    except pandas.errors.ParserWarning as error:
        raise ValueError(
            f"{path} cannot be read: its rows have more cells than its header has "
            "names. Cells must be separated by commas."
        ) from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} cannot be read: it is not UTF-8. Save it as UTF-8.") from error
    except EOFError as error:
        raise ValueError(f"{path} cannot be read: it ends too early. Copy it again.") from error
    except (ValueError, OSError, RuntimeError, csv.Error, zlib.error) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error


def _check_names(names: Any, path: Path) -> list[str]:
    """Return the column names; refuse names given twice and cells not separated by commas."""
    texts = [str(name) for name in names]
    other = next((mark for mark in ";\t|" if len(texts) == 1 and mark in texts[0]), None)
    if other is not None and format_of(path) == "csv":
        raise ValueError(f"{path} is separated by {other!r}. Save it with commas.")
    twice = next((name for name, count in Counter(texts).items() if count > 1), None)
    if twice is not None:
        raise ValueError(f"{path} has two columns named {twice!r}. Rename one of them.")
    return texts


def column_names(path: Path) -> list[str]:
    """Return the names of the columns; no row is read.

    A name that is given twice is refused: pandas would rename the columns of a CSV file.
    """
    _pandas(path)
    with _reading(path):
        if format_of(path) == "csv":
            names = [name for name in _csv_header(path) if name]
        else:
            from pyarrow import parquet

            names = parquet.read_schema(path).names
    return _check_names(names, path)


def _csv_header(path: Path) -> list[str]:
    """Return the first line with cells. pandas would need seconds for 100,000 of them."""
    opened: Any = gzip.open if path.name.lower().endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
        return next(filter(None, csv.reader(file)), [])


def _exact(pandas: Any) -> dict[str, Any]:
    """Return how pandas reads numbers without an error in the last digit."""
    older = tuple(map(int, pandas.__version__.split(".")[:2])) < (3, 1)
    return {"low_memory": False, **({"float_precision": "round_trip"} if older else {})}


_AS_WRITTEN: dict[str, Any] = {"dtype": str, "keep_default_na": False, "na_values": [""]}
"""How pandas reads every cell of a CSV file as a text; only an empty cell is missing."""


def _csv_chunks(path: Path, rows: int, **options: Any) -> Iterator[Any]:
    """Give a CSV file in frames of so many rows."""
    pandas = _pandas(path)
    with _reading(path):
        chunks = pandas.read_csv(path, chunksize=rows, index_col=False, **_exact(pandas), **options)
    with chunks:
        while True:
            with _reading(path):
                chunk = next(chunks, None)
            if chunk is None:
                return
            yield chunk


def _parquet_chunks(
    path: Path, rows: int, columns: list[str], row_groups: Sequence[int] | None
) -> Iterator[Any]:
    """Give some columns of a Parquet file in frames of so many rows."""
    from pyarrow import parquet

    with _reading(path):
        file = parquet.ParquetFile(path)
    with file:
        groups = None if row_groups is None else list(row_groups)
        start = sum(file.metadata.row_group(i).num_rows for i in range(min(groups or [0])))
        batches = file.iter_batches(batch_size=rows, columns=columns, row_groups=groups)
        while True:
            with _reading(path):
                batch = next(batches, None)
                if batch is None:
                    return
                frame = pandas_of_arrow(batch)[columns]
            frame.index = range(start, start + len(frame))
            start += len(frame)
            yield frame


def kinds_of(frame: Any) -> Kinds:
    """Return what each column of a pandas frame holds."""
    import pandas

    kinds: Kinds = {}
    for name, dtype in frame.dtypes.items():
        letter = getattr(dtype, "kind", "O")
        content = ""
        if letter == "O":  # whole numbers and truth values beside missing ones
            content = pandas.api.types.infer_dtype(frame[name], skipna=True)
        number, truth = letter in "iuf" or content == "integer", letter == "b"
        truth = truth or content == "boolean"
        kinds[str(name)] = "number" if number else "truth" if truth else "text"
    return kinds


def _kinds_of_cells(frame: Any, cells: Any) -> dict[str, Kind | None]:
    """Return what the columns of a CSV file hold; None for a column of empty cells.

    Parameters
    ----------
    frame : pandas frame
        As pandas guesses, for which words such as ``NA`` are missing values.
    cells : pandas frame
        The cells as they are written. A column of such words alone holds texts.
    """
    found: dict[str, Kind | None] = {}
    for name, kind in kinds_of(frame).items():
        found[name] = kind
        if kind != "text" and not frame[name].notna().any():
            found[name] = "text" if cells[name].notna().any() else None
    return found


def _wider(first: Kind | None, second: Kind | None) -> Kind | None:
    """Return what a column of two tables holds; None is a column without any value."""
    if first is None or second is None:
        return first or second
    return first if first == second else "text"


@final
@dataclass(frozen=True, eq=False)
class Table:
    """A whole table of a file.

    Attributes
    ----------
    path : Path
    cells : pandas frame
        The texts of a CSV file as they are written; the values of a Parquet file.
    columns : dict
        The columns and what they hold; None for a column without any value.
    frame : pandas frame
        The columns as they are read where nothing is known of them. In a column of texts only an
        empty cell is missing.
    """

    path: Path
    cells: Any
    columns: dict[str, Kind | None]
    frame: Any

    @property
    def kinds(self) -> Kinds:
        """What the columns hold; a column without any value reads as numbers."""
        return {name: kind or "number" for name, kind in self.columns.items()}

    def read(self, columns: Mapping[str, ColumnSchema]) -> Any:
        """Return columns as a model was trained on them, in a pandas frame."""
        return as_columns(self.cells, columns, written=format_of(self.path) == "csv")

    def __len__(self) -> int:
        return len(self.frame)


def read_table(path: Path) -> Table:
    """Read a whole table."""
    pandas = _pandas(path)
    column_names(path)
    is_csv = format_of(path) == "csv"
    with _reading(path):
        if is_csv:
            frame = pandas.read_csv(path, index_col=False, **_exact(pandas))
            cells = pandas.read_csv(path, index_col=False, **_AS_WRITTEN)
        else:
            from pyarrow import parquet

            frame = cells = pandas_of_arrow(parquet.read_table(path))
    if len(frame) == 0:
        raise ValueError(f"{path} has no rows.")
    frame.columns = _check_names(frame.columns, path)
    frame = frame.reset_index(drop=True)
    cells = cells.set_axis(frame.columns, axis=1).reset_index(drop=True)
    if not is_csv:
        present = frame.notna().any()
        kinds = {name: kind if present[name] else None for name, kind in kinds_of(frame).items()}
        return Table(path, cells, kinds, frame)
    kinds = _kinds_of_cells(frame, cells)
    texts = [name for name, kind in kinds.items() if kind == "text"]
    as_texts = {name: ColumnSchema("text").of_cells(cells[name], name) for name in texts}
    return Table(path, cells, kinds, frame.assign(**as_texts))


def read_texts(path: Path) -> Any:
    """Read a whole CSV file as texts, as they are written; an empty cell is an empty text."""
    pandas = _pandas(path)
    if format_of(path) != "csv":
        raise ValueError(f"{path} must be a .csv file.")
    column_names(path)
    with _reading(path):
        return pandas.read_csv(path, index_col=False, **_AS_WRITTEN).fillna("")


@final
@dataclass(frozen=True)
class Survey:
    """What a table holds.

    Attributes
    ----------
    columns : dict
        The columns and what they hold; None for a column without any value.
    rows : int
    group_rows : tuple of int, optional
        The rows of each row group of a Parquet file.
    """

    columns: dict[str, Kind | None]
    rows: int
    group_rows: tuple[int, ...] | None = None

    @property
    def kinds(self) -> Kinds:
        """What the columns hold; a column without any value reads as numbers."""
        return {name: kind or "number" for name, kind in self.columns.items()}

    @classmethod
    def joined(cls, surveys: Iterable[Survey]) -> Self:
        """Join the surveys of several tables. Only columns that all of them have are kept."""
        first, *others = surveys
        columns, rows = dict(first.columns), first.rows
        for other in others:
            rows += other.rows
            shared = [name for name in columns if name in other.columns]
            columns = {name: _wider(columns[name], other.columns[name]) for name in shared}
        return cls(columns, rows)


def surveyed(path: Path, rows: int) -> tuple[Path, Survey]:
    """Return a table with its survey."""
    return path, survey(path, rows)


def survey(path: Path, rows: int) -> Survey:
    """Read a table once, in chunks, and return what its columns hold and how many rows it has.

    Parameters
    ----------
    path : Path
    rows : int
        Rows of a chunk.
    """
    _pandas(path)
    if format_of(path) == "parquet":
        return _parquet_survey(path)
    column_names(path)
    kinds: dict[str, Kind | None] = {}
    count = 0
    for chunk in _csv_chunks(path, rows):
        _check_names(chunk.columns, path)
        count += len(chunk)
        present = chunk.notna().any().to_numpy()
        for (name, kind), some in zip(kinds_of(chunk).items(), present, strict=True):
            # A column without any value reads as numbers, whatever it holds elsewhere.
            kinds[name] = _wider(kinds.get(name), kind if some else None)
    return Survey(kinds, count)


def _parquet_survey(path: Path) -> Survey:
    from pyarrow import parquet, types

    with _reading(path), parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
        kinds: dict[str, Kind | None] = {**kinds_of(schema.empty_table().to_pandas())}
        groups = (file.metadata.row_group(i).num_rows for i in range(file.num_row_groups))
        rows = tuple(map(int, groups))
    _check_names(schema.names, path)
    nothing = [field.name for field in schema if types.is_null(field.type)]
    kinds |= dict.fromkeys((name for name in nothing if name in kinds), None)
    return Survey(kinds, sum(rows), rows)


def chunks_of(
    path: Path,
    columns: Mapping[str, ColumnSchema],
    rows: int,
    *,
    row_groups: Sequence[int] | None = None,
) -> Iterator[Any]:
    """Give a table in chunks: pandas frames of some columns, in their order.

    Parameters
    ----------
    path : Path
    columns : mapping
        The columns to read and what they held in training.
    rows : int
        Rows of a chunk.
    row_groups : sequence of int, optional
        Of a Parquet file; by default all.
    """
    for frame, _ in chunks_beside(path, columns, (), rows, row_groups=row_groups):
        yield frame


def chunks_beside(
    path: Path,
    columns: Mapping[str, ColumnSchema],
    beside: Sequence[str],
    rows: int,
    *,
    row_groups: Sequence[int] | None = None,
) -> Iterator[tuple[Any, Any]]:
    """Give a table in chunks: a frame as in :func:`chunks_of`, and one of other columns.

    Parameters
    ----------
    path, columns, rows, row_groups
        As in :func:`chunks_of`.
    beside : sequence of strings
        Columns that are passed on as the file has them: texts as they are written in a CSV file,
        the values of a Parquet file. They may be among ``columns``.
    """
    for chunk in raw_chunks(path, columns, beside, rows, row_groups=row_groups):
        yield chunk.read(), chunk.beside()


@final
@dataclass(frozen=True, eq=False)
class RawChunk:
    """Some rows of a table before their cells are read as what the model takes.

    Attributes
    ----------
    frame : pandas frame
        Its index are the numbers of the rows in their file.
    columns : mapping
        The columns to read and what they held in training.
    passed_on : tuple of strings
        Columns that are passed on.
    written : bool
        The frame holds the texts of a CSV file.
    raw_csv : bool
        Keep every apostrophe before a formula.
    """

    frame: Any
    columns: Mapping[str, ColumnSchema]
    passed_on: tuple[str, ...]
    written: bool
    raw_csv: bool = False

    def __len__(self) -> int:
        return len(self.frame)

    def rows(self, positions: Any) -> RawChunk:
        """Return some of the rows."""
        if len(positions) == len(self.frame):
            return self
        return replace(self, frame=self.frame.iloc[positions])

    def read(self) -> Any:
        """Return the columns as the model was trained on them; a cell that does not fit raises."""
        return as_columns(self.frame, self.columns, written=self.written, raw_csv=self.raw_csv)

    def beside(self) -> Any:
        """Return the columns that are passed on, as the file has them."""
        chosen = self.frame[list(self.passed_on)]
        if not self.written:
            return chosen
        chosen = chosen.fillna("")
        return chosen if self.raw_csv else original(chosen, self.passed_on)


def raw_chunks(
    path: Path,
    columns: Mapping[str, ColumnSchema],
    beside: Sequence[str],
    rows: int,
    *,
    row_groups: Sequence[int] | None = None,
    raw_csv: bool = False,
) -> Iterator[RawChunk]:
    """Give a table in chunks, whose cells are not read yet.

    Parameters
    ----------
    path, columns, beside, rows, row_groups
        As in :func:`chunks_beside`.
    raw_csv : bool
        Keep the apostrophe that texts have in a CSV file if they would start a formula.
    """
    _pandas(path)
    read = list(dict.fromkeys((*columns, *beside)))
    if format_of(path) == "parquet":
        for frame in _parquet_chunks(path, rows, read, row_groups):
            yield RawChunk(frame, columns, tuple(beside), written=False)
        return
    as_text = [n for n in read if n in beside or columns[n].is_read_as_text]
    words = {name: [""] if name in as_text else GAP_WORDS for name in read}
    options = {"dtype": dict.fromkeys(as_text, str), "usecols": read, "keep_default_na": False}
    for frame in _csv_chunks(path, rows, na_values=words, **options):
        yield RawChunk(frame, columns, tuple(beside), written=True, raw_csv=raw_csv)


def as_columns(
    frame: Any,
    columns: Mapping[str, ColumnSchema],
    *,
    written: bool = False,
    raw_csv: bool = False,
) -> Any:
    """Return the columns of a frame as a model was trained on them.

    Parameters
    ----------
    frame : pandas frame
    columns : mapping
        The columns to keep and what they held in training.
    written : bool
        The frame holds the texts of a CSV file.
    raw_csv : bool
        Keep every apostrophe before a formula.

    Raises
    ------
    ValueError
        If a cell does not fit; the row and the column are named.
    """
    import pandas

    kinds = frame.dtypes
    plain = [name for name, column in columns.items() if column.kind == "number"]
    plain = [name for name in plain if getattr(kinds[name], "kind", "O") in "iuf"]
    floats = frame[plain].astype(float)  # all at once: there may be many
    narrow = {
        name: column.precision
        for name, column in columns.items()
        if column.precision != "float64" and (written or str(kinds[name]) == column.precision)
    }
    if len(plain) == len(columns):
        return _narrowed(floats, narrow)
    found = {}
    for name, column in columns.items():
        if name in floats:
            found[name] = floats[name]
        elif written:
            found[name] = column.of_cells(frame[name], name, raw_csv=raw_csv)
        else:
            found[name] = column.of_values(frame[name], name)
        if column.kind == "number" and found[name].dtype.kind == "b":
            found[name] = found[name].astype(float)
    return _narrowed(pandas.DataFrame(found, index=frame.index), narrow)


def _narrowed(frame: Any, precision: Mapping[str, str]) -> Any:
    """Return columns of numbers with the digits that training had: "0.1" has others in float32."""
    if not precision:
        return frame
    alike = len(precision) == frame.shape[1] and len(set(precision.values())) == 1
    with np.errstate(over="ignore"):  # infinity is found where rows are checked
        return frame.astype(next(iter(precision.values())) if alike else dict(precision))


# Tables written at once: a CSV or Parquet file that appears when it is complete.


def check_output(out: Path, inputs: Iterable[Path | None]) -> None:
    """Refuse a file that cannot be written, or that is one of the inputs.

    Parameters
    ----------
    out : Path
    inputs : iterable of paths
        The files that are read; None where there is no such file.
    """
    if format_of(out) == "parquet" and importlib.util.find_spec("pyarrow") is None:
        raise ValueError("Writing Parquet files needs pyarrow; run: pip install pyarrow")
    read = [path for path in inputs if path is not None]
    if any(path.exists() and out.exists() and path.samefile(out) for path in read):
        raise ValueError(f"--out must be another file than the data; got {out}.")


def write_table(frame: Any, out: Path) -> None:
    """Write a pandas frame. If something fails, no file is left behind.

    Texts that would start a formula in a spreadsheet get an apostrophe in a CSV file.
    """
    if format_of(out) == "csv":
        check_names(frame.columns, out)
        frame = escaped(frame)
    with writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        with replacing(out) as file:
            if format_of(out) == "parquet":
                frame.to_parquet(file, index=False)
            else:
                packed = "gzip" if out.name.lower().endswith(".gz") else None
                frame.to_csv(file, mode="wb", index=False, compression=packed)


# The class labels in a table: the target column, and its labels as a model writes them.

_LARGEST_WHOLE = 2.0**53  # larger whole numbers are not told apart by floats


def read_labels(table: Table, target: str) -> NDArray[Any]:
    """Return the target column of a table, checked to hold classes."""
    frame, path = table.frame, table.path
    if target not in frame.columns:
        raise ValueError(
            f"{path} has no column {target!r}; it has {listed(map(str, frame.columns))}."
        )
    column = frame[target]
    missing = int(column.isna().sum())
    if missing:
        first = int(column.isna().to_numpy().argmax())
        raise ValueError(
            f"The target {target!r} has {missing} missing value(s), the first in row {first} of "
            f"{path}. Remove those rows."
        )
    values = np.asarray(column)
    if values.dtype == object and isinstance(values[0], bool | int):  # of a Parquet file
        values = np.array(values.tolist())
    if values.dtype.kind == "f":
        broken = values[(values != np.round(values)) | (np.abs(values) > _LARGEST_WHOLE)]
        if len(broken):
            raise ValueError(
                f"The target {target!r} holds numbers such as {broken[0]}, not classes. "
                "Divide the numbers into classes first, for instance with pandas.cut."
            )
        values = values.astype(np.int64)
    return values if values.dtype.kind in "iub" else values.astype(str)


def _written(label: Any) -> str:
    """Write a label as a table would; 0, 0.0 and "0" are the same class."""
    whole = isinstance(label, float) and label.is_integer()
    return str(int(label)) if whole else str(label)


def known_labels(labels: NDArray[Any], classes: NDArray[Any], target: str) -> NDArray[Any]:
    """Return the labels of a table as the model writes them; 0, 0.0 and "0" are one class."""
    places = {_written(label): k for k, label in enumerate(classes.tolist())}
    written = [_written(label) for label in labels.tolist()]
    unknown = sorted(set(written) - set(places))
    if unknown:
        raise ValueError(
            f"The target {target!r} holds {listed(unknown)}, which the model does not know; "
            f"its classes are {listed(places)}. Use the labels of the training data."
        )
    return np.asarray(classes[[places[label] for label in written]])


def label_named(text: str, classes: NDArray[Any], option: str) -> Any:
    """Return the class that a user named on the command line; "1" names 1, 1.0 and "1"."""
    places = {_written(label): k for k, label in enumerate(classes.tolist())}
    if text not in places:
        raise ValueError(
            f"{option} names {text!r}, which the model does not know; its classes are "
            f"{listed(places)}. Use one of them."
        )
    return classes.tolist()[places[text]]


# Columns that look like the names or numbers of the rows themselves.

_FEWEST_ROWS = 30  # below, values of any column may all differ
_DIFFERENT = 0.99


def identifier_columns(frame: Any) -> list[str]:
    """Return the columns of whole numbers or texts with a different value in nearly each row.

    Parameters
    ----------
    frame : pandas frame
        As it was read.
    """
    if len(frame) < _FEWEST_ROWS:
        return []
    kinds = {name: getattr(dtype, "kind", "O") for name, dtype in frame.dtypes.items()}
    return [
        str(name)
        for name, kind in kinds.items()
        if kind not in "bf" and frame[name].nunique() >= _DIFFERENT * len(frame)
    ]
