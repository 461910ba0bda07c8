"""Tables of predicted sets against true classes, in per cent, and error rates from them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._typing import BoolArray, FloatArray
from shafer.metrics.confusion import set_confusion_matrix


def set_table(chosen: BoolArray, truth: NDArray[Any]) -> FloatArray:
    """Return the share of each (predicted set, true class), (2^K, K), in per cent of all rows.

    ``truth`` holds the classes as 0..K−1. Rows of the table are bitmasks: class k is bit k.
    """
    n_classes = chosen.shape[1]
    labels = np.arange(n_classes)
    return set_confusion_matrix(truth, chosen, labels=labels, sets=_members(n_classes)).T


def _members(n_classes: int) -> BoolArray:
    """Return True where a set holds a class, (2^K, K)."""
    inside: BoolArray = (np.arange(2**n_classes)[:, None] >> np.arange(n_classes)) & 1 == 1
    return inside


def share_of_size(table: FloatArray, size: int) -> float:
    """Return the per cent of rows whose set has this size."""
    return float(table[_members(table.shape[1]).sum(axis=1) == size].sum())


def wrong_singletons(table: FloatArray) -> float:
    """Return the per cent of rows whose set is one wrong class: the paper's error rate."""
    inside = _members(table.shape[1])
    return float(table[(inside.sum(axis=1) == 1)[:, None] & ~inside].sum())


def missed(table: FloatArray) -> float:
    """Return the per cent of rows whose set does not hold the true class."""
    return float(table[~_members(table.shape[1])].sum())


def random_choice_error(table: FloatArray) -> float:
    """Return the error rate of a random choice from each set."""
    inside = _members(table.shape[1])
    size = np.maximum(inside.sum(axis=1, keepdims=True), 1)
    return float((table * (1.0 - inside / size)).sum())
