"""Tables of decided sets against true classes, in per cent, and the figures read off them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._typing import BoolArray, FloatArray
from shafer.metrics import set_confusion_matrix


def set_table(chosen: BoolArray, truth: NDArray[Any]) -> FloatArray:
    """Return the share of each (decided set, true class), (2^K, K), in per cent of all instances.

    Rows are bitmasks: class k, counted from 0, is bit k.
    """
    return set_confusion_matrix(truth, chosen, sets=_members(chosen.shape[1])).T


def _members(n_classes: int) -> BoolArray:
    """Say which class is in which set, (2^K, K)."""
    inside: BoolArray = (np.arange(2**n_classes)[:, None] >> np.arange(n_classes)) & 1 == 1
    return inside


def share_of_size(table: FloatArray, size: int) -> float:
    """Return how often a set of this size is decided."""
    return float(table[_members(table.shape[1]).sum(axis=1) == size].sum())


def wrong_singletons(table: FloatArray) -> float:
    """Return how often one class is decided and it is the wrong one: the paper's error rate."""
    inside = _members(table.shape[1])
    return float(table[(inside.sum(axis=1) == 1)[:, None] & ~inside].sum())


def missed(table: FloatArray) -> float:
    """Return how often the decided set, of any size, does not hold the true class."""
    return float(table[~_members(table.shape[1])].sum())


def random_choice_error(table: FloatArray) -> float:
    """Return the error of choosing one class at random from the decided set."""
    inside = _members(table.shape[1])
    size = np.maximum(inside.sum(axis=1, keepdims=True), 1)
    return float((table * (1.0 - inside / size)).sum())
