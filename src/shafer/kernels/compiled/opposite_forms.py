"""The closed forms of two classes with opposite weights, as all models of two classes have them."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, misc"
# The compiler infers types from the arguments; annotations inside compiled code have no effect.

from __future__ import annotations

import numba
import numpy as np

from shafer.kernels.compiled.vector_code import (
    FUSED,
    aligned,
    chances,
    exponential,
    use_full_width,
)

_LANES = 64
# Places in the flat array of one block: the weights for the two classes, then results of both.
_TWO, _P, _PL, _BEL = _LANES, 2 * _LANES, 4 * _LANES, 6 * _LANES
_IGNORANCE, _CONFLICT, _SIZE = 8 * _LANES, 9 * _LANES, 10 * _LANES


@numba.njit(error_model="numpy", cache=True)
def are_opposite(w_for, w_against, first, last):
    """Tell whether the evidence for one of two classes is the evidence against the other."""
    if w_for.shape[1] != 2:
        return False
    different = 0
    for i in range(first, last):
        different += (w_for[i, 0] != w_against[i, 1]) | (w_for[i, 1] != w_against[i, 0])
    return different == 0


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def _forms_of_block(s):
    """Compute the closed forms of 64 rows.

    With a = e^{−W⁺} of the class with the larger logit, b of the other and r = a / b, the common
    denominator is 1 + r − a.
    """
    use_full_width()
    for b in range(_LANES):
        first, second = s[b], s[_TWO + b]
        larger, smaller = max(first, second), min(first, second)
        a, not_a = chances(larger)
        _, not_b = chances(smaller)
        r = exponential(smaller - larger)
        over = 1.0 / (1.0 + (r - a))
        p_one, pl_one, pl_two = 1.0 / (1.0 + r), min(1.0, over), min(1.0, r * over)
        p_two = r * p_one
        bel_one, bel_two = min(pl_one, not_a * over), min(pl_two, not_b * (r * over))
        leads = first >= second
        s[_P + b] = p_one if leads else p_two
        s[_P + _LANES + b] = p_two if leads else p_one
        s[_PL + b] = pl_one if leads else pl_two
        s[_PL + _LANES + b] = pl_two if leads else pl_one
        s[_BEL + b] = bel_one if leads else bel_two
        s[_BEL + _LANES + b] = bel_two if leads else bel_one
        s[_IGNORANCE + b] = min(1.0, a * over)
        s[_CONFLICT + b] = not_a * not_b


@numba.njit(error_model="numpy", cache=True)
def opposite_forms(w_for, w_against, first, last, probability, plausibility, belief, scalars, hard):
    """Compute the closed forms of some rows; nothing can underflow that matters."""
    use_full_width()
    s = aligned(_SIZE)
    for start in range(first, last, _LANES):
        rows = min(_LANES, last - start)
        for b in range(rows):
            # In double precision: e^-100 is almost zero in single, and r is a ratio of such.
            s[b] = np.float64(w_for[start + b, 0]) + w_against[start + b, 1]
            s[_TWO + b] = np.float64(w_for[start + b, 1]) + w_against[start + b, 0]
        _forms_of_block(s)
        for b in range(rows):
            i = start + b
            probability[i, 0], probability[i, 1] = s[_P + b], s[_P + _LANES + b]
            plausibility[i, 0], plausibility[i, 1] = s[_PL + b], s[_PL + _LANES + b]
            belief[i, 0], belief[i, 1] = s[_BEL + b], s[_BEL + _LANES + b]
            scalars[0, i], scalars[1, i] = s[_IGNORANCE + b], s[_CONFLICT + b]
            hard[i] = False
