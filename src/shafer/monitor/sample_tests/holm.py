"""Holm's step-down adjustment: the chance of any false alarm among all tests is at most α."""

from __future__ import annotations

import numpy as np

from shafer._typing import FloatArray


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
