r"""Exact tail bounds for a rate or a mean loss, from independent rows. Arrays only.

With k errors in n independent rows, a rate of r or more has the p-value
:math:`P(\mathrm{Bin}(n, r) \le k)`. The rates that this test does not reject at level
:math:`\delta` lie below the upper bound of Clopper and Pearson (1934).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import betaincinv, xlogy
from scipy.stats import binom

from shafer._typing import FloatArray


def rate_p_value(errors: Any, n: Any, rate: float) -> FloatArray:
    """Return the p-value of "the rate is ``rate`` or more", given errors among n rows."""
    return np.asarray(binom.cdf(errors, n, rate), dtype=np.float64)


def mean_p_value(total: Any, n: Any, mean: Any) -> FloatArray:
    r"""Return the p-value of "the mean is ``mean`` or more" for losses in [0, 1] that sum to total.

    It is the smaller of two bounds on the chance of a sum as small as this one: Hoeffding's
    :math:`e^{-n h(\hat r, r)}`, with h the divergence of two Bernoulli distributions, and Bentkus'
    :math:`e \, P(\mathrm{Bin}(n, r) \le \lceil n \hat r \rceil)` (Bates et al. 2021,
    *Distribution-free, risk-controlling prediction sets*).
    """
    total, n = np.asarray(total, dtype=np.float64), np.asarray(n, dtype=np.float64)
    mean = np.clip(mean, 1e-300, 1.0 - 1e-16)
    found = np.minimum(total / np.maximum(n, 1.0), mean)
    divergence = xlogy(found, found / mean) + xlogy(1.0 - found, (1.0 - found) / (1.0 - mean))
    # A sum of losses can come out just above the whole number that it is.
    counted = np.ceil(np.round(total, 9))
    bentkus = np.minimum(math.e * binom.cdf(counted, n, mean), 1.0)
    return np.asarray(np.where(n > 0, np.minimum(np.exp(-n * divergence), bentkus), 1.0))


def upper_rate(errors: Any, n: Any, confidence: float) -> FloatArray:
    """Return Clopper and Pearson's upper bound of a rate, one-sided; 1 without any row.

    Examples
    --------
    >>> float(upper_rate(0, 45, 0.9).round(3))
    0.05
    """
    errors, n = np.broadcast_arrays(np.asarray(errors), np.asarray(n))
    every = errors >= n
    below = betaincinv(errors + 1.0, np.where(every, 1.0, n - errors), confidence)
    return np.asarray(np.where(every, 1.0, below))


def rate_interval(errors: Any, n: Any, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Return Clopper and Pearson's interval of a rate, two-sided."""
    errors, n = np.asarray(errors), np.asarray(n)
    one_sided = 0.5 * (1.0 + confidence)
    return 1.0 - upper_rate(n - errors, n, one_sided), upper_rate(errors, n, one_sided)


def upper_mean(total: Any, n: Any, confidence: float) -> FloatArray:
    """Return the upper bound of a mean of losses in [0, 1], by bisection of its p-value."""
    total, n = np.broadcast_arrays(np.asarray(total, dtype=np.float64), np.asarray(n))
    low, high = np.minimum(total / np.maximum(n, 1), 1.0), np.ones(total.shape)
    for _ in range(50):
        middle = 0.5 * (low + high)
        rejected = mean_p_value(total, n, middle) <= 1.0 - confidence
        low, high = np.where(rejected, low, middle), np.where(rejected, middle, high)
    return np.asarray(np.where(n > 0, high, 1.0))


def rows_without_error(rate: float, confidence: float) -> int:
    r"""Return how many rows without an error promise a rate, :math:`\ln(1 - c) / \ln(1 - r)`.

    Examples
    --------
    >>> rows_without_error(0.05, 0.9)
    45
    """
    needed = math.log(1.0 - confidence) / math.log1p(-rate)
    # 0.9 and 0.1 are not exact in binary: one row less must not fail for that.
    return max(1, math.ceil(needed - 1e-9))
