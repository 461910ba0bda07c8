"""Which scores are equal but for rounding: they tie wherever a threshold is compared with them.

The same row has scores that differ in the last digits between compiled and plain kernels, and
between a batch and a single row. With categorical inputs, many rows have exactly the score that
became a threshold, so without a tolerance all of them would change sides at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj

from shafer._typing import Array

_WIDTH = 1e-9
_ROUNDINGS = 100.0  # of lower precision, such as float32


def tie_width(score: Any, unit: float = 1.0) -> Array:
    r"""Return how far another score may be from this one and still tie with it.

    It is :math:`10^{-9} (u + |s|)` in double precision, for a score s in the unit u, and
    :math:`1.2 \cdot 10^{-5} (u + |s|)` in single precision: far more than rounding, and far less
    than a difference that means something. An infinite score ties with itself only.

    Parameters
    ----------
    score : array
    unit : float
        The size of an ordinary score: 1 for log-odds, the largest loss for expected losses.

    Examples
    --------
    >>> from shafer.decision.ties import tie_width
    >>> float(tie_width(0.0)), float(tie_width(-4.0))
    (1e-09, 5e-09)
    """
    score = score if is_array_api_obj(score) else np.asarray(score, dtype=np.float64)
    xp = array_namespace(score)
    share = max(_WIDTH, _ROUNDINGS * float(xp.finfo(score.dtype).eps))
    size = xp.where(xp.isfinite(score), xp.abs(score), -unit)
    return share * (unit + size)


def exceeds(score: Array, threshold: Array, unit: float = 1.0) -> Array:
    """Return whether scores are above a threshold that lies between groups of tied scores.

    The scores next to the threshold, from which it was found, differ from it by more than
    :func:`tie_width`, or tie with it. Half of the width keeps each on its side.
    """
    return score > threshold + 0.5 * tie_width(threshold, unit)
