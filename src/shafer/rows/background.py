"""The background: its batches, and the means of contributions over its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, TypeAlias

from shafer._checks.arrays import row_weights
from shafer._typing import Array
from shafer.evidence.least_commitment import RunningMean
from shafer.rows.access import n_rows, take_rows
from shafer.rows.checks import check_rows

# Elements of (rows, G, K) in memory at a time, and the number of rows in the first block.
_BLOCK = 2**22
_FIRST_ROWS = 256


def as_batches(background: Any, sample_weight: Any = None) -> tuple[Any, Iterator[Any]]:
    """Return the first batch, and all batches; anything but an iterator is one batch."""
    if not isinstance(background, Iterator):
        _check_whole(background)
        return background, iter([background])
    if sample_weight is not None:
        raise ValueError(
            "sample_weight cannot be given with an iterator of batches, because their rows are not "
            "known yet. Pass the background as one array, or leave sample_weight out."
        )
    if isinstance(background, BackgroundParts):
        return background.first_rows(), background
    batches = _checked(background)
    first = next(batches, None)
    if first is None:
        raise ValueError("background must have at least one batch; the iterator was empty.")
    return first, chain([first], batches)


def _checked(batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        check_rows(batch, "a batch of the background")
        yield batch


def _check_whole(background: Any) -> None:
    if background is None:
        raise ValueError(
            "background is needed, because weights of evidence are relative to its means. Pass the "
            "rows that the model was trained on, Explainer(model, X_train), or a sample; got None."
        )
    check_rows(background, "background")
    # Such as a torch DataLoader, which is iterable but has no rows.
    rows = any(hasattr(background, name) for name in ("__getitem__", "__array__", "shape"))
    if isinstance(background, Iterable) and not rows:
        raise ValueError(
            f"background of type {type(background).__name__} has no rows that can be taken by "
            "position. Pass one array, or an iterator of batches of X only, such as "
            "(X for X, y in loader)."
        )


def add_contributions(
    running: RunningMean, contributions: Callable[[Any], Array], X: Any, sample_weight: Any
) -> None:
    """Add the contributions of X to the means, with few of the (n, G, K) in memory at a time."""
    n = n_rows(X)
    weight = row_weights(sample_weight, n)
    start, size = 0, _FIRST_ROWS
    while start < n:
        rows = slice(start, min(start + size, n))
        block = contributions(take_rows(X, rows))
        running.partial_fit(block, None if weight is None else weight[rows])
        start = rows.stop
        size = max(1, _BLOCK // max(1, block.shape[1] * block.shape[2]))


# Background rows that lie elsewhere, in parts, and are summed there.

SumOfPart: TypeAlias = Callable[[Iterable[Any]], Any]
"""From the batches of one part, as the model takes them, to sums that can be merged."""


class BackgroundParts(Iterator[Any], ABC):
    """A background that is read once, by other processes.

    It counts as an iterator of batches, so what needs all rows at once refuses it.
    """

    @abstractmethod
    def first_rows(self) -> Any:
        """Return some rows, as the model takes them."""

    @abstractmethod
    def summed(self, sum_of_part: SumOfPart) -> Any:
        """Sum each part where it lies, in one pass, and merge the sums."""

    def __next__(self) -> Any:
        raise TypeError("The rows of this background lie elsewhere and cannot be iterated here.")
