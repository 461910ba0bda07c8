r"""Utilities of prediction sets: u50, u65 and u80, and OWA weights of maximum entropy.

The larger a set that holds the right class, the lower its utility. Ma and Denœux (2021) aggregate
the utilities of its members by an ordered weighted average. Its weights have the largest entropy
for a given *orness* γ (O'Hagan 1988): γ = 1/2 averages, γ = 1 takes the best.

References
----------
L. Ma, T. Denœux, "Partial classification in the belief function framework", Knowledge-Based
Systems 214 (2021) 106742.

M. Zaffalon, G. Corani, D. Mauá, "Evaluating credal classifiers by utility-discounted predictive
accuracy", International Journal of Approximate Reasoning 53 (2012) 1282-1301.
"""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType

import numpy as np

from shafer._typing import FloatArray
from shafer.decision.acts import check_tolerance, is_number

DISCOUNTED_UTILITIES: MappingProxyType[str, float] = MappingProxyType(
    {"u50": 1.0, "u65": 1.6, "u80": 2.2}
)
"""Name -> the first coefficient a. The name gives the utility of a right pair, (a + 1)/4."""

_STEPS = 200  # of bisection: enough for any double


def discounted_utility(name: str, size: FloatArray) -> FloatArray:
    r"""Return :math:`a/b - (a - 1)/b^2` for each size b: 1 for one class, less for more.

    Source: Zaffalon, Corani and Mauá (2012).

    Examples
    --------
    >>> discounted_utility("u65", np.array([1.0, 2.0])).round(2)
    array([1.  , 0.65])
    """
    first = DISCOUNTED_UTILITIES[name]
    return first / size - (first - 1.0) / size**2


def owa_weights(size: int, orness: float) -> FloatArray:
    r"""Return the OWA weights of maximum entropy with the given orness, largest value first.

    They are geometric, :math:`w_i \propto q^i`, with q such that the orness
    :math:`\sum_i w_i (n - i) / (n - 1)` is right.

    Parameters
    ----------
    size : int
        The number n of values.
    orness : float
        From 0, which takes the least, over 1/2, the mean, to 1, which takes the largest.

    Returns
    -------
    array of shape (size,)
        They sum to 1.

    See Also
    --------
    set_utility : The utilities that these weights give.

    Examples
    --------
    >>> owa_weights(2, 0.8)
    array([0.8, 0.2])
    >>> owa_weights(3, 0.8).round(6)
    array([0.681867, 0.236267, 0.081867])
    """
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
        raise ValueError(f"size must be a positive integer; got {size!r}.")
    if not is_number(orness) or not 0.0 <= orness <= 1.0:
        raise ValueError(f"orness must be a number from 0 to 1; got {orness!r}.")
    if size == 1:
        return np.ones(1)
    if orness == 1.0:
        only_first: FloatArray = np.eye(1, size)[0]
        return only_first
    if orness < 0.5:
        return owa_weights(size, 1.0 - orness)[::-1]
    rate = float(_rates(np.array([float(size)]), float(orness))[0])
    weights = np.exp(-rate * np.arange(size))
    normalised: FloatArray = weights / weights.sum()
    return normalised


def set_utility(n_classes: int, tolerance: float | str) -> FloatArray:
    r"""Return the utility of a set of 1, ..., K classes that contains the true class, (K,).

    Parameters
    ----------
    n_classes : int
        The number K of classes.
    tolerance : float or {"u65", "u80"}
        A tolerance γ to imprecision from 0.5 to 1: the first OWA weight of orness γ. Or one of
        the discounted utilities :math:`1.6/b - 0.6/b^2` (u65) and :math:`2.2/b - 1.2/b^2` (u80).

    Returns
    -------
    array of shape (K,)
        The utility of a set of one class is 1.

    See Also
    --------
    owa_weights : The weights behind a tolerance.
    shafer.metrics.discounted_utility_score : The mean utility of prediction sets.

    Examples
    --------
    >>> set_utility(5, 0.8).round(6)
    array([1.      , 0.8     , 0.681867, 0.596482, 0.530673])
    >>> set_utility(3, "u65").round(4)
    array([1.    , 0.65  , 0.4667])
    """
    size = np.arange(1, n_classes + 1, dtype=np.float64)
    if isinstance(tolerance, str) and tolerance in ("u65", "u80"):
        return discounted_utility(tolerance, size)
    return _first_weights(n_classes, check_tolerance(tolerance))


@lru_cache(maxsize=32)
def _first_weights(n_classes: int, orness: float) -> FloatArray:
    size = np.arange(1, n_classes + 1, dtype=np.float64)
    first = np.ones(n_classes)
    if orness < 1.0:
        rate = _rates(size[1:], orness)
        steep = rate > 0
        safe = np.where(steep, rate, 1.0)
        first[1:] = np.where(steep, np.expm1(-safe) / np.expm1(-safe * size[1:]), 1.0 / size[1:])
    first.flags.writeable = False
    return first


def _rates(size: FloatArray, orness: float) -> FloatArray:
    """Find −ln q for each size > 1 and an orness in [1/2, 1), by bisection."""
    low, high = np.zeros_like(size), np.full_like(size, 800.0)
    wanted = (1.0 - orness) * (size - 1.0)
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        too_flat = _mean_rank(size, middle) > wanted
        low, high = np.where(too_flat, middle, low), np.where(too_flat, high, middle)
    rates: FloatArray = 0.5 * (low + high) if orness > 0.5 else np.zeros_like(size)
    return rates


def _mean_rank(size: FloatArray, rate: FloatArray) -> FloatArray:
    r"""Return the mean of 0, ..., n − 1 under weights :math:`q^i`, without cancellation."""
    small = rate * size < 1e-2
    flat = 0.5 * (size - 1) - rate * (size**2 - 1) / 12 + rate**3 * (size**4 - 1) / 720
    steep = np.where(small, 1.0, rate)
    with np.errstate(over="ignore"):  # n / (e^{n rate} − 1) is then zero, as it should be
        full = 1.0 / np.expm1(steep) - size / np.expm1(steep * size)
    mean: FloatArray = np.where(small, flat, full)
    return mean
