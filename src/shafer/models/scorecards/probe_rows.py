"""Rows that differ in one column only, to ask a model what that column adds."""

from __future__ import annotations

from typing import Any

import array_api_compat
import narwhals as nw
import numpy as np

from shafer._validation import frame_columns, to_numpy
from shafer.models.inputs.row_access import take_rows


def column_position(X: Any, name: str, j: int) -> int:
    """Return the position in X of a column of the model: by its name in a frame, else j."""
    columns = frame_columns(X)
    return columns.index(name) if columns is not None and name in columns else j


def column_values(X: Any, position: int) -> list[Any]:
    """Return the values of a column, by position."""
    if hasattr(X, "iloc"):
        return list(X.iloc[:, position])
    if frame_columns(X) is not None:
        return list(nw.from_native(X, eager_only=True)[:, position].to_list())
    array = to_numpy(X) if array_api_compat.is_array_api_obj(X) else np.asarray(X)
    return list(array[:, position].tolist())


def probe_rows(X: Any, position: int, values: list[Any]) -> Any:
    """Repeat the first row of X, with another value in one column of each copy."""
    if hasattr(X, "iloc"):  # pandas, whose columns have types of their own
        rows = take_rows(X, [0] * len(values)).copy()
        rows.isetitem(position, values)
        return rows
    if frame_columns(X) is not None:
        frame = nw.from_native(take_rows(X, [0] * len(values)), eager_only=True)
        name = frame.columns[position]
        column = nw.new_series(name, values, backend=frame.implementation)
        return frame.with_columns(column).to_native()
    if array_api_compat.is_array_api_obj(X) and not isinstance(X, np.ndarray):
        xp = array_api_compat.array_namespace(X)
        changed = _changed(to_numpy(X[:1, ...]), position, values)
        return xp.asarray(changed, dtype=X.dtype, device=X.device)
    return _changed(np.asarray(take_rows(X, [0])), position, values)


def _changed(row: Any, position: int, values: list[Any]) -> Any:
    rows = np.repeat(row, len(values), axis=0)
    column = np.asarray(values, dtype=object if rows.dtype == object else None)
    rows = rows.astype(np.result_type(rows.dtype, column.dtype))
    rows[:, position] = column
    return rows
