"""The closed forms of each row, compiled by numba: the twin of ``direct_forms.py``, in equal bits.

Without logarithms, where nothing can underflow. Rows where it is possible go to ``forms.py``.
"""

from __future__ import annotations

import numba
import numpy as np

from shafer._kernels.compiled import numba_lanes as lanes
from shafer._kernels.compiled.kernel import kernel
from shafer._kernels.compiled.numba_lanes import (
    LANES,
    aligned,
    chances,
    exponential,
    read_only,
    use_full_width,
)
from shafer._kernels.direct_forms import (
    FEW_CLASSES,
    LARGEST_EXPONENT,
    NOTHING,
    SMALLEST_D,
    SMALLEST_PRODUCT,
    SMALLEST_SHIFT,
)
from shafer._kernels.forms import Forms
from shafer._kernels.forms import closed_forms as reference_closed_forms
from shafer._kernels.pooling import Pooled

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, misc"
# The compiler infers types from the arguments; annotations inside compiled code have no effect.


_SERIAL_WORK = 2**17  # rows × classes below which waking threads may take longer
_TASKS_PER_THREAD = 4
_NO_ODDS, _NO_WEIGHT, _CERTAINLY_DENIED = NOTHING

_Z, _FOR, _AGAINST = lanes.Z, lanes.FOR, lanes.AGAINST


@kernel(error_model="numpy")
def _row_numbers(state, shift, against, d, scalars):
    """Write D, ignorance and conflict of each lane; D is 0 if something may underflow."""
    use_full_width()
    for b in range(LANES):
        here = max(shift[b], SMALLEST_SHIFT)
        found = state[lanes.SUM_S + b] + state[lanes.OPEN + b] * exponential(-here)
        safe = found > SMALLEST_D and shift[b] > SMALLEST_SHIFT
        d[b] = found if safe else 1.0
        d[LANES + b] = 0.0 if safe else 1.0
        scalars[b] = min(1.0, exponential(min(-against[b] - shift[b], LARGEST_EXPONENT)) / d[b])
        kappa = state[lanes.TWO + b] + state[lanes.CONTRADICTED + b]
        kappa += state[lanes.NONE + b] * state[lanes.PRODUCT + b]
        scalars[LANES + b] = min(1.0, kappa)


@kernel(error_model="numpy")
def _load_rows(logits, w_for, w_against, first, rows, k, shift, given):
    for b in range(rows):
        given[_Z + b] = logits[first + b, k] - shift[b]
        given[_FOR + b] = w_for[first + b, k]
        given[_AGAINST + b] = w_against[first + b, k]


@kernel(error_model="numpy")
def _shifts(logits, w_against, first, rows, shift, against):
    """Write the largest logit of each row, and the sum of w⁻."""
    for b in range(rows):
        most, total = np.float64(logits[first + b, 0]), 0.0
        for k in range(logits.shape[1]):
            most = max(most, np.float64(logits[first + b, k]))
            total += w_against[first + b, k]
        shift[b], against[b] = most, total


@kernel(error_model="numpy")
def _times_after(kept, after):
    """Complete the products of the v of other classes, and take in one class more."""
    use_full_width()
    for b in range(LANES):
        kept[lanes.OTHERS + b] *= after[b]
        after[b] *= kept[lanes.DENIED + b]


@kernel(error_model="numpy")
def _block_of_rows(
    logits, w_for, w_against, first, rows, work, probability, plausibility, belief, scalars, hard
):
    """Compute the closed forms of at most 64 rows; a row in each lane."""
    use_full_width()
    n_classes = logits.shape[1]
    given, state, kept, shift, against, d, found, after, result = work
    _shifts(logits, w_against, first, rows, shift, against)
    lanes.start(state)
    for k in range(n_classes):
        _load_rows(logits, w_for, w_against, first, rows, k, shift, given)
        lanes.add_class(given, state, kept[k])
    _row_numbers(state, shift, against, d, found)
    total = state[lanes.SUM_ODDS :]
    after[:] = 1.0
    for k in range(n_classes - 1, -1, -1):
        _times_after(kept[k], after)
        lanes.class_forms(kept[k], d, total, result)
        for b in range(rows):
            probability[first + b, k] = result[b]
            plausibility[first + b, k] = result[LANES + b]
            belief[first + b, k] = result[2 * LANES + b]
    for b in range(rows):
        scalars[0, first + b], scalars[1, first + b] = found[b], found[LANES + b]
        hard[first + b] = d[LANES + b] > 0.0


