"""A few rows of the background in a saved file, so that a loaded explainer can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, final

import numpy as np

from shafer._checks.frames import frame_of
from shafer._files.codec import Limits
from shafer._typing import FloatArray
from shafer.rows.access import n_rows, take_rows
from shafer.rows.schema import InputSchema

FEW = 16
"""Rows that are kept: enough to see each branch of an encoder, few enough to be looked through."""
_MOST_COLUMNS = 1000
_EXACT = 2**53  # larger whole numbers are not told apart by floats


def first_rows(background: Any) -> Any:
    """Return the first rows of a background; None if it is no table of moderate width."""
    if background is None or not (frame_of(background) is not None or _is_array(background)):
        return None
    if background.shape[1] > _MOST_COLUMNS:
        return None
    return take_rows(background, list(range(min(FEW, n_rows(background)))))


def _is_array(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf"


@final
@dataclass(frozen=True, eq=False)
class FewRows:
    """Some rows as plain values.

    Attributes
    ----------
    columns : tuple of strings or None
        The names of the columns; None for an array.
    places : tuple of int
        The columns of ``numbers``.
    numbers : array of shape (n, q)
        The columns of numbers.
    others : dict
        Place as text -> the values of any other column.
    """

    columns: tuple[str, ...] | None
    places: tuple[int, ...]
    numbers: Annotated[FloatArray, "n q", Limits(nan=True, infinite=True)]
    others: dict[str, Any]

    def __post_init__(self) -> None:
        n, q = self.numbers.shape
        n_columns = q if self.columns is None else len(self.columns)
        found = sorted([*map(str, self.places), *self.others])
        if len(self.places) != q or found != sorted(map(str, range(n_columns))):
            raise ValueError(f"rows must hold each of {n_columns} columns once.")
        if any(not isinstance(v, list) or len(v) != n for v in self.others.values()):
            raise ValueError(f"rows must hold {n} values of each column.")

    @classmethod
    def of(cls, rows: Any) -> FewRows | None:
        """Describe rows; None if they hold values that are not plain."""
        frame = frame_of(rows)
        if frame is None:
            array = np.asarray(rows, dtype=np.float64)
            return cls(None, tuple(range(array.shape[1])), array, {})
        places, numbers, others = [], [], {}
        for j, name in enumerate(frame.columns):
            values = [_plain(value) for value in frame[name].to_list()]
            if any(not isinstance(value, str | bool | int | float | None) for value in values):
                return None
            if all(type(v) is float or (type(v) is int and abs(v) < _EXACT) for v in values):
                places.append(j)
                numbers.append(np.array(values, dtype=np.float64))
            else:
                others[str(j)] = values
        stacked = np.stack(numbers, axis=1) if numbers else np.empty((len(frame), 0))
        return cls(tuple(map(str, frame.columns)), tuple(places), stacked, others)

    def rows(self, schema: InputSchema | None) -> Any:
        """Return the rows as the model takes them."""
        if self.columns is None:
            return self.numbers
        import pandas

        cells: dict[int, Any] = {j: self.numbers[:, k] for k, j in enumerate(self.places)}
        cells |= {int(j): pandas.Series(v, dtype=object) for j, v in self.others.items()}
        frame = pandas.DataFrame({j: cells[j] for j in range(len(self.columns))})
        frame = frame.set_axis(list(self.columns), axis=1)
        return frame if schema is None else schema.conformed(frame)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
