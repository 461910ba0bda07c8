"""Data frames of any library."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError


def frame_of(value: Any) -> nw.DataFrame[Any] | None:
    """Return a data frame of any library, with distinct strings as column names; else None."""
    of_torch = type(value).__module__ == "torch"
    if value is None or of_torch or isinstance(value, np.ndarray):  # narwhals takes longer
        return None
    try:
        frame = nw.from_native(value, pass_through=True, eager_only=True)
    except DuplicateError:
        return _renamed(value)
    if not isinstance(frame, nw.DataFrame):
        return None
    return frame if all(isinstance(name, str) for name in frame.columns) else _renamed(value)


def _renamed(frame: Any) -> nw.DataFrame[Any]:
    """Return the frame with distinct strings as column names."""
    if nw.dependencies.is_pandas_like_dataframe(frame):
        renamed = frame.set_axis(numbered([str(name) for name in frame.columns]), axis=1)
    else:  # an Arrow table
        renamed = frame.rename_columns(numbered(frame.column_names))
    distinct: nw.DataFrame[Any] = nw.from_native(renamed, eager_only=True)
    return distinct


def frame_columns(value: Any) -> tuple[str, ...] | None:
    """Return the column names of a data frame of any library as distinct strings, else None."""
    names = pandas_columns(value)
    if names is not None:
        return names
    frame = frame_of(value)
    return None if frame is None else tuple(frame.columns)


def pandas_columns(value: Any) -> tuple[str, ...] | None:
    """Return the column names of a pandas frame if they are distinct strings, else None.

    A single row is asked about often, and narwhals takes longer.
    """
    pandas = sys.modules.get("pandas")
    if pandas is None or type(value) is not pandas.DataFrame:
        return None
    names = tuple(value.columns.tolist())
    plain = all(type(name) is str for name in names) and len(set(names)) == len(names)
    return names if plain else None


# What belongs to rows, such as their classes, in the order of the rows.


def in_row_order(values: Any, X: Any, name: str = "y", of: str = "X") -> Any:
    """Return what belongs to rows in the order of the rows, by the labels of pandas objects.

    Parameters
    ----------
    values : array, Series, data frame or list, one for each row; or None
    X : the rows
        A mapping of several inputs is read by the first of them.
    name, of : str
        What errors call both.

    Returns
    -------
    the same, sorted if both have the same row labels in another order

    Raises
    ------
    ValueError
        If the labels differ. They are never paired by position: one of the two may have been
        shuffled or filtered.
    """
    first = next(iter(X.values()), None) if isinstance(X, Mapping) else X
    index, own = _row_labels(first), _row_labels(values)
    if index is None or own is None or len(index) != len(own) or own.equals(index):
        return values
    same_order = f"Pass {name}.to_numpy() if the rows are in the same order"
    if not index.is_unique or not own.is_unique or len(own.difference(index, sort=False)):
        at = next(i for i in range(len(own)) if own[i] != index[i])
        raise ValueError(
            f"{name} and {of} have different row labels: row {at} is {own[at]!r} in {name} and "
            f"{index[at]!r} in {of}. Give both the same index. {same_order}."
        )
    if _counts_up(own) or _counts_up(index):
        counting, other = (name, of) if _counts_up(own) else (of, name)
        raise ValueError(
            f"The row labels of {counting} are 0, 1, 2, ..., and {other} has the same in another "
            f"order, so that either may have been shuffled. {same_order}, or {name}.loc[{of}.index]"
            " if the labels are right."
        )
    return values.loc[index]


def _row_labels(value: Any) -> Any:
    """Return the index of a pandas object, None for anything else."""
    return value.index if hasattr(value, "iloc") else None


def _counts_up(index: Any) -> bool:
    """Return whether labels are 0, 1, 2, ..., as if there had been none."""
    return index.dtype.kind in "iu" and np.array_equal(index, np.arange(len(index)))


# Equal names, told apart by numbers.


def numbered(names: Sequence[str]) -> list[str]:
    """Return the names with a number after each name that occurs more than once."""
    counts = Counter(names)
    taken = {name for name in names if counts[name] == 1}
    used: Counter[str] = Counter()
    result = []
    for name in names:
        own = name
        while counts[name] > 1 and (own == name or own in taken):
            used[name] += 1
            own = f"{name} ({used[name]})"
        taken.add(own)
        result.append(own)
    return result
