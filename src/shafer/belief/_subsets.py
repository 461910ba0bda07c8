"""Arrays indexed by the subsets of a frame: bit k of the index is 1 if label k is inside."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shafer._typing import BoolArray, FloatArray


def lattice_array(values: ArrayLike, name: str = "masses") -> FloatArray:
    """Return a float copy of ``values`` after checking that it has one entry per subset.

    Extended precision is kept where it is given; everything else becomes float64.
    """
    given = np.asarray(values)
    dtype = np.longdouble if given.dtype == np.longdouble else np.float64
    array: FloatArray = np.array(given, dtype=dtype)
    if array.ndim != 1 or array.size == 0 or array.size & (array.size - 1):
        raise ValueError(
            f"{name} must be one-dimensional with 2**K entries, one per subset of the frame; "
            f"got shape {array.shape}"
        )
    return array


def label_count(lattice: NDArray[Any]) -> int:
    """Return K for an array of 2**K entries."""
    return lattice.size.bit_length() - 1


def cardinalities(n_labels: int) -> NDArray[np.int64]:
    """Return the number of labels in each of the 2**K subsets."""
    counts = np.zeros(1, dtype=np.int64)
    for _ in range(n_labels):
        counts = np.concatenate((counts, counts + 1))
    return counts


def membership(n_labels: int) -> BoolArray:
    """Return a (2**K, K) table: whether label k is in the subset."""
    masks = np.arange(1 << n_labels)
    table: BoolArray = (masks[:, None] >> np.arange(n_labels)) & 1 == 1
    return table
