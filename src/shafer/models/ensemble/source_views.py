"""The part of X that each source uses, and the rows where it is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing, assert_all_finite
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from shafer._text import listed
from shafer._typing import BoolArray
from shafer._validation import frame_columns, is_one_label, to_numpy
from shafer.models.inputs.nan_checks import gaps_in
from shafer.models.inputs.row_access import n_rows


def checked_rows(
    estimator: Any, X: Any, names: Sequence[str], y: Any = None
) -> tuple[Any, NDArray[Any] | None]:
    """Check X, and y in training, except for what the sources check themselves.

    The sources check NaN. Of a data frame only the column names are checked here.
    """
    labels = None if y is None else column_or_1d(y, warn=True)
    if labels is not None:
        assert_all_finite(labels, input_name="y")
    if _has_views(X):
        _check_views(X, names, labels)
    elif frame_columns(X) is not None:
        validate_data(estimator, X, reset=y is not None, skip_check_array=True)
    else:
        X = validate_data(
            estimator,
            X,
            reset=y is not None,
            accept_sparse="csr",
            ensure_all_finite="allow-nan",
            ensure_min_samples=1 if y is None else 2,
        )
    if labels is not None and not _has_views(X):
        check_consistent_length(X, labels)
    return X, labels


def _check_views(X: Mapping[str, Any], names: Sequence[str], labels: NDArray[Any] | None) -> None:
    unknown = [name for name in X if name not in names]
    if unknown:
        raise ValueError(
            f"X has inputs for unknown sources {unknown}; the sources are {list(names)}."
        )
    n = number_of_rows(X)
    if labels is not None and len(labels) != n:
        raise ValueError(f"y must have one label for each of the {n} rows of X; got {len(labels)}.")


def view_of(X: Any, name: str, columns: Any) -> Any:
    """Return a source's part of X: its columns, or the entry of its name; None if it is missing."""
    view = X.get(name) if _has_views(X) else X
    if view is None or columns is None:
        return view
    _check_columns(view, name, columns)
    return _safe_indexing(view, columns, axis=1)


def _check_columns(view: Any, name: str, columns: Any) -> None:
    """Raise an error for columns that X does not have; slices may go beyond its end."""
    if isinstance(columns, slice):
        return
    wanted = [columns] if is_one_label(columns) else list(columns)
    known = frame_columns(view)
    shape: tuple[int, ...] = getattr(view, "shape", ())
    if all(isinstance(column, str) for column in wanted):
        unknown = [column for column in wanted if known is None or column not in known]
        there = "no column names" if known is None else f"the columns {listed(known)}"
    elif len(shape) < 2 or any(isinstance(column, bool | np.bool_) for column in wanted):
        return
    else:
        unknown = [j for j in wanted if not -shape[1] <= j < shape[1]]
        there = f"{shape[1]} columns"
    if unknown:
        raise ValueError(
            f"Source {name!r} uses the columns {listed(unknown)}, but X has {there}. Change the "
            "columns of this source, or give X with these columns."
        )


def _has_views(X: Any) -> bool:
    return isinstance(X, Mapping) and not sparse.issparse(X)  # dok_matrix is a mapping, too


def number_of_rows(X: Any) -> int:
    """Return the number of rows of X, or of its views."""
    if _has_views(X):
        there = [view for view in X.values() if view is not None]
        if not there:
            raise ValueError(
                "X must hold the input of at least one source; got None for every source."
            )
        counts = {n_rows(view) for view in there}
        if len(counts) > 1:
            raise ValueError(
                f"All inputs in X must have the same number of rows; got {sorted(counts)}."
            )
        return counts.pop()
    return n_rows(X)


def present_rows(view: Any, n: int, *, absent_if: str = "all") -> BoolArray:
    """Return in which of n rows a source is present, boolean (n,).

    A source is absent if "all" of its inputs are missing, or if "any" is. Missing means NaN, or
    None in columns of objects.
    """
    if view is None:
        return np.zeros(n, dtype=bool)
    if sparse.issparse(view):
        return np.ones(n, dtype=bool)
    absent = _absent(view).reshape(n, -1)
    if absent.shape[1] == 0:
        return np.ones(n, dtype=bool)
    return np.logical_not(absent.any(axis=1) if absent_if == "any" else absent.all(axis=1))


def _absent(view: Any) -> BoolArray:
    """Return which entries are missing, in the shape of the view."""
    native = nw.from_native(view, pass_through=True, eager_only=True, allow_series=True)
    if isinstance(native, nw.Series):
        native = native.alias("input").to_frame()
    if isinstance(native, nw.DataFrame):
        return gaps_in(native.to_native())
    array = view if hasattr(view, "shape") else _entries(view)
    values = to_numpy(array)
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind != "O":
        return np.zeros(values.shape, dtype=bool)
    flat = [v is None or (isinstance(v, Real) and v != v) for v in values.ravel().tolist()]
    return np.array(flat, dtype=bool).reshape(values.shape)


def _entries(view: Any) -> NDArray[Any]:
    """Return a list of rows, or of single inputs such as texts, as an array of objects."""
    rows = list(view)
    try:
        return np.array(rows, dtype=object)
    except ValueError:  # rows of different lengths: each is one input
        entries = np.empty(len(rows), dtype=object)
        entries[:] = rows
        return entries


def rows_of_view(view: Any, rows: Any) -> Any:
    """Take rows of a view by position."""
    return _safe_indexing(view, rows)
