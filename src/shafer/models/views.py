"""What each source sees of X: its columns or its own input, and the rows where it is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from shafer._typing import BoolArray
from shafer.models.inputs import n_rows, values_of


def view_of(X: Any, name: str, columns: Any) -> Any:
    """Take a source's part of X: its columns, or the entry of its name; None if it has none."""
    view = X.get(name) if _has_views(X) else X
    if view is None or columns is None:
        return view
    return _safe_indexing(view, columns, axis=1)


def _has_views(X: Any) -> bool:
    return isinstance(X, Mapping) and not sparse.issparse(X)  # one kind of those is a mapping too


def rows_of(X: Any) -> int:
    """Count the rows of X, or of the first view that is there."""
    if _has_views(X):
        there = [view for view in X.values() if view is not None]
        if not there:
            raise ValueError("X must hold at least one view that is not None; got none.")
        counts = {n_rows(view) for view in there}
        if len(counts) > 1:
            raise ValueError(f"all views of X must have the same rows; got {sorted(counts)} rows.")
        return counts.pop()
    return n_rows(X)


def present_rows(view: Any, n: int, *, missing: str = "all") -> BoolArray:
    """Say for which of n rows a source has its input: not "all" of it, or not "any", is missing.

    Missing is NaN, or None in columns of objects.
    """
    if view is None:
        return np.zeros(n, dtype=bool)
    values = values_of(view)
    if sparse.issparse(values) or not hasattr(values, "shape") or len(values.shape) != 2:
        return np.ones(n, dtype=bool)
    array = np.asarray(values)
    if array.shape[1] == 0 or array.dtype.kind not in "fO":
        return np.ones(n, dtype=bool)
    if array.dtype.kind == "f":
        absent = np.isnan(array)
    else:
        absent = np.array([[v is None or v != v for v in row] for row in array], dtype=bool)
    present: BoolArray = ~(absent.any(axis=1) if missing == "any" else absent.all(axis=1))
    return present


def take(view: Any, rows: Any) -> Any:
    """Take rows of a view by position."""
    return _safe_indexing(view, rows)
