"""Checks of stored trees and of the numbers in them, before compiled code follows their indices."""

from __future__ import annotations

import re
from typing import Any, Never

import numpy as np
from numpy.typing import NDArray

MOST_LEVELS = 512  # contributions take memory with the square of the depth, and a call per level
MOST_COLUMNS = 2**22  # a row takes memory for each column, however small the file is
_INTEGER = re.compile(r"-?\d{1,18}")


def refuse(what: str = "a tree of its booster is damaged") -> Never:
    """Raise the error for a booster that its library would not have written."""
    raise ValueError(what)


def integer(text: Any, least: int, most: int) -> int:
    """Read an integer that is stored as text."""
    if not isinstance(text, str) or not _INTEGER.fullmatch(text):
        refuse()
    number = int(text)
    if not least <= number <= most:
        refuse()
    return number


def check_within(values: NDArray[Any], stop: int) -> None:
    """Check that all values are at least 0 and below ``stop``."""
    if not ((values >= 0) & (values < stop)).all():
        refuse()


def check_splits(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Check the children of splits, −1 where there are none; return which nodes are reached.

    Every node has one parent at most, and the root, node 0, has none. So nothing that is reached
    from the root leads back to it.
    """
    n_nodes = len(left)
    inner = left >= 0
    if n_nodes == 0 or (inner != (right >= 0)).any():
        refuse()
    children = np.concatenate([left[inner], right[inner]])
    check_within(children - 1, n_nodes - 1)
    if len(np.unique(children)) != len(children):
        refuse()
    reached = np.zeros(n_nodes, dtype=bool)
    level = np.zeros(1, dtype=np.int64)
    for _ in range(MOST_LEVELS):
        reached[level] = True
        splits = level[inner[level]]
        if not len(splits):
            return reached
        level = np.concatenate([left[splits], right[splits]])
    refuse(f"a tree of its booster has more than {MOST_LEVELS} levels, which is not supported")
