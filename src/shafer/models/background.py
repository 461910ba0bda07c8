"""Means over the background rows, which decide what counts as ordinary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from shafer._typing import Array
from shafer.evidence import RunningMean
from shafer.evidence.means import checked_weight
from shafer.models.inputs import n_rows, take_rows

# Elements of (rows, G, K) held at a time, and the rows from which G and K are first learnt.
_BLOCK = 2**22
_FIRST_ROWS = 256


def as_batches(background: Any) -> tuple[Any, Iterator[Any]]:
    """Return the first batch, and all of them; anything but an iterator is one batch."""
    if not isinstance(background, Iterator):
        return background, iter([background])
    first = next(background, None)
    if first is None:
        raise ValueError("background must have at least one batch; the iterator gave none.")
    return first, chain([first], background)


def add_contributions(
    running: RunningMean, contributions: Callable[[Any], Array], X: Any, sample_weight: Any
) -> None:
    """Take in the contributions of X, holding few of the (n, G, K) at a time."""
    n = n_rows(X)
    weight = checked_weight(sample_weight, n)
    start, size = 0, _FIRST_ROWS
    while start < n:
        rows = slice(start, min(start + size, n))
        block = contributions(take_rows(X, rows))
        running.partial_fit(block, None if weight is None else weight[rows])
        start = rows.stop
        size = max(1, _BLOCK // max(1, block.shape[1] * block.shape[2]))
