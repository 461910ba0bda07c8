"""``ReasonScale``: which quantity of a deferred row stands out among ordinary deferred rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer.models.deferring.row_measures import CLOSE_CALL, MEASURES

EXTREME = 0.9
"""A quantity stands out if it is above this share of the ordinary deferred rows."""

FEWEST_ROWS = 50
"""Where fewer calibration rows are deferred, the least sure ones stand in for them."""

ATYPICAL = 0.05
"""A row is unlike the training data only if its typicality, a p-value, is below this as well."""

_MOST_ROWS = 1000  # more tell no more about a percentile


@final
@dataclass(frozen=True, eq=False)
class ReasonScale:
    """Quantities of calibration rows that would be deferred, each sorted.

    They are the standard because every deferred row is unsure: compared with all rows, each would
    look fragile and ignorant.
    """

    sorted_measures: Mapping[str, FloatArray]

    @staticmethod
    def rows(scores: FloatArray, deferred: NDArray[np.bool_]) -> list[int]:
        """Return the positions of the calibration rows to measure."""
        order = np.lexsort((scores, ~deferred))  # deferred rows first, then the least sure
        n = max(int(deferred.sum()), min(len(scores), FEWEST_ROWS))
        chosen = np.linspace(0, n - 1, min(n, _MOST_ROWS)).round().astype(np.intp)
        return [int(row) for row in order[chosen]]

    @classmethod
    def of(cls, measures: Mapping[str, FloatArray]) -> Self:
        """Return the scale of the measured rows."""
        return cls({name: np.sort(values) for name, values in measures.items()})

    def reasons(self, measures: Mapping[str, FloatArray], n: int) -> NDArray[Any]:
        """Return the reason of each of n rows: the first quantity that stands out, or none.

        The order matters where several stand out. A row with few inputs is also atypical, and the
        large weights of an atypical row also disagree: the earlier reason explains the later one.
        """
        names = [name for name in MEASURES if name in measures and name in self.sorted_measures]
        standing = np.zeros((n, len(names)))
        for k, name in enumerate(names):
            standard = self.sorted_measures[name]
            # Of equal values half count as smaller: a measure that is the same everywhere is usual.
            low, high = (np.searchsorted(standard, measures[name], side) for side in _SIDES)
            standing[:, k] = 0.5 * (low + high) / len(standard)
            if name == "typicality":  # measured as minus the p-value
                standing[measures[name] < -ATYPICAL, k] = 0.0
        words = np.array([*(MEASURES[name] for name in names), CLOSE_CALL], dtype=object)
        extreme = np.column_stack([standing >= EXTREME, np.ones(n, dtype=bool)])
        return np.asarray(words[np.argmax(extreme, axis=1)])


_SIDES: tuple[Any, Any] = ("left", "right")
