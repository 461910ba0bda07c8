"""The rows of a study as named columns of plain values, for the page and the terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shafer._checks.arrays import to_numpy
from shafer._checks.frames import frame_of
from shafer._checks.labels import component_names
from shafer._text import listed, shortened
from shafer._values import Value, plain, shown_value

Columns: TypeAlias = dict[str, list[Value]]

WIDEST_SPARSE = 200
"""A sparse matrix with more columns is summarised in one column."""
_LONGEST_TEXT = 200
_MOST_ENTRIES = 8  # of a sparse row, the largest


def columns_of(
    X: Any, names: Sequence[str] | None = None, components: Collection[str] = ()
) -> Columns:
    """Return the rows as columns; empty if rows are neither tables, texts nor mappings.

    Parameters
    ----------
    X : data frame, array, sparse matrix, or sequence of texts, rows or mappings
        The instances, as the model takes them.
    names : sequence of strings, optional
        Names of the columns of an array or a sparse matrix.
    components : collection of strings
        Names that a column made up here must not have, such as ``text`` for a list of texts.
    """
    if sparse.issparse(X):
        return _sparse_columns(X.tocsr(), names, components)
    frame = frame_of(X)
    if frame is not None:
        return {name: [plain(v) for v in frame[name].to_list()] for name in frame.columns}
    texts = texts_of(X)
    if texts is not None:
        return {_free("text", components): [shortened(text, _LONGEST_TEXT) for text in texts]}
    if _all_are(X, Mapping):
        keys = dict.fromkeys(str(key) for row in X for key in row)
        return {key: [plain(row.get(key)) for row in X] for key in keys}
    table = table_of(X)
    return {} if table is None else _table_columns(table, names)


def texts_of(X: Any) -> list[str] | None:
    """Return rows that are texts, or lists of words, as texts; None if they are something else."""
    series = nw.from_native(X, pass_through=True, series_only=True)
    rows = series.to_list() if isinstance(series, nw.Series) else X
    if isinstance(rows, np.ndarray) and rows.ndim == 1:
        rows = rows.tolist()
    if _all_are(rows, str):
        return list(rows)
    ragged = _all_are(rows, list | tuple) and len(set(map(len, rows))) > 1
    if ragged and all(_all_are(row, str) for row in rows if row):
        return [" ".join(row) for row in rows]
    return None


def table_of(X: Any) -> NDArray[Any] | None:
    """Return an array or a list of equally long rows as an array (n, J); None if it is neither."""
    if isinstance(X, tuple | Mapping):
        return None  # several inputs of one model
    try:
        table = to_numpy(X)
    except ValueError:  # rows of different lengths
        return None
    if isinstance(X, list) and table.dtype.kind in "US":
        table = np.asarray(X, dtype=object)  # NumPy turns numbers beside texts into texts
    return table if table.ndim == 2 else None


def _all_are(rows: Any, kind: Any) -> bool:
    sized = isinstance(rows, list | tuple) and len(rows) > 0
    return sized and all(isinstance(row, kind) for row in rows)


def _free(name: str, taken: Iterable[str]) -> str:
    while name in taken:
        name = f"{name} (input)"
    return name


def _table_columns(table: NDArray[Any], names: Sequence[str] | None) -> Columns:
    titles = component_names(names, table.shape[1])
    return {name: [plain(v) for v in table[:, j]] for j, name in enumerate(titles)}


def _sparse_columns(X: Any, names: Sequence[str] | None, components: Collection[str]) -> Columns:
    if X.shape[1] <= WIDEST_SPARSE:
        return _table_columns(X.toarray(), names)
    titles = component_names(names, X.shape[1])
    cells: list[Value] = [_entries(X[[i]], titles) for i in range(X.shape[0])]
    return {_free("non-zero inputs", components): cells}


def _entries(row: Any, titles: Sequence[str]) -> str:
    """Write the non-zero entries of one sparse row by name, the largest first."""
    held = [(j, v) for j, v in zip(row.indices.tolist(), row.data.tolist(), strict=True) if v]
    held.sort(key=lambda entry: (-abs(entry[1]), entry[0]))
    written = [f"{titles[j]} {shown_value(plain(value))}" for j, value in held]
    return listed(written, _MOST_ENTRIES, written=str) or "none"
