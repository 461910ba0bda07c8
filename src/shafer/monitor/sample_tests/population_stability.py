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


def bin_counts(values: FloatArray, splits: FloatArray) -> NDArray[np.intp]:
    """Count the values in each bin; a value that equals a split belongs to the bin on its left."""
    places = np.searchsorted(splits, values, side="left")
    return np.bincount(places, minlength=len(splits) + 1)


def stability_index(actual: NDArray[np.intp], expected: NDArray[np.intp]) -> float:
    """Return the PSI of counts in bins; ``expected`` must not hold 0."""
    a, e = actual / actual.sum(), expected / expected.sum()
    return float(xlogy(a - e, a / e).sum())
