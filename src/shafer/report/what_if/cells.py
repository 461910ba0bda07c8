"""Copies of a study's rows in which some cells are changed, to ask the model about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from scipy import sparse

from shafer.report.table import WIDEST_SPARSE, table_of, texts_of

if TYPE_CHECKING:
    from shafer._values import Value


class NoSlidersError(ValueError):
    """The page cannot offer sliders for this model; the message gives the reason."""


def as_table(X: Any) -> Any:
    """Return X as a NumPy array, a sparse matrix or a pandas frame, whose cells can be changed.

    Raises
    ------
    NoSlidersError
        If the rows are something else, such as texts.
    """
    if sparse.issparse(X):
        if X.shape[1] > WIDEST_SPARSE:
            raise NoSlidersError(f"{X.shape[1]:,} sparse inputs are too many for the page")
        return X.tocsr()
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    if isinstance(frame, nw.DataFrame) and frame.implementation.is_pandas():
        return X
    if texts_of(X) is not None:
        raise NoSlidersError("the input of this model is text")
    if len(getattr(X, "shape", ())) > 2:
        raise NoSlidersError("the input of this model is images, or has other axes than columns")
    table = table_of(X) if isinstance(X, np.ndarray | list) else None
    if table is None:
        raise NoSlidersError("the rows are not a pandas table, a NumPy array or a list of rows")
    return table


def rows_of(table: Any, rows: Sequence[int]) -> Any:
    """Return some rows of a table; a row that is named twice comes twice."""
    if isinstance(table, np.ndarray) or sparse.issparse(table):
        return table[list(rows)]
    return table.iloc[list(rows)].reset_index(drop=True)


def stacked(first: Any, second: Any) -> Any:
    """Return the rows of two tables of one kind, one below the other.

    Raises
    ------
    NoSlidersError
        If they are of different kinds.
    """
    if sparse.issparse(first) and sparse.issparse(second):
        return sparse.vstack([first, second]).tocsr()
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return np.concatenate([first, second])
    if type(first) is not type(second) or isinstance(first, np.ndarray):
        raise NoSlidersError("the rows are another kind of table than the background")
    return nw.concat([nw.from_native(first), nw.from_native(second)]).to_native()


def repeated(table: Any, row: int, times: int) -> Any:
    """Return one row of a table, many times over."""
    return rows_of(table, [row] * times)


def native(table: Any, j: int, value: Value) -> Any:
    """Return a plain value as column j of the table holds it; a fraction stays one."""
    if value is None:
        return np.nan
    if isinstance(table, np.ndarray) or sparse.issparse(table):
        return value
    letter = getattr(table.dtypes.iloc[j], "kind", "O")
    if letter == "b":
        return value == "True"
    whole = letter in "iu" and isinstance(value, float) and value.is_integer()
    return int(value) if whole else value


def with_values(table: Any, changes: dict[int, list[tuple[int, Any]]]) -> Any:
    """Return a copy in which column j holds, for each (row, value) of ``changes[j]``, the value."""
    if sparse.issparse(table):
        return table.__class__(with_values(table.toarray(), changes))
    changed = table.copy()
    # Types of whole numbers hold neither gaps nor fractions.
    wider = {j for j, cells in changes.items() if any(isinstance(v, float) for _, v in cells)}
    if isinstance(changed, np.ndarray) and wider and changed.dtype.kind in _WITHOUT_GAPS:
        changed = changed.astype(np.float64)
    for j, cells in changes.items():
        if isinstance(changed, np.ndarray):
            for row, value in cells:
                changed[row, j] = value
            continue
        series = changed.iloc[:, j]
        values = series.tolist()
        for row, value in cells:
            values[row] = value
        # The explainer finds the category of each value again.
        dtype: Any = object if series.dtype.name == "category" else series.dtype
        if j in wider and getattr(dtype, "kind", "O") in _WITHOUT_GAPS:
            dtype = object if dtype.kind == "b" else np.dtype(np.float64)
        changed = changed.assign(
            **{changed.columns[j]: type(series)(values, index=series.index, dtype=dtype)}
        )
    return changed


_WITHOUT_GAPS = "biu"


def is_category(table: Any, j: int) -> bool:
    """Tell whether a column has a type of categories, so that its numbers are names."""
    return hasattr(table, "dtypes") and table.dtypes.iloc[j].name == "category"
