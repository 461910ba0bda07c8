"""The ids of rows: columns that name the rows of a table, and never reach the model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._text import listed, shortened
from shafer.scale.tables import Table, chunks_beside, format_of

_BETWEEN = "/"
"""Joins the parts of an id that has several columns."""
_ROWS = 100_000  # read at a time


def check_columns(names: Sequence[str], present: Collection[str], where: Any, option: str) -> None:
    """Refuse columns that a table lacks."""
    for name in names:
        if name not in present:
            raise ValueError(
                f"{option} {name} cannot be used: {where} has no such column; it has "
                f"{listed(present)}."
            )


def check_not_inputs(names: Sequence[str], inputs: Collection[str]) -> None:
    """Refuse ids that the model was trained on."""
    for name in names:
        if name in inputs:
            raise ValueError(
                f"--id {name} cannot be used: the model was trained on this column. Use --keep "
                f"{name} to pass it on, or train the model without it."
            )


def table_ids(table: Table, names: Sequence[str]) -> Any:
    """Return the ids of the rows of a table as a pandas index of texts, as they are written.

    Raises
    ------
    ValueError
        If a column or an id is missing, or two rows have the same one.
    """
    import pandas

    check_columns(names, table.columns, table.path, "--id")
    found = _joined(table.cells[list(names)])
    _check_known(found, names, 0, table.path)
    first: dict[str, int] = {}
    for row, text in enumerate(found):
        if first.setdefault(text, row) != row:
            raise _repeated(names, text, first[text], row, table.path)
    return pandas.Index(found, dtype=object, name=_BETWEEN.join(names))


def row_of(text: str, ids: Any, path: Path, option: str = "--row") -> int:
    """Return the position of the row with an id."""
    places = np.flatnonzero(np.asarray(ids, dtype=object) == text)
    if not len(places):
        raise ValueError(
            f"{option} {text} is not an id of {path}: the column {ids.name!r} holds "
            f"{listed(shortened(str(name), 40) for name in ids)}."
        )
    return int(places[0])


def check_ids(files: Iterable[Path], names: Sequence[str]) -> None:
    """Refuse tables in which an id is missing or names two rows; they are read in chunks."""
    if not names:
        return
    found = [np.empty(0, dtype=np.uint64)]
    tables = list(files)
    for first, path, texts in _chunks(tables, names):
        _check_known(texts, names, first, path)
        found.append(_digests(texts))
    digests = np.sort(np.concatenate(found))
    twice = set(digests[1:][digests[1:] == digests[:-1]].tolist())
    if not twice:
        return
    seen: dict[str, int] = {}  # digests of different texts may be equal, so texts are compared
    for first, path, texts in _chunks(tables, names):
        for row in np.flatnonzero(np.isin(_digests(texts), list(twice))).tolist():
            text = texts[row]
            if text in seen:
                raise _repeated(names, text, seen[text], first + row, path)
            seen[text] = first + row


def _chunks(files: Sequence[Path], names: Sequence[str]) -> Iterator[tuple[int, Path, list[str]]]:
    """Give the ids of tables: the number of the first row, over all tables, and the texts."""
    first = 0
    for path in files:
        for _, beside in chunks_beside(path, {}, names, _ROWS):
            texts = _joined(beside)
            yield first, path, texts
            first += len(texts)


def _joined(columns: Any) -> list[str]:
    """Return the id of each row as a text; an empty one is missing."""
    parts = [[_text(value) for value in columns[name].tolist()] for name in columns]
    rows = zip(*parts, strict=True)
    return ["" if "" in row else _BETWEEN.join(row) for row in rows]


def _text(value: Any) -> str:
    if value is None or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _digests(texts: list[str]) -> NDArray[np.uint64]:
    import pandas

    return np.asarray(pandas.util.hash_array(np.array(texts, dtype=object), categorize=False))


def _check_known(texts: list[str], names: Sequence[str], first: int, path: Path) -> None:
    if "" in texts:
        raise ValueError(
            f"--id {_BETWEEN.join(names)} cannot be used: row {first + texts.index('')} of {path} "
            "has no id. Fill it in, or pass the column on with --keep."
        )


def _repeated(names: Sequence[str], text: str, one: int, other: int, path: Path) -> ValueError:
    return ValueError(
        f"--id {_BETWEEN.join(names)} cannot be used: rows {one} and {other} of {path} have the "
        f"same id {shortened(text, 60)!r}. Name columns that tell all rows apart (--id may be "
        "repeated), or pass the column on with --keep."
    )


def kept_types(files: Sequence[Path], names: Sequence[str]) -> dict[str, Any]:
    """Return the Arrow types of columns that are passed on; None stands for text.

    Raises
    ------
    ValueError
        If a column has different types in two Parquet files.
    """
    if not names or format_of(files[0]) == "csv":
        return dict.fromkeys(names)
    from pyarrow import parquet

    types: dict[str, Any] = {}
    for path in files:
        schema = parquet.read_schema(path)
        for name in names:
            own = schema.field(name).type
            if types.setdefault(name, own) != own:
                raise ValueError(
                    f"Column {name!r} of {path} holds {own}, and {types[name]} in {files[0]}. Give "
                    "it one type in all files."
                )
    return types
