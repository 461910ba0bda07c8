r"""Ranks of scores among all scores so far, with memory that does not grow.

Scores are rounded to bins that were fixed beforehand, and the bins are counted. A conformal p-value
among binned scores, with ties broken at random, is exactly uniform for exchangeable rows, whatever
the bins; and p-values of successive rows are independent, because each row is ranked among all
rows before it, reference and stream.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer.monitor.sample_tests.value_clusters import ValueClusters

N_BINS = 128


def stream_splits(defining: FloatArray, tolerance: FloatArray) -> FloatArray:
    """Return the points between bins for scores (n, C), (C, 127); ∞ where there are fewer.

    ``tolerance`` (C,) is how far equal scores may lie apart.
    """
    splits = np.full((defining.shape[1], N_BINS - 1), np.inf)
    for c, column in enumerate(defining.T):
        own = ValueClusters.of(column, float(tolerance[c])).splits(N_BINS, N_BINS)
        splits[c, : len(own)] = own
    return splits


def bins_of(scores: FloatArray, splits: FloatArray) -> NDArray[np.intp]:
    """Return the bin of each score (n, C)."""
    places = [np.searchsorted(own, column) for own, column in zip(splits, scores.T, strict=True)]
    return np.stack(places, axis=1)


def ranked(
    counts: NDArray[np.int64], bins: NDArray[np.intp], chance: FloatArray
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return the p-values (C,) of one row's bins (C,), and the counts (C, B) with the row."""
    items = np.arange(len(bins))
    after = counts.copy()
    after[items, bins] += 1
    below = np.where(np.arange(counts.shape[1]) < bins[:, None], counts, 0).sum(axis=1)
    p: FloatArray = (below + chance * after[items, bins]) / after.sum(axis=1)
    return p, after
