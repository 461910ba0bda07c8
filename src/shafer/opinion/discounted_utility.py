r"""Discounted utilities of a set of b classes that holds the truth.

Source: M. Zaffalon, G. Corani, D. Mauá, "Evaluating credal classifiers by utility-discounted
predictive accuracy", International Journal of Approximate Reasoning 53 (2012) 1282-1301.
"""

from __future__ import annotations

from types import MappingProxyType

from shafer._typing import FloatArray

DISCOUNTED_UTILITIES: MappingProxyType[str, float] = MappingProxyType(
    {"u50": 1.0, "u65": 1.6, "u80": 2.2}
)
"""Name -> the first coefficient a. The name gives the utility of a right pair, (a + 1)/4."""


def discounted_utility(name: str, size: FloatArray) -> FloatArray:
    r"""Return :math:`a/b - (a - 1)/b^2` for each size b: 1 for one class, less for more.

    Examples
    --------
    >>> import numpy as np
    >>> discounted_utility("u65", np.array([1.0, 2.0])).round(2)
    array([1.  , 0.65])
    """
    first = DISCOUNTED_UTILITIES[name]
    return first / size - (first - 1.0) / size**2