@kernel(error_model="numpy")
def _load_classes(logits, w_for, w_against, i, k0, shift, given):
    count = min(LANES, logits.shape[1] - k0)
    for b in range(count):
        given[_Z + b] = logits[i, k0 + b] - shift
    for b in range(count):
        given[_FOR + b] = w_for[i, k0 + b]
    for b in range(count):
        given[_AGAINST + b] = w_against[i, k0 + b]
    for b in range(count, LANES):
        given[_Z + b], given[_FOR + b] = _NO_ODDS, _NO_WEIGHT
        given[_AGAINST + b] = _CERTAINLY_DENIED
    return count


@kernel(error_model="numpy")
def _divide(kept, product):
    use_full_width()
    for b in range(LANES):
        kept[lanes.OTHERS + b] = product / kept[lanes.DENIED + b]


@kernel(error_model="numpy")
def _products_of_others(kept, product):
    """Write the product of the v of all other classes, also where dividing would not do."""
    if product > SMALLEST_PRODUCT:
        for group in range(kept.shape[0]):
            _divide(kept[group], product)
        return
    before = after = 1.0
    for group in range(kept.shape[0]):
        for b in range(LANES):
            kept[group, lanes.OTHERS + b] = before
            before *= kept[group, lanes.DENIED + b]
    for group in range(kept.shape[0] - 1, -1, -1):
        for b in range(LANES - 1, -1, -1):
            kept[group, lanes.OTHERS + b] *= after
            after *= kept[group, lanes.DENIED + b]


@kernel(error_model="numpy")
def _one_row(logits, w_for, w_against, i, work, probability, plausibility, belief, scalars, hard):
    """Compute the closed forms of a row; every 64th class is in the same lane."""
    use_full_width()
    n_classes = logits.shape[1]
    given, state, kept, shift, against, d, found, after, result = work
    _shifts(logits, w_against, i, 1, shift, against)
    lanes.start(state)
    groups = (n_classes + LANES - 1) // LANES
    for group in range(groups):
        _load_classes(logits, w_for, w_against, i, group * LANES, shift[0], given)
        lanes.add_class(given, state, kept[group])
    lanes.joined(state)
    _row_numbers(state, shift, against, d, found)
    _products_of_others(kept[:groups], state[lanes.PRODUCT])
    d[1:LANES] = d[0]
    after[:] = state[lanes.SUM_ODDS]
    for group in range(groups):
        lanes.class_forms(kept[group], d, after, result)
        k0 = group * LANES
        count = min(LANES, n_classes - k0)
        for b in range(count):
            probability[i, k0 + b] = result[b]
        for b in range(count):
            plausibility[i, k0 + b] = result[LANES + b]
        for b in range(count):
            belief[i, k0 + b] = result[2 * LANES + b]
    scalars[0, i], scalars[1, i] = found[0], found[LANES]
    hard[i] = d[LANES] > 0.0


# The closed forms of two classes with opposite weights, as all models of two classes have them.

# Places in the flat array of one block: the weights for the two classes, then results of both.
_TWO, _P, _PL, _BEL = LANES, 2 * LANES, 4 * LANES, 6 * LANES
_IGNORANCE, _CONFLICT, _SIZE = 8 * LANES, 9 * LANES, 10 * LANES


@kernel(error_model="numpy")
def _is_opposite(w_for, w_against, i):
    """Tell whether the evidence for one of two classes is the evidence against the other."""
    return (w_for[i, 0] == w_against[i, 1]) & (w_for[i, 1] == w_against[i, 0])


@kernel(error_model="numpy")
def _opposite_rows(w_for, w_against, first, last):
    count = 0
    for i in range(first, last):
        count += _is_opposite(w_for, w_against, i)
    return count


@kernel(error_model="numpy")
def _forms_of_block(s):
    """Compute the closed forms of 64 rows.

    With a = e^{−W⁺} of the class with the larger logit, b of the other and r = a / b, the common
    denominator is 1 + r − a.
    """
    use_full_width()
    for b in range(LANES):
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
        s[_P + LANES + b] = p_two if leads else p_one
        s[_PL + b] = pl_one if leads else pl_two
        s[_PL + LANES + b] = pl_two if leads else pl_one
        s[_BEL + b] = bel_one if leads else bel_two
        s[_BEL + LANES + b] = bel_two if leads else bel_one
        s[_IGNORANCE + b] = min(1.0, a * over)
        s[_CONFLICT + b] = not_a * not_b


