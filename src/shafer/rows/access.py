"""Rows of the user's X, whatever holds them: how many there are, and some of them."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import array_api_compat
import narwhals as nw
import numpy as np
from scipy import sparse

from shafer._checks.frames import frame_of
from shafer.evidence.mass_evidence import MassEvidence


def values_of(X: Any) -> Any:
    """Return the values of a data frame as an array; anything else as it is."""
    frame = frame_of(X)
    return X if frame is None else frame.to_numpy()


def by_position(X: Any) -> Any:
    """Return the values of a data frame with duplicate column names; anything else as it is.

    scikit-learn refuses such frames, but a model that was trained on an array reads by position.
    """
    columns = X.columns if hasattr(X, "iloc") and hasattr(X, "columns") else None
    return X if columns is None or columns.is_unique else X.to_numpy()


def n_rows(X: Any) -> int:
    """Count the rows of an array, a frame, a sparse matrix, a list, or several inputs of them."""
    if hasattr(X, "shape"):  # before all else: one kind of sparse matrix is a mapping as well
        if len(X.shape) == 0:
            raise ValueError(f"X must hold rows; got a single value, {X!r}.")
        return int(X.shape[0])
    if isinstance(X, Mapping):
        return _same_length(X)
    return _same_length(dict(enumerate(X))) if is_several_inputs(X) else len(_rows(X))


def take_rows(X: Any, rows: slice | list[int]) -> Any:
    """Return rows of X, by position; tuples and mappings hold one array for each input."""
    if array_api_compat.is_torch_array(X):
        return X if isinstance(rows, slice) and rows == slice(0, len(X)) else X[rows]
    if sparse.issparse(X):
        return X.tocsr()[rows]
    if isinstance(X, Mapping):
        return {name: take_rows(part, rows) for name, part in X.items()}
    if is_several_inputs(X):
        return tuple(take_rows(part, rows) for part in X)
    if hasattr(X, "iloc"):  # pandas, whose rows may have any labels
        return X.iloc[rows]
    if nw.dependencies.is_pyarrow_table(X):  # which takes one position or one name
        return nw.from_native(X, eager_only=True)[rows].to_native()
    values = _rows(X)
    if isinstance(rows, list) and isinstance(values, list | tuple):
        return [values[row] for row in rows]
    return values[rows]


def is_several_inputs(X: Any) -> bool:
    """Tell a tuple of inputs, each with all rows, from a tuple of rows."""
    if not isinstance(X, tuple) or not all(hasattr(part, "shape") for part in X):
        return False
    return any(len(part.shape) > 1 or array_api_compat.is_torch_array(part) for part in X)


def _same_length(inputs: Mapping[Any, Any]) -> int:
    lengths = {name: n_rows(part) for name, part in inputs.items()}
    if len(set(lengths.values())) != 1:
        found = ", ".join(f"{length} in {name!r}" for name, length in list(lengths.items())[:8])
        raise ValueError(f"All inputs must have the same number of rows; got {found or 'none'}.")
    return next(iter(lengths.values()))


def _rows(X: Any) -> Any:
    """Return X in a form whose rows can be taken by position, an array if need be."""
    if hasattr(X, "__getitem__") and hasattr(X, "__len__"):
        return X
    array = np.asarray(X)
    if array.ndim == 0:  # such as a DMatrix or a Pool, whose rows cannot be taken
        raise ValueError(
            f"X must hold rows, in an array, a data frame or a sparse matrix; got "
            f"{type(X).__name__}. Pass the data that it was made from, such as the array behind a "
            "DMatrix."
        )
    return array


# The row labels of the user's X: the index of a pandas frame or series.

_Evidence = TypeVar("_Evidence", bound=MassEvidence)


def with_row_labels(ev: _Evidence, X: Any, steps: int | None = None) -> _Evidence:
    """Give evidence the index of the pandas frame that it was computed from.

    With several steps for each row, a label is the row and the step.
    """
    if steps is not None:
        labels = X.index if hasattr(X, "iloc") else range(len(ev) // steps)
        return ev.with_index(_of_steps(labels, steps))
    return ev.with_index(X.index) if hasattr(X, "iloc") else ev


def _of_steps(labels: Iterable[Any], steps: int) -> Any:
    """Return a label for each step of each row: a pandas index, or pairs without pandas."""
    try:
        pandas = importlib.import_module("pandas")
    except ModuleNotFoundError:
        return [(label, step) for label in labels for step in range(steps)]
    return pandas.MultiIndex.from_product([labels, range(steps)], names=["row", "step"])
