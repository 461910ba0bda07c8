"""A table of sets against classes, small enough to draw: rare sets and classes are pooled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shafer._text import shortened
from shafer._typing import BoolArray, FloatArray
from shafer.metrics.confusion import in_per_cent
from shafer.plots.drawing.set_names import set_name
from shafer.plots.drawing.style import literal

_LONGEST_NAME = 28  # characters


class PooledTable(NamedTuple):
    """Sets are rows and classes columns, as they are drawn."""

    values: FloatArray  # (R, C), normalised
    held: FloatArray  # (R, C), the share of a cell whose sets hold the true class
    sets: tuple[str, ...]  # R names
    classes: tuple[str, ...]  # C names
    kept: tuple[int, int]  # rows and columns that are not pooled

    @property
    def largest(self) -> float:
        """The largest value that is not pooled, or of all where that is zero."""
        own = float(self.values[: self.kept[0], : self.kept[1]].max())
        return own if own > 0 else float(self.values.max())


def pooled_table(
    counts: NDArray[Any],
    sets: BoolArray,
    classes: NDArray[Any],
    normalize: str | None,
    most: tuple[int, int],
) -> PooledTable:
    """Pool sets and classes beyond the most frequent ones, then normalise.

    Parameters
    ----------
    counts : array of shape (K, S)
    sets : boolean array of shape (S, K)
    classes : array of shape (K,)
    normalize : {"all", "true", "pred", None}
    most : pair of int
        Rows and columns at most.
    """
    amount = np.asarray(counts, dtype=np.float64).T  # (S, K)
    rows = _kept(amount.sum(axis=1), most[0])
    columns = _kept(amount[rows].sum(axis=0), most[1])  # the classes the shown sets are about
    names = [shortened(_name(sets[s], classes), _LONGEST_NAME) for s in rows]
    labels = [literal(shortened(str(classes.tolist()[k]), _LONGEST_NAME)) for k in columns]
    # Sets that were never decided do not count as other sets.
    shown, decided = (np.count_nonzero(part.sum(axis=1)) for part in (amount[rows], amount))
    other_sets = int(decided - shown)
    other_classes = len(classes) - len(columns)
    names += _others(other_sets, "set", "sets")
    labels += _others(other_classes, "class", "classes")

    def pool(cells: FloatArray) -> FloatArray:
        return _pool(_pool(cells, rows, 0, other_sets > 0), columns, 1, other_classes > 0)

    total = pool(amount)
    held = pool(amount * sets) / np.where(total > 0, total, 1.0)
    values = in_per_cent(total.T, normalize).T
    return PooledTable(values, held, tuple(names), tuple(labels), (len(rows), len(columns)))


def _kept(amount: FloatArray, most: int) -> NDArray[np.intp]:
    """Return the positions of the most frequent, in their own order, leaving room for the rest."""
    if len(amount) <= most:
        return np.arange(len(amount))
    return np.sort(np.argsort(-amount, kind="stable")[: most - 1])


def _pool(amount: FloatArray, kept: NDArray[np.intp], axis: int, rest: bool) -> FloatArray:
    shown = np.take(amount, kept, axis=axis)
    if not rest:
        return shown
    others = np.delete(amount, kept, axis=axis).sum(axis=axis, keepdims=True)
    return np.concatenate([shown, others], axis=axis)


def _name(members: BoolArray, classes: NDArray[Any]) -> str:
    if not members.any():
        return "∅"
    return set_name(classes[members].tolist(), classes)


def _others(count: int, one: str, several: str) -> list[str]:
    return [f"{count} other {one if count == 1 else several}"] if count else []
