"""``ValueDecoder``: from the features of an input back to a value as the user writes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray

_MOST_VALUES = 512  # of a table; a straight line needs two


@final
@dataclass(frozen=True, eq=False)
class ValueDecoder:
    """Values of an input over the background, beside the features that they become.

    Attributes
    ----------
    values : array of shape (V,)
        Numbers or text.
    encoded : array of shape (V, B)
        Their features. A single feature is sorted, and no two rows are equal.
    """

    values: NDArray[Any]
    encoded: FloatArray

    @classmethod
    def fit(cls, column: Any, features: FloatArray) -> ValueDecoder:
        """Keep some of the values (n,) and their features (n, B)."""
        raw = np.asarray(column)
        present = np.array([value is not None and value == value for value in raw.tolist()])
        if not present.any():
            return cls(np.zeros(1), features[:1])
        raw, features = raw[present], features[present]
        numeric = raw.dtype.kind in "biuf" or _all_numbers(raw)
        raw = raw.astype(np.float64) if numeric else np.array([str(value) for value in raw])
        encoded, first = np.unique(features, axis=0, return_index=True)
        if numeric and features.shape[1] == 1 and _is_straight(encoded[:, 0], raw[first]):
            ends = [0, -1] if len(first) > 1 else [0]
            return cls(raw[first][ends], encoded[ends])
        if len(first) > _MOST_VALUES:
            kept = np.unique(np.linspace(0, len(first) - 1, _MOST_VALUES).astype(np.intp))
            encoded, first = encoded[kept], first[kept]
        return cls(raw[first], encoded)

    @property
    def is_number(self) -> bool:
        """Whether the values are numbers."""
        return self.values.dtype.kind == "f"

    def decoded(self, features: FloatArray) -> NDArray[Any]:
        """Return the value (n,) that is nearest to features (n, B); numbers are interpolated."""
        if len(self.values) == 1:
            return np.repeat(self.values, len(features))
        if self.is_number and self.encoded.shape[1] == 1:
            return self._interpolated(features[:, 0])
        # With one more coordinate, the category without an indicator is as far as the others.
        known, asked = _completed(self.encoded), _completed(features)
        distance = (known**2).sum(axis=1) - 2.0 * asked @ known.T
        return np.asarray(self.values[np.argmin(distance, axis=1)])

    def _interpolated(self, feature: FloatArray) -> NDArray[Any]:
        x, y = self.encoded[:, 0], self.values
        above = np.clip(np.searchsorted(x, feature), 1, len(x) - 1)
        slope = (y[above] - y[above - 1]) / (x[above] - x[above - 1])
        return np.asarray(y[above - 1] + slope * (feature - x[above - 1]))


def _completed(encoded: FloatArray) -> FloatArray:
    return np.column_stack([encoded, 1.0 - encoded.sum(axis=1)])


def _all_numbers(raw: NDArray[Any]) -> bool:
    return all(isinstance(value, int | float | np.number) for value in raw.tolist())


def _is_straight(x: FloatArray, y: FloatArray) -> bool:
    """Return whether the points lie on a line, up to rounding."""
    if len(x) < 3:
        return True
    line = y[0] + (y[-1] - y[0]) * (x - x[0]) / (x[-1] - x[0])
    return bool(np.abs(line - y).max() <= 1e-9 * max(1.0, float(np.abs(y).max())))
