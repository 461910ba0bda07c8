r"""Set-valued acts: answer with the set of classes whose expected utility is largest.

Under 0-1 utilities a set A of b classes has the utility :math:`g_b` if it holds the truth, so its
expected utility is :math:`g_b` times the probability, belief or plausibility of A, or a mixture of
the last two (Ma and Denœux 2021). Ties go to fewer classes, then to earlier ones. The first is
computed here, the others by ``Opinion.best_sets``.
"""

from __future__ import annotations

import numpy as np
from array_api_compat import array_namespace

from shafer._typing import Array, FloatArray
from shafer.opinion.best_set_search import TIE


def most_probable_set(probability: Array, utility: FloatArray) -> Array:
    """Choose the best set by probability: the first b classes, for the best b; boolean (..., K)."""
    xp = array_namespace(probability)
    order = xp.argsort(probability, axis=-1, descending=True)
    ordered = xp.take_along_axis(probability, order, axis=-1)
    gain = xp.asarray(np.array(utility), dtype=probability.dtype, device=probability.device)
    value = xp.cumulative_sum(ordered, axis=-1) * gain
    tie = max(TIE, 8.0 * float(xp.finfo(value.dtype).eps))
    tied = value >= xp.max(value, axis=-1, keepdims=True) - tie
    size = xp.argmax(xp.astype(tied, xp.int64), axis=-1, keepdims=True)
    return xp.argsort(order, axis=-1) <= size
