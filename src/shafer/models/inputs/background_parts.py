"""``BackgroundParts``: background rows that lie elsewhere, in parts, and are summed there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

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
