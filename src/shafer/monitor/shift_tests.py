r"""Two-sample tests of one quantity: is its distribution the same in reference and batch.

All three hold for any distribution, if the rows are exchangeable:

- Kolmogorov and Smirnov's test sees any change of shape. With ties it is cautious.
- Wilcoxon's rank-sum test sees small changes of location. It needs values that vary: it is left
  out if more than half of all values are the same.
- Fisher's exact test for the count in each bin, with Bonferroni's factor over the bins, sees rare
  categories and tails.

The smallest of the p-values times their number is a p-value. The bins, and whether a test is left
out, depend on the pooled sample only: they are the same whichever rows are the batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import ndtr, xlogy

from shafer._typing import FloatArray

_LARGEST_TIE = 0.5
_MOST_VALUES, _BINS = 50, 20  # of the tests of counts: one bin for each of so few values


@final
@dataclass(frozen=True)
class Shift:
    """How far the distribution of one quantity moved.

    Attributes
    ----------
    ks, ks_p : float
        Kolmogorov and Smirnov's statistic and its p-value.
    psi : float
        Population stability index.
    p : float
        p-value of all tests together.
    """

    ks: float
    ks_p: float
    psi: float
    p: float


UNCHANGED = Shift(0.0, 1.0, 0.0, 1.0)


def distribution_shift(
    reference: FloatArray, batch: FloatArray, psi_bins: int, tolerance: float = 0.0
) -> Shift:
    """Compare values (n,) of the reference with values (m,) of a batch.

    Parameters
    ----------
    reference, batch : arrays of shape (n,) and (m,)
    psi_bins : int
        Bins of the population stability index, from the reference.
    tolerance : float
        Values this close are equal.
    """
    pooled = np.concatenate([reference, batch])
    values = ValueClusters.of(pooled, tolerance)
    if len(values.counts) == 1:
        return UNCHANGED
    n, m = len(reference), len(batch)
    ks = _largest_gap(values.places[:n], values.places[n:], len(values.counts))
    ks_p = ks_p_value(ks, n, m)
    tested = [ks_p, bins_p_value(*_counted(values.splits(_MOST_VALUES, _BINS), reference, batch))]
    if values.counts.max() <= _LARGEST_TIE * len(pooled):
        tested.append(_rank_sum_p(values.places, values.counts, n))
    p = min(1.0, len(tested) * min(tested))
    splits = ValueClusters.of(reference, tolerance).splits(psi_bins, psi_bins)
    expected, actual = _counted(splits, reference, batch)
    return Shift(ks, ks_p, stability_index(actual, expected), p)


def _counted(
    splits: FloatArray, reference: FloatArray, batch: FloatArray
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return bin_counts(reference, splits), bin_counts(batch, splits)


def _largest_gap(first: NDArray[np.intp], second: NDArray[np.intp], n_values: int) -> float:
    """Return the largest distance of two empirical distribution functions."""
    below = [np.cumsum(np.bincount(x, minlength=n_values)) / len(x) for x in (first, second)]
    return float(np.abs(below[0] - below[1]).max())


def ks_p_value(ks: float, n: int, m: int) -> float:
    """Return the p-value of the KS statistic of n and m rows, as ``ks_2samp(method="asymp")``."""
    size = max(1, round(n * m / (n + m)))
    return float(np.clip(stats.kstwo.sf(ks, size), 0.0, 1.0))


def _rank_sum_p(places: NDArray[np.intp], counts: NDArray[np.intp], n: int) -> float:
    """Return the two-sided p-value of the rank sum of the batch, the rows from n on."""
    total = len(places)
    m = total - n
    rank = np.cumsum(counts) - (counts - 1) / 2.0  # mean rank of each value
    distance = abs(float(rank[places[n:]].sum()) - m * (total + 1) / 2.0) - 0.5
    ties = float((counts.astype(np.float64) ** 3 - counts).sum())
    variance = n * m / 12.0 * (total + 1 - ties / (total * (total - 1.0)))
    return float(2.0 * ndtr(-max(distance, 0.0) / np.sqrt(variance)))


def bins_p_value(expected: NDArray[np.intp], actual: NDArray[np.intp]) -> float:
    """Return the p-value of the bin whose count changed most, with Bonferroni's factor."""
    n_bins = 1 if len(actual) == 2 else len(actual)  # two bins are one test
    p = fisher_p_values(actual, int(actual.sum()), expected, int(expected.sum()))
    return min(1.0, n_bins * float(p.min()))


def fisher_p_values(
    actual: NDArray[np.intp], m: int, expected: NDArray[np.intp], n: int
) -> FloatArray:
    """Return the exact two-sided p-values of counts among m and n rows: twice the smaller tail."""
    found = actual + expected
    upper = stats.hypergeom.sf(actual - 1, m + n, found, m)
    lower = stats.hypergeom.cdf(actual, m + n, found, m)
    p: FloatArray = np.clip(2.0 * np.minimum(upper, lower), 0.0, 1.0)
    return p


def share_shift(batch: NDArray[np.bool_], reference: NDArray[np.bool_]) -> float:
    """Return the exact p-value of a change in the share of rows with a property."""
    counts = (np.array([int(x.sum())]) for x in (batch, reference))
    return float(fisher_p_values(next(counts), len(batch), next(counts), len(reference))[0])


# Conformal p-values: the rank of a score among those of reference rows, ties broken at random.


def conformal_p_values(
    scores: FloatArray, reference: FloatArray, random: np.random.Generator
) -> FloatArray:
    """Return the p-values of scores (m,) among reference scores (n,); small scores give small p."""
    ordered = np.sort(reference)
    below = np.searchsorted(ordered, scores, side="left")
    equal = np.searchsorted(ordered, scores, side="right") - below
    chance = 1.0 - random.random(len(scores))  # in (0, 1]
    p: FloatArray = (below + chance * (1.0 + equal)) / (len(reference) + 1.0)
    return p


# Holm's step-down adjustment: the chance of any false alarm among all tests is at most α.


def adjusted_p_values(p: FloatArray) -> FloatArray:
    """Return p-values (T,) adjusted for all T tests; NaN stays NaN and does not count as a test.

    Any dependence between the tests is allowed.

    Examples
    --------
    >>> import numpy as np
    >>> adjusted_p_values(np.array([0.01, 0.04, np.nan, 0.03])).round(2)
    array([0.03, 0.06,  nan, 0.06])
    """
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    result = np.full(len(p), np.nan)
    result[order] = np.minimum(1.0, np.maximum.accumulate(factors * p[order]))
    return result


# The population stability index (PSI), as optbinning's ``ScorecardMonitoring`` computes it.


def bin_counts(values: FloatArray, splits: FloatArray) -> NDArray[np.intp]:
    """Count the values in each bin; a value that equals a split belongs to the bin on its left."""
    places = np.searchsorted(splits, values, side="left")
    return np.bincount(places, minlength=len(splits) + 1)


def stability_index(actual: NDArray[np.intp], expected: NDArray[np.intp]) -> float:
    """Return the PSI of counts in bins; ``expected`` must not hold 0."""
    a, e = actual / actual.sum(), expected / expected.sum()
    return float(xlogy(a - e, a / e).sum())


# Distinct values of a sample, where values that differ by rounding only count as equal.

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
