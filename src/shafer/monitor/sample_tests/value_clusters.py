"""Distinct values of a sample, where values that differ by rounding only count as equal.

The same category has the same weight in the reference and in a batch, but different orders of
summation may change its last digits. Rank tests must not take that for a shift.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray

_SLACK = {8: 1e-9, 4: 1e-5}  # by bytes of a number, relative to the largest value


def rounding_tolerance(values: FloatArray, itemsize: int) -> FloatArray:
    """Return how far equal values may lie apart in (n, ...): an array without the first axis."""
    largest = np.abs(values).max(axis=0, initial=0.0)
    tolerance: FloatArray = _SLACK.get(itemsize, 1e-9) * largest
    return tolerance


@final
@dataclass(frozen=True, eq=False)
class ValueClusters:
    """The distinct values of a sample, in order.

    Attributes
    ----------
    places : array of shape (n,)
        The cluster of each value.
    counts : array of shape (C,)
        The values in each cluster.
    gaps : array of shape (C − 1,)
        The points half-way between neighbouring clusters.
    """

    places: NDArray[np.intp]
    counts: NDArray[np.intp]
    gaps: FloatArray

    @classmethod
    def of(cls, values: FloatArray, tolerance: float) -> ValueClusters:
        """Find the clusters: neighbours further apart than the tolerance are distinct."""
        order = np.argsort(values, kind="stable")
        ordered = values[order]
        parted = np.diff(ordered) > tolerance
        places = np.empty(len(values), dtype=np.intp)
        places[order] = np.concatenate([[0], np.cumsum(parted)])
        gaps = ordered[:-1][parted] + np.diff(ordered)[parted] / 2.0
        return cls(places, np.bincount(places), gaps)

    def splits(self, most_values: int, n_bins: int) -> FloatArray:
        """Return the points between bins: one bin for each value, or quantiles of the values.

        Every bin holds values of the sample. A split lies between two clusters, so that rounding
        does not move a value to another bin.
        """
        if len(self.counts) <= most_values:
            return self.gaps
        share = np.cumsum(self.counts) / len(self.places)
        levels = np.arange(1, n_bins) / n_bins
        last = np.unique(np.searchsorted(share, levels))  # of each bin; not the last cluster
        return self.gaps[last[last < len(self.gaps)]]
