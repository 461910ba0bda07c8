"""What is usual in each column of the background: the median and a range, or one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.frames import frame_of
from shafer._checks.labels import is_missing
from shafer._files.codec import Limits
from shafer._typing import FloatArray
from shafer._values import shown_value
from shafer.evidence.words import Usual

_MOST_COLUMNS = 1000
_MOST_ROWS = 20_000  # of a batch that are looked at, evenly spaced, and of all batches together
_TAIL = 0.1  # of the rows lie below the range, and as many above
_LEAST_SHARE = 0.05  # of a most frequent value; texts that are all different have none
_ANY = Limits(nan=True)


@final
@dataclass(frozen=True, eq=False)
class UsualValues:
    """What is usual in each of C columns, as arrays.

    Attributes
    ----------
    numbers : array of shape (C, 3)
        The 10 % quantile, the median and the 90 % quantile; NaN in columns without numbers.
    most : tuple of C strings
        The most frequent value of other columns; empty where there is none.
    share : array of shape (C,)
        Its share.
    """

    numbers: Annotated[FloatArray, "c 3", _ANY]
    most: Annotated[tuple[str, ...], "c"]
    share: Annotated[FloatArray, "c", _ANY]

    def of(self, position: int) -> Usual | None:
        """Return what is usual in one column; None if it is not known."""
        if not 0 <= position < len(self.most):
            return None
        low, middle, high = self.numbers[position].tolist()
        if self.most[position]:
            return Usual(most=self.most[position], share=float(self.share[position]))
        return None if np.isnan(middle) else Usual(low, middle, high)


@final
class ColumnSample:
    """Evenly spaced rows of the batches of the background, column by column; mergeable.

    Two samples are joined by weight: a row of a thinned batch counts for those between.
    """

    def __init__(self) -> None:
        self._columns: list[NDArray[Any]] | None = None
        self._weight: FloatArray = np.empty(0)
        self._is_known = True

    def take_in(self, batch: Any, sample_weight: Any = None) -> None:
        """Add the rows of a batch, a data frame or an array; others have no columns."""
        columns = _columns(batch)
        if columns is None or not columns:
            self._is_known = False
            return
        n = len(columns[0])
        weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        self._add(columns, weight)

    def merge(self, other: ColumnSample) -> Self:
        """Add the rows of another part."""
        self._is_known &= other._is_known
        if other._columns is not None:
            self._add(other._columns, other._weight)
        return self

    def _add(self, columns: list[NDArray[Any]], weight: FloatArray) -> None:
        own, total = self._columns, float(weight.sum())
        if own is not None and len(own) != len(columns):
            self._is_known = False
            return
        rows = np.unique(np.linspace(0, len(weight) - 1, _MOST_ROWS).astype(int))
        if len(weight) > _MOST_ROWS:
            columns, weight = [column[rows] for column in columns], weight[rows]
            weight = weight * (total / max(weight.sum(), 1e-300))
        if own is not None:
            pairs = zip(own, columns, strict=True)
            columns = [np.concatenate([np.asarray(a, dtype=_joint(a, b)), b]) for a, b in pairs]
            weight = np.concatenate([self._weight, weight])
        self._columns, self._weight = columns, weight
        if own is not None and len(weight) > 2 * _MOST_ROWS:
            self._columns, self._weight = None, np.empty(0)
            self._add(columns, weight)

    def usual(self) -> UsualValues | None:
        """Return what is usual in each column; None if the batches have no columns."""
        if not self._is_known or self._columns is None:
            return None
        found = [_usual(column, self._weight) for column in self._columns]
        numbers = np.array([[one.low, one.middle, one.high] for one in found])
        share = np.array([one.share for one in found])
        return UsualValues(numbers, tuple(one.most for one in found), share)


def _joint(first: NDArray[Any], second: NDArray[Any]) -> Any:
    """Return the type of two joined columns: numbers only where both are."""
    both = {first.dtype.kind, second.dtype.kind} <= set("iuf")
    return np.result_type(first, second) if both else object


def _columns(batch: Any) -> list[NDArray[Any]] | None:
    frame = frame_of(batch)
    if frame is not None:
        if frame.shape[1] > _MOST_COLUMNS:
            return None
        return [frame[name].to_numpy() for name in frame.columns]
    if not isinstance(batch, np.ndarray) or batch.ndim != 2 or batch.shape[1] > _MOST_COLUMNS:
        return None
    return list(batch.T) if batch.dtype.kind in "biufOU" else None


def _usual(column: NDArray[Any], weight: FloatArray) -> Usual:
    kind = column.dtype.kind
    if kind in "iuf":
        known = np.isfinite(column) & (weight > 0.0)
        values, weight = column[known].astype(np.float64), weight[known]
        if not len(values):
            return Usual()
        ends = float(values.min()), float(values.max())
        if ((values == ends[0]) | (values == ends[1])).all():  # one or two values
            share = float(weight[values == ends[0]].sum() / weight.sum())
            first = share >= 0.5
            return Usual(most=shown_value(ends[int(not first)]), share=max(share, 1.0 - share))
        low, middle, high = _quantiles(values, weight)
        return Usual(low, middle, high)
    if kind not in "bOU":
        return Usual()
    counts: dict[str, float] = {}
    for value, one in zip(column.tolist(), weight.tolist(), strict=True):
        if not is_missing(value):
            text = shown_value(float(value)) if type(value) in (int, float) else str(value)
            counts[text] = counts.get(text, 0.0) + one
    total = sum(counts.values())
    if not total > 0.0:
        return Usual()
    most = max(counts, key=lambda text: counts[text])
    share = counts[most] / total
    return Usual(most=most, share=share) if share >= _LEAST_SHARE and most else Usual()


def _quantiles(values: FloatArray, weight: FloatArray) -> list[float]:
    """Return the lower end, the median and the upper end of the usual range."""
    at = [_TAIL, 0.5, 1.0 - _TAIL]
    if (weight == weight[0]).all():
        return [float(value) for value in np.quantile(values, at)]
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    places = np.searchsorted(reached, np.array(at) * reached[-1])
    return [float(value) for value in values[order][np.minimum(places, len(values) - 1)]]
