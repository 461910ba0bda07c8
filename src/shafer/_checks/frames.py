"""Data frames of any library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
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
    frame = frame_of(value)
    return None if frame is None else tuple(frame.columns)


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
