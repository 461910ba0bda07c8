"""Values that differ by rounding only count as equal.

The same category has the same weight in the reference and in a batch, but different orders of
summation may change its last digits. Rank tests must not take that for a shift.
"""

from __future__ import annotations

import numpy as np

from shafer._typing import FloatArray

_SLACK = {8: 1e-9, 4: 1e-5}  # by bytes of a number, relative to the largest value


def rounding_tolerance(values: FloatArray, itemsize: int) -> FloatArray:
    """Return how far equal values may lie apart in each column of (n, C): (C,)."""
    largest = np.abs(values).max(axis=0, initial=0.0)
    tolerance: FloatArray = _SLACK.get(itemsize, 1e-9) * largest
    return tolerance


def merged(values: FloatArray, tolerance: float) -> FloatArray:
    """Return values (n,) of which those closer than the tolerance are equal."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.concatenate([[True], np.diff(ordered) > tolerance])
    first = ordered[starts]
    result = np.empty_like(values)
    result[order] = first[np.cumsum(starts) - 1]
    return result


def matched(values: FloatArray, support: FloatArray, tolerance: float) -> FloatArray:
    """Replace values (n,) by the nearest of sorted known values, where it is close enough."""
    right = np.clip(np.searchsorted(support, values), 0, len(support) - 1)
    left = np.maximum(right - 1, 0)
    nearer_left = np.abs(values - support[left]) <= np.abs(support[right] - values)
    nearest = support[np.where(nearer_left, left, right)]
    result: FloatArray = np.where(np.abs(values - nearest) <= tolerance, nearest, values)
    return result
