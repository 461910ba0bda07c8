r"""Discounting: weakening a mass function whose source may be unreliable.

References
----------
G. Shafer, *A Mathematical Theory of Evidence*, Princeton University Press, 1976, p. 252.

D. Mercier, B. Quost, T. Denœux, "Refined modeling of sensor reliability in the belief function
framework using contextual discounting", Information Fusion 9 (2008) 246-258.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from shafer._typing import FloatArray


def discount(masses: FloatArray, rate: float) -> FloatArray:
    r"""Return :math:`(1 - \alpha)\, m + \alpha\, m_\Theta`, for a discount rate α in [0, 1].

    Rate 0 keeps the masses. Rate 1 gives complete ignorance.

    Examples
    --------
    >>> discount(np.array([0, 0.5, 0, 0.5]), 0.5).tolist()
    [0.0, 0.25, 0.0, 0.75]
    """
    return contextual_discount(masses, {masses.size - 1: rate})


def contextual_discount(masses: FloatArray, rates: Mapping[int, float]) -> FloatArray:
    r"""Return the masses of a source whose reliability depends on the true label.

    If the true label is in context C, the source is unreliable with probability
    :math:`\alpha_C`. The result is the disjunctive combination of m with, for every context, the
    masses :math:`1 - \alpha_C` on the empty set and :math:`\alpha_C` on C (Mercier et al. 2008):
    a share :math:`\alpha_C` of each mass moves from B to :math:`B \cup C`. The single context Θ
    gives classical discounting.

    Parameters
    ----------
    masses : array of shape (2**K,)
        The masses of the source.
    rates : mapping of bitmask to float
        Discount rate of each context. The contexts are disjoint. Outside all of them the source is
        reliable.

    Examples
    --------
    >>> contextual_discount(np.array([0, 0.5, 0, 0.5]), {0b10: 0.5}).tolist()
    [0.0, 0.25, 0.0, 0.75]
    """
    _check_contexts(rates)
    index = np.arange(masses.size)
    result = masses
    for context, rate in rates.items():
        checked = checked_rate(rate)
        kept = (1.0 - checked) * result
        np.add.at(kept, index | context, checked * result)
        result = kept
    return result


def checked_rate(rate: float) -> float:
    """Return the rate as a float after checking that it is a probability.

    Examples
    --------
    >>> checked_rate(1)
    1.0
    """
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must be a number between 0 and 1; got {rate!r}.")
    return float(rate)


def _check_contexts(rates: Mapping[int, float]) -> None:
    seen = 0
    for context in rates:
        if context == 0:
            raise ValueError("rates must be given for sets of labels (contexts); one is empty.")
        if context & seen:
            raise ValueError(
                "rates must be given for sets of labels (contexts) that do not overlap; got the "
                f"bitmasks {[bin(mask) for mask in rates]}."
            )
        seen |= context
