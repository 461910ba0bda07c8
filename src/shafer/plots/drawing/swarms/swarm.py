"""Beeswarms: points that share a place are moved apart, all at once."""

from __future__ import annotations

import numpy as np

from shafer._typing import FloatArray


def swarm_offsets(x: FloatArray, low: float, high: float, bins: int = 110) -> FloatArray:
    """Return how many places each point moves up (or down, if negative) to lie beside the others.

    Points of the same bin of x take the places 0, 1, −1, 2, −2, ... in an order that is shuffled,
    so that no colour lies outside, but is the same in every run.

    Parameters
    ----------
    x : array of shape (n,)
    low, high : float
        Range the bins divide.
    bins : int
        How many; about the width of the axes over that of a point.

    Examples
    --------
    >>> import numpy as np
    >>> sorted(swarm_offsets(np.array([0.5, 0.5, 0.5, 0.9]), 0.0, 1.0).tolist())
    [-1.0, 0.0, 0.0, 1.0]
    """
    width = (high - low) or 1.0
    binned = np.clip(((x - low) / width * bins).astype(np.intp), 0, bins - 1)
    shuffled = np.random.default_rng(0).permutation(len(x))
    order = shuffled[np.argsort(binned[shuffled], kind="stable")]
    ordered = binned[order]
    first = np.searchsorted(ordered, ordered, side="left")  # where the point's own bin begins
    rank = np.arange(len(x)) - first
    offsets = np.empty(len(x))
    offsets[order] = np.where(rank % 2 == 1, 1.0, -1.0) * ((rank + 1) // 2)
    return offsets + 0.0  # no minus zero