@kernel(error_model="numpy")
def _opposite_forms(
    w_for, w_against, first, last, probability, plausibility, belief, scalars, hard
):
    """Compute the closed forms of the rows of this kind; nothing can underflow that matters."""
    use_full_width()
    s = aligned(_SIZE)
    for start in range(first, last, LANES):
        rows = min(LANES, last - start)
        for b in range(rows):
            # In double precision: e^-100 is almost zero in single, and r is a ratio of such.
            s[b] = np.float64(w_for[start + b, 0]) + w_against[start + b, 1]
            s[_TWO + b] = np.float64(w_for[start + b, 1]) + w_against[start + b, 0]
        _forms_of_block(s)
        for b in range(rows):
            i = start + b
            if not _is_opposite(w_for, w_against, i):
                continue
            probability[i, 0], probability[i, 1] = s[_P + b], s[_P + LANES + b]
            plausibility[i, 0], plausibility[i, 1] = s[_PL + b], s[_PL + LANES + b]
            belief[i, 0], belief[i, 1] = s[_BEL + b], s[_BEL + LANES + b]
            scalars[0, i], scalars[1, i] = s[_IGNORANCE + b], s[_CONFLICT + b]
            hard[i] = False


# All rows.


@kernel(nogil=True, error_model="numpy")
def _other_rows(
    logits, w_for, w_against, first, last, probability, plausibility, belief, scalars, hard
):
    use_full_width()
    n_classes = logits.shape[1]
    groups = n_classes if n_classes <= FEW_CLASSES else (n_classes + LANES - 1) // LANES
    work = (
        aligned(lanes.GIVEN_SIZE),
        aligned(lanes.STATE_SIZE),
        aligned(groups * lanes.KEPT_SIZE).reshape(groups, lanes.KEPT_SIZE),
        aligned(LANES),
        aligned(LANES),
        aligned(2 * LANES),
        aligned(2 * LANES),
        aligned(LANES),
        aligned(3 * LANES),
    )
    out = (work, probability, plausibility, belief, scalars, hard)
    if n_classes <= FEW_CLASSES:
        for i in range(first, last, LANES):
            rows = min(LANES, last - i)
            _block_of_rows(logits, w_for, w_against, i, rows, *out)
    else:
        for i in range(first, last):
            _one_row(logits, w_for, w_against, i, *out)


@kernel(nogil=True, error_model="numpy")
def _some_rows(
    logits, w_for, w_against, first, last, probability, plausibility, belief, scalars, hard
):
    use_full_width()
    n_classes = logits.shape[1]
    pairs = _opposite_rows(w_for, w_against, first, last) if n_classes == 2 else 0
    if pairs < last - first:
        _other_rows(
            logits, w_for, w_against, first, last, probability, plausibility, belief, scalars, hard
        )
    if pairs:
        _opposite_forms(
            w_for, w_against, first, last, probability, plausibility, belief, scalars, hard
        )


@kernel(parallel=True, error_model="numpy")
def _in_tasks(logits, w_for, w_against, rows, probability, plausibility, belief, scalars, hard):
    n = logits.shape[0]
    for task in numba.prange((n + rows - 1) // rows):
        first = task * rows
        _some_rows(
            logits,
            w_for,
            w_against,
            first,
            min(n, first + rows),
            probability,
            plausibility,
            belief,
            scalars,
            hard,
        )


def closed_forms(pooled: Pooled) -> Forms:
    """Return the closed forms of every row; the reference is in ``direct_forms.py``."""
    n, n_classes = pooled.logits.shape
    dtype = pooled.logits.dtype
    by_class = [*np.empty((3, n, n_classes), dtype=dtype)]  # one block: fewer pages
    scalars, hard = np.empty((2, n), dtype=dtype), np.empty(n, dtype=np.bool_)
    given = [read_only(array) for array in pooled]
    if n * n_classes < _SERIAL_WORK:
        _some_rows(*given, 0, n, *by_class, scalars, hard)
    else:
        step = LANES if n_classes <= FEW_CLASSES else 1
        rows = -(-n // (_TASKS_PER_THREAD * numba.get_num_threads() * step)) * step
        _in_tasks(*given, rows, *by_class, scalars, hard)
    result = Forms(*by_class, *scalars)
    if hard.any():
        rest = Pooled(*(array[hard] for array in pooled))
        for values, those in zip(result, reference_closed_forms(rest), strict=True):
            values[hard] = those
    return result


__all__ = ["closed_forms"]
