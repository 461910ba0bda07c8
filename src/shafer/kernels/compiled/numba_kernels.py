"""Faster versions of the reference kernels for NumPy arrays, compiled by numba.

Same signatures, same numbers up to rounding. Only ``dispatch`` imports this file, and only when
there is enough work to pay for loading the compiler. ``NUMBA_NUM_THREADS`` sets the number of
threads. Compiled code is kept on disk.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, misc"
# The compiler infers types from the arguments; annotations inside compiled code have no effect.

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from shafer._typing import Array, FloatArray
from shafer.kernels.closed_forms import Forms
from shafer.kernels.closed_forms import closed_forms as reference_closed_forms
from shafer.kernels.pooling import Pooled, one_sided

# Sums may be reassociated (so that they vectorise) and fused; NaN and infinity stay as they are.
_FAST_MATH: Any = {"reassoc", "contract", "nsz"}
# Tile sizes and thresholds. They change speed, and results only by rounding.
_FEW_CLASSES = 32  # up to here w⁺ and w⁻ are summed directly; beyond, |w| here and z by BLAS
_CHUNK_VALUES = 2**16  # feature values of the rows that share one pass over beta (512 KB)
_TILE_FEATURES = 1024  # features summed in the input's precision before the double total
_ROWS_PER_TASK = 64  # rows that one thread takes at a time and that share scratch space
# Where e^-w is used instead of logarithms, it must stay far from underflow.
_SMALLEST_CHANCE = 1e-290
_SMALLEST_D = 1e-200
_SMALLEST_SHIFT = -30.0


@numba.njit(fastmath=_FAST_MATH, cache=True)
def _four_by_two(centred, beta, offset, i, k, tile, total):
    """Add the sums of |β c + o| of four classes and two rows: eight running sums in registers."""
    row, other = centred[i, tile], centred[i + 1, tile]
    b0, b1, b2, b3 = beta[k, tile], beta[k + 1, tile], beta[k + 2, tile], beta[k + 3, tile]
    o0, o1, o2, o3 = offset[k], offset[k + 1], offset[k + 2], offset[k + 3]
    s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = (
        row[0] - row[0]
    )  # zero, of the precision of the input
    for j in range(row.shape[0]):
        x, y = row[j], other[j]
        s00 += abs(b0[j] * x + o0)
        s01 += abs(b1[j] * x + o1)
        s02 += abs(b2[j] * x + o2)
        s03 += abs(b3[j] * x + o3)
        s10 += abs(b0[j] * y + o0)
        s11 += abs(b1[j] * y + o1)
        s12 += abs(b2[j] * y + o2)
        s13 += abs(b3[j] * y + o3)
    total[i, k] += s00
    total[i, k + 1] += s01
    total[i, k + 2] += s02
    total[i, k + 3] += s03
    total[i + 1, k] += s10
    total[i + 1, k + 1] += s11
    total[i + 1, k + 2] += s12
    total[i + 1, k + 3] += s13


@numba.njit(fastmath=_FAST_MATH, cache=True)
def _one_by_one(centred, beta, offset, i, k, tile, total):
    row, b, o = centred[i, tile], beta[k, tile], offset[k]
    s = row[0] - row[0]  # zero, of the precision of the input
    for j in range(row.shape[0]):
        s += abs(b[j] * row[j] + o)
    total[i, k] += s


@numba.njit(parallel=True, cache=True)
def _absolute_sums(centred, beta, offset, total):
    """Add Σ_j |β_kj c_ij + o_k| to ``total``; beta is (K, J), so that j is contiguous."""
    n, n_features = centred.shape
    n_classes = beta.shape[0]
    fours = n_classes // 4 * 4
    rows = max(2, min(n, _CHUNK_VALUES // n_features) // 2 * 2)
    for chunk in numba.prange((n + rows - 1) // rows):
        first, last = chunk * rows, min(n, (chunk + 1) * rows)
        paired = first + (last - first) // 2 * 2
        for start in range(0, n_features, _TILE_FEATURES):
            tile = slice(start, min(n_features, start + _TILE_FEATURES))
            for k in range(0, fours, 4):
                for i in range(first, paired, 2):
                    _four_by_two(centred, beta, offset, i, k, tile, total)
                for i in range(paired, last):
                    for q in range(k, k + 4):
                        _one_by_one(centred, beta, offset, i, q, tile, total)
            for k in range(fours, n_classes):
                for i in range(first, last):
                    _one_by_one(centred, beta, offset, i, k, tile, total)


@numba.njit(parallel=True, cache=True)
def _split(absolute, logits, centred, beta, offset, small, positive, negative):
    """Take (Σ|w| ± z) / 2; where one side is much smaller, sum both sides again."""
    n, n_features = centred.shape
    for i in numba.prange(n):
        for k in range(beta.shape[0]):
            size, z = absolute[i, k], logits[i, k]
            if size - abs(z) > small * size:
                positive[i, k] = 0.5 * (size + z)
                negative[i, k] = 0.5 * (size - z)
                continue
            up, down = 0.0, 0.0
            for j in range(n_features):
                w = beta[k, j] * centred[i, j] + offset[k]
                up += max(w, 0.0)
                down += max(-w, 0.0)
            positive[i, k], negative[i, k] = up, down
            logits[i, k] = up - down


@numba.njit(fastmath=_FAST_MATH, cache=True)
def _subtract(row, centre, out):
    for j in range(row.shape[0]):
        out[j] = row[j] - centre[j]


@numba.njit(fastmath=_FAST_MATH, cache=True)
def _two_sides(row, beta, offset):
    up = down = row[0] - row[0]
    for j in range(row.shape[0]):
        w = beta[j] * row[j] + offset
        up += max(w, 0)
        down += max(-w, 0)
    return up, down


@numba.njit(parallel=True, cache=True)
def _direct(features, centre, beta, offset, opposite, logits, positive, negative):
    """Sum w⁺ and w⁻ directly: the fastest way for few classes.

    Of two opposite classes one is computed: its w⁺ is the w⁻ of the other.
    """
    n, n_features = features.shape
    for chunk in numba.prange((n + _ROWS_PER_TASK - 1) // _ROWS_PER_TASK):
        row = np.empty(n_features, dtype=features.dtype)
        for i in range(chunk * _ROWS_PER_TASK, min(n, (chunk + 1) * _ROWS_PER_TASK)):
            _subtract(features[i], centre, row)
            for k in range(1 if opposite else beta.shape[0]):
                up, down = 0.0, 0.0
                for start in range(0, n_features, _TILE_FEATURES):
                    tile = slice(start, min(n_features, start + _TILE_FEATURES))
                    more_up, more_down = _two_sides(row[tile], beta[k, tile], offset[k])
                    up, down = up + more_up, down + more_down
                positive[i, k], negative[i, k] = up, down
                logits[i, k] = up - down
            if opposite:
                positive[i, 1], negative[i, 1] = negative[i, 0], positive[i, 0]
                logits[i, 1] = -logits[i, 0]


def pool_linear(
    features: FloatArray, centre: FloatArray, beta: FloatArray, offset: FloatArray
) -> Pooled:
    """Pool the weights of a linear model; see :func:`shafer.kernels.pooling.pool_linear`."""
    dtype, shape = features.dtype, (features.shape[0], beta.shape[1])
    coefficients = np.ascontiguousarray(beta.T, dtype=dtype)
    share = np.ascontiguousarray(offset, dtype=dtype)
    positive, negative = np.empty(shape, dtype=dtype), np.empty(shape, dtype=dtype)
    if shape[1] <= _FEW_CLASSES:
        logits = np.empty(shape, dtype=dtype)
        opposite = shape[1] == 2 and not (beta.sum(axis=1).any() or offset.sum())
        rows = np.ascontiguousarray(features), np.ascontiguousarray(centre, dtype=dtype)
        _direct(*rows, coefficients, share, opposite, logits, positive, negative)
        return Pooled(logits, positive, negative)
    centred = np.ascontiguousarray(features - centre)
    absolute = np.zeros(shape)
    _absolute_sums(centred, coefficients, share, absolute)
    logits = centred @ coefficients.T + dtype.type(centred.shape[1]) * share
    small = one_sided(np.finfo(dtype).bits)
    _split(absolute, logits, centred, coefficients, share, small, positive, negative)
    return Pooled(logits, positive, negative)


@numba.njit(cache=True)
def _chances(weight):
    """Return e^−w and 1 − e^−w, each with relative accuracy, from one exponential."""
    if weight > 0.5:
        silent = np.exp(-weight)
        return silent, 1.0 - silent
    fires = -np.expm1(-weight)
    return 1.0 - fires, fires


@numba.njit(parallel=True, cache=True)
def _opposite_forms(w_for, w_against, probability, plausibility, belief, scalars):
    """Compute the closed forms of two opposite classes.

    With a = e^{−W⁺} of the class with the larger logit, b of the other and r = a / b, the common
    denominator is 1 + r − a.
    """
    for i in numba.prange(w_for.shape[0]):
        one = 0 if w_for[i, 0] >= w_for[i, 1] else 1
        two = 1 - one
        # In double precision: e^-100 is almost zero in single, and r is a ratio of such numbers.
        larger = np.float64(w_for[i, one]) + w_against[i, two]
        smaller = np.float64(w_for[i, two]) + w_against[i, one]
        a, not_a = _chances(larger)
        b, not_b = _chances(smaller)
        r = a / b if a > _SMALLEST_CHANCE else np.exp(smaller - larger)
        over = 1.0 / (1.0 + (r - a))
        p = 1.0 / (1.0 + r)
        pl_one, pl_two = min(1.0, over), min(1.0, r * over)
        probability[i, one], probability[i, two] = p, r * p
        plausibility[i, one], plausibility[i, two] = pl_one, pl_two
        belief[i, one] = min(pl_one, not_a * over)
        belief[i, two] = min(pl_two, not_b * (r * over))
        scalars[0, i] = min(1.0, a * over)
        scalars[1, i] = not_a * not_b


@numba.njit(cache=True)
def _one_row(
    i, logits, w_for, w_against, probability, plausibility, belief, scalars, hard, scratch
):
    n_classes = logits.shape[1]
    odds, denied_before, fires, denied = scratch
    shift = logits[i, 0]
    for k in range(1, n_classes):
        shift = max(shift, logits[i, k])
    total_against = sum_odds = sum_s = open_sum = 0.0
    product = none = 1.0
    one = two = contradicted = 0.0
    for k in range(n_classes):
        silent, fires[k] = _chances(w_for[i, k])
        u, denied[k] = _chances(w_against[i, k])
        odds[k] = np.exp(logits[i, k] - shift)
        sum_odds += odds[k]
        sum_s += odds[k] * fires[k]
        open_sum += u * product  # 1 − P, class by class
        denied_before[k] = product
        product *= denied[k]
        two += one * fires[k]
        one = one * silent + none * fires[k]
        contradicted = contradicted * silent + none * fires[k] * denied[k]
        none *= silent
        total_against += w_against[i, k]
    d = sum_s + open_sum * np.exp(-shift) if shift > _SMALLEST_SHIFT else 0.0
    hard[i] = not d > _SMALLEST_D
    if hard[i]:
        return
    after = 1.0
    for k in range(n_classes - 1, -1, -1):
        pl = min(1.0, odds[k] / d)
        # fires and silent add up to one, so the ratio is at most one.
        ratio = fires[k] + (1.0 - fires[k]) * denied_before[k] * after
        plausibility[i, k] = pl
        belief[i, k] = pl * min(1.0, ratio)
        probability[i, k] = odds[k] / sum_odds
        after *= denied[k]
    kappa = min(1.0, two + contradicted + none * product)
    scalars[0, i] = min(1.0, np.exp(-total_against - shift) / d)
    scalars[1, i] = kappa


@numba.njit(parallel=True, cache=True)
def _row_forms(logits, w_for, w_against, probability, plausibility, belief, scalars, hard):
    """Compute the closed forms of each row without logarithms, where nothing can underflow.

    Every formula is a sum of products of nonnegative numbers, so the only risk is underflow
    (docs/background/theory.md, section 6). Rows where it is possible are marked ``hard``.
    """
    n, n_classes = logits.shape
    for chunk in numba.prange((n + _ROWS_PER_TASK - 1) // _ROWS_PER_TASK):
        scratch = np.empty((4, n_classes))
        for i in range(chunk * _ROWS_PER_TASK, min(n, (chunk + 1) * _ROWS_PER_TASK)):
            _one_row(
                i,
                logits,
                w_for,
                w_against,
                probability,
                plausibility,
                belief,
                scalars,
                hard,
                scratch,
            )


def closed_forms(pooled: Pooled) -> Forms:
    """Return the closed forms of every row; the reference is in ``closed_forms.py``."""
    n, n_classes = pooled.logits.shape
    dtype = pooled.logits.dtype
    by_class = [np.empty((n, n_classes), dtype=dtype) for _ in range(3)]
    scalars, hard = np.empty((2, n), dtype=dtype), np.empty(n, dtype=np.bool_)
    given = [np.ascontiguousarray(array) for array in pooled]
    if n_classes == 2 and np.array_equal(given[1], given[2][:, ::-1]):
        _opposite_forms(*given[1:], *by_class, scalars)
        return Forms(*by_class, *scalars)
    _row_forms(*given, *by_class, scalars, hard)
    result = Forms(*by_class, *scalars)
    if hard.any():
        rows = Pooled(*(array[hard] for array in pooled))
        for values, those in zip(result, reference_closed_forms(rows), strict=True):
            values[hard] = those
    return result


@numba.njit(parallel=True, cache=True)
def _sparse_sums(data, indices, indptr, centre, beta, offset, absolute, logits):
    """Add how much each stored entry changes Σ|w| and Σw, compared with a zero feature."""
    n_classes = beta.shape[1]
    for i in numba.prange(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            j, x = indices[p], data[p]
            for k in range(n_classes):
                change = x * beta[j, k]
                absent = offset[k] - centre[j] * beta[j, k]
                absolute[i, k] += abs(absent + change) - abs(absent)
                logits[i, k] += change


def pool_linear_sparse(
    features: Array, centre: FloatArray, beta: FloatArray, offset: FloatArray
) -> Pooled:
    """Pool over CSR features; see :func:`shafer.kernels.sparse_pooling.pool_linear_sparse`."""
    wide = [np.ascontiguousarray(array, dtype=np.float64) for array in (centre, beta, offset)]
    at_zero = wide[2] - wide[0][:, None] * wide[1]
    n = features.shape[0]
    absolute = np.tile(np.abs(at_zero).sum(axis=0), (n, 1))
    logits = np.tile(at_zero.sum(axis=0), (n, 1))
    _sparse_sums(features.data, features.indices, features.indptr, *wide, absolute, logits)
    absolute = np.maximum(absolute, np.abs(logits))
    parts = logits, 0.5 * (absolute + logits), 0.5 * (absolute - logits)
    return Pooled(*(a.astype(beta.dtype, copy=False) for a in parts))


__all__ = ["closed_forms", "pool_linear", "pool_linear_sparse"]
