r"""The population stability index (PSI), as optbinning's ``ScorecardMonitoring`` computes it.

With the shares :math:`e_b` of the reference (expected) and :math:`a_b` of the batch (actual) in
bins b,

.. math:: PSI = \sum_b (a_b - e_b) \ln \frac{a_b}{e_b}.

A bin without rows of the batch makes it infinite, as in optbinning.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from shafer._typing import FloatArray


def bin_splits(reference: FloatArray, most: int) -> FloatArray:
    """Return the points between bins: each value is a bin, or ``most`` quantiles of the values.

    A value that equals a split belongs to the bin on its left, as in optbinning. Every bin holds
    rows of the reference.
    """
    values = np.unique(reference)
    if len(values) <= most:
        return np.asarray(values[:-1] + np.diff(values) / 2.0)
    levels = np.linspace(0.0, 1.0, most + 1)[1:-1]
    # Quantiles that are values themselves: a bin ends in a row of the reference.
    inner = np.unique(np.quantile(reference, levels, method="inverted_cdf"))
    return np.asarray(inner[inner < values[-1]])


def bin_counts(values: FloatArray, splits: FloatArray) -> NDArray[np.intp]:
    """Count the values in each bin."""
    places = np.searchsorted(splits, values, side="left")  # as digitize with right=True
    return np.bincount(places, minlength=len(splits) + 1)


def stability_index(actual: NDArray[np.intp], expected: NDArray[np.intp]) -> float:
    """Return the PSI of counts in bins; ``expected`` must not hold 0."""
    a, e = actual / actual.sum(), expected / expected.sum()
    return float(xlogy(a - e, a / e).sum())
