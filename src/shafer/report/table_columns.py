"""The user's table as columns of plain values, and rows made from such columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np

Value: TypeAlias = float | str | None
"""What a cell holds: a number, a category, or nothing."""
Columns: TypeAlias = dict[str, list[Value]]


def plain(value: Any) -> Value:
    """Bring a cell to a number, a string or None."""
    if value is None:
        return None
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | float | np.integer | np.floating):
        number = float(value)
        if math.isinf(number):  # JSON has no such number
            return "∞" if number > 0 else "−∞"
        return None if math.isnan(number) else number
    text = str(value)
    # A text may be called nan; a value that prints so is missing.
    return None if not isinstance(value, str) and text in ("nan", "NaT", "<NA>") else text


def columns_of(X: Any, names: Sequence[str] | None = None) -> Columns:
    """Take an array or a data frame apart; ``names`` are for the columns of an array."""
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    if isinstance(frame, nw.DataFrame):
        return {str(name): [plain(v) for v in frame[name].to_list()] for name in frame.columns}
    array = np.asarray(X)
    titles = names or [f"x{j}" for j in range(array.shape[1])]
    return {name: [plain(v) for v in array[:, j]] for j, name in enumerate(titles)}


def rows_of(X: Any, rows: Sequence[int]) -> Any:
    """Return some rows of an array or a pandas frame, as often as they are named."""
    if isinstance(X, np.ndarray):
        return X[list(rows)]
    return X.iloc[list(rows)].reset_index(drop=True)


def repeated(X: Any, row: int, times: int) -> Any:
    """Return one row of an array or a pandas frame, many times over."""
    return rows_of(X, [row] * times)


def with_values(X: Any, changes: dict[int, list[tuple[int, Any]]]) -> Any:
    """Return a copy in which column j holds, for each (row, value) of ``changes[j]``, the value."""
    changed = X.copy()
    for j, cells in changes.items():
        if isinstance(changed, np.ndarray):
            for row, value in cells:
                changed[row, j] = value
            continue
        series = changed.iloc[:, j]
        values = series.tolist()
        for row, value in cells:
            values[row] = value
        changed = changed.assign(
            **{changed.columns[j]: type(series)(values, index=series.index, dtype=series.dtype)}
        )
    return changed
