"""What numba kernels need to become vector code: full-width registers, and an exponential.

numba has no exponential that it can vectorise, so a loop that calls ``np.exp`` runs one number at a
time. The one here is plain arithmetic. Its error is below 1.3 units in the last place.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from shafer._typing import Array

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, misc"
# The compiler infers types from the arguments; annotations inside compiled code have no effect.


# Multiplications and additions may be fused. Sums are not reordered: a row gets the same numbers
# in any batch.
FUSED: Any = {"contract"}

# Adding this to a small number rounds it to an integer, which is then in the lowest bits.
_ROUND = 6755399441055744.0  # 1.5 · 2^52
_PER_LN2 = 1.4426950408889634
# ln 2 in two parts; the first has zeros at its end, so that its product with n is exact.
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_SMALLEST_POWER = -1000.0  # of two, in one factor
_ONE = 1023 << 52  # the bits of 1.0: its exponent is 1023
_C2, _C3, _C4, _C5, _C6, _C7 = (1.0 / math.factorial(k) for k in range(2, 8))
_C8, _C9, _C10, _C11, _C12, _C13 = (1.0 / math.factorial(k) for k in range(8, 14))


@intrinsic
def use_full_width(_):  # pragma: no cover - runs in the compiler
    """Let the function that calls this use registers of 512 bits where the processor has them.

    LLVM prefers 256 bits on Intel processors. The attribute changes that for one function, and
    leaves the user's own numba code alone. Callers need it too: LLVM may move the code into them.
    """

    def generate(context, builder, _, __):
        # llvmlite checks names against a list that lacks this one; LLVM knows it.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def _bits(_, value):  # pragma: no cover - runs in the compiler
    del value

    def generate(_, builder, __, args):
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def _from_bits(_, value):  # pragma: no cover - runs in the compiler
    del value

    def generate(_, builder, __, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), generate


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def _power_of_two(rounded):
    return _from_bits((_bits(rounded) << 52) + _ONE)


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def power_and_rest(x):
    r"""Return :math:`2^n` and :math:`e^r - 1` with :math:`x = n \ln 2 + r`, :math:`|r| \le 0.35`.

    Their product plus the power is e^x; below −745 it is zero. Takes finite x up to 700.
    """
    x = max(x, -800.0)
    n = (x * _PER_LN2 + _ROUND) - _ROUND
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    r2 = r * r
    r4 = r2 * r2
    low = (_C2 + _C3 * r) + (_C4 + _C5 * r) * r2
    middle = (_C6 + _C7 * r) + (_C8 + _C9 * r) * r2
    high = (_C10 + _C11 * r) + (_C12 + _C13 * r) * r2
    rest = r + r2 * (low + (middle + high * r4) * r4)
    # In two factors: the smallest doubles are below the smallest power that has full digits.
    first = max(n, _SMALLEST_POWER)
    power = _power_of_two(first + _ROUND) * _power_of_two((n - first) + _ROUND)
    return power, rest


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def exponential(x):
    """Return e^x for finite x up to 700."""
    power, rest = power_and_rest(x)
    return power + power * rest


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def chances(weight):
    """Return e^−w and 1 − e^−w for w ≥ 0, each with relative accuracy, from one exponential."""
    power, rest = power_and_rest(-weight)
    change = power * rest
    return power + change, (1.0 - power) - change


@numba.njit(cache=True)
def aligned(size):
    """Return zeros that start at a cache line: a register is then loaded from one line."""
    raw = np.zeros(size + 7)
    skip = (64 - raw.ctypes.data % 64) % 64 // 8
    return raw[skip : skip + size]


def read_only(array: Array) -> Array:
    """Return a contiguous array that cannot be written to.

    numba compiles a kernel again for each combination of arrays that can and that cannot.
    """
    constant = np.ascontiguousarray(array).view()
    constant.flags.writeable = False
    return constant


# Sums of weights with a class in each lane of the vector registers: for few rows.


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def _add_sizes(b0, b1, b2, b3, x0, x1, x2, x3, offset, size, total):
    """Add |w| and w of four features, for all classes."""
    use_full_width()
    for k in range(size.shape[0]):
        o = np.float64(offset[k])
        w0 = np.float64(b0[k]) * x0 + o
        w1 = np.float64(b1[k]) * x1 + o
        w2 = np.float64(b2[k]) * x2 + o
        w3 = np.float64(b3[k]) * x3 + o
        size[k] += (abs(w0) + abs(w1)) + (abs(w2) + abs(w3))
        total[k] += (w0 + w1) + (w2 + w3)


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def _add_size(b0, x0, offset, size, total):
    use_full_width()
    for k in range(size.shape[0]):
        w = np.float64(b0[k]) * x0 + np.float64(offset[k])
        size[k] += abs(w)
        total[k] += w


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def _sum_sizes(row, beta, offset, k0, k1, size, total):
    use_full_width()
    n_features = row.shape[0]
    fours = n_features // 4 * 4
    share = offset[k0:k1]
    size[:], total[:] = 0.0, 0.0
    for j in range(0, fours, 4):
        _add_sizes(
            beta[j, k0:k1],
            beta[j + 1, k0:k1],
            beta[j + 2, k0:k1],
            beta[j + 3, k0:k1],
            row[j],
            row[j + 1],
            row[j + 2],
            row[j + 3],
            share,
            size,
            total,
        )
    for j in range(fours, n_features):
        _add_size(beta[j, k0:k1], row[j], share, size, total)


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def _sides(row, beta, offset, k):
    """Sum the positive and the negative weights of one class, in the order of ``pool_blocks``."""
    n_features, o = row.shape[0], np.float64(offset[k])
    fours = n_features // 4 * 4
    up = down = 0.0
    for j in range(0, fours, 4):
        w0 = beta[j, k] * row[j] + o
        w1 = beta[j + 1, k] * row[j + 1] + o
        w2 = beta[j + 2, k] * row[j + 2] + o
        w3 = beta[j + 3, k] * row[j + 3] + o
        up += (max(w0, 0.0) + max(w1, 0.0)) + (max(w2, 0.0) + max(w3, 0.0))
        down -= (min(w0, 0.0) + min(w1, 0.0)) + (min(w2, 0.0) + min(w3, 0.0))
    for j in range(fours, n_features):
        w = beta[j, k] * row[j] + o
        up += max(w, 0.0)
        down -= min(w, 0.0)
    return up, down


@numba.njit(nogil=True, fastmath=FUSED, error_model="numpy", cache=True)
def pool_single_rows(features, centre, beta, offset, k0, k1, logits, positive, negative):
    """Pool all rows, one by one, for some classes."""
    use_full_width()
    n, n_features = features.shape
    few = n_features < FEW_FEATURES
    row, size, total = np.empty(n_features), np.empty(k1 - k0), np.empty(k1 - k0)
    for i in range(n):
        for j in range(n_features):
            row[j] = features[i, j] - np.float64(centre[j])
        if not few:
            _sum_sizes(row, beta, offset, k0, k1, size, total)
        for k in range(k1 - k0):
            up, down = 0.5 * (size[k] + total[k]), 0.5 * (size[k] - total[k])
            if few or size[k] - abs(total[k]) <= ONE_SIDED * size[k]:
                up, down = _sides(row, beta, offset, k0 + k)
            positive[i, k0 + k], negative[i, k0 + k] = up, down
            logits[i, k0 + k] = up - down


# Sums of weights with a feature in each lane of the vector registers: for few classes.

# Sums may be reordered, so that lanes are added at the end. The order is the same for each row.
_REORDERED: Any = {"reassoc", "contract", "nsz"}
_TILE = 1024  # features summed in the precision of the input before the double total


@numba.njit(fastmath=_REORDERED, error_model="numpy", cache=True)
def _subtract(row, centre, out):
    use_full_width()
    for j in range(row.shape[0]):
        out[j] = row[j] - centre[j]


@numba.njit(fastmath=_REORDERED, error_model="numpy", cache=True)
def _two_sides(row, beta, offset):
    use_full_width()
    up = down = row[0] - row[0]  # zero, of the precision of the input
    for j in range(row.shape[0]):
        w = beta[j] * row[j] + offset
        up += max(w, 0)
        down += max(-w, 0)
    return up, down


@numba.njit(error_model="numpy", cache=True)
def _are_opposite(beta, offset):
    """Tell whether there are two classes with opposite weights: then one of them is enough."""
    if beta.shape[0] != 2 or offset[0] + offset[1] != 0.0:
        return False
    different = 0
    for j in range(beta.shape[1]):
        different += beta[0, j] + beta[1, j] != 0.0
    return different == 0


@numba.njit(nogil=True, error_model="numpy", cache=True)
def pool_few_classes(features, centre, beta, offset, first, last, logits, positive, negative):
    """Pool some rows; ``beta`` is (K, J). Of two opposite classes one is computed."""
    use_full_width()
    n_features = features.shape[1]
    opposite = _are_opposite(beta, offset)
    row = np.empty(n_features, dtype=features.dtype)
    for i in range(first, last):
        _subtract(features[i], centre, row)
        for k in range(1 if opposite else beta.shape[0]):
            up, down = 0.0, 0.0
            for start in range(0, n_features, _TILE):
                end = min(n_features, start + _TILE)
                more_up, more_down = _two_sides(row[start:end], beta[k, start:end], offset[k])
                up, down = up + more_up, down + more_down
            positive[i, k], negative[i, k] = up, down
            logits[i, k] = up - down
        if opposite:
            positive[i, 1], negative[i, 1] = negative[i, 0], positive[i, 0]
            logits[i, 1] = -logits[i, 0]


# The sums and products behind the closed forms, for 64 lanes at a time.

LANES = 64
# What is given of one class: logit minus the largest, w⁺, w⁻.
Z, FOR, AGAINST, GIVEN_SIZE = 0, LANES, 2 * LANES, 3 * LANES
# What is kept of one class: e^z, 1 − e^{−w⁺}, v, and the product of the v of other classes.
ODDS, FIRES, DENIED, OTHERS, KEPT_SIZE = 0, LANES, 2 * LANES, 3 * LANES, 4 * LANES
# What is summed over the classes: the chances that evidence for no class holds, for one class, for
# two or more, for one that is denied as well; P, 1 − P, Σ e^z, Σ s.
NONE, ONE, TWO, CONTRADICTED = 0, LANES, 2 * LANES, 3 * LANES
PRODUCT, OPEN, SUM_ODDS, SUM_S = 4 * LANES, 5 * LANES, 6 * LANES, 7 * LANES
STATE_SIZE = 8 * LANES


@numba.njit(error_model="numpy", cache=True)
def start(state):
    """Write the state before the first class."""
    state[:] = 0.0
    state[NONE : NONE + LANES] = 1.0
    state[PRODUCT : PRODUCT + LANES] = 1.0


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def add_class(given, state, kept):
    """Add a class to the state of each lane; ``OTHERS`` is the product of the classes before it."""
    use_full_width()
    for b in range(LANES):
        silent, fires = chances(given[FOR + b])
        u, denied = chances(given[AGAINST + b])
        odds = exponential(given[Z + b])
        none, one, product = state[NONE + b], state[ONE + b], state[PRODUCT + b]
        first = none * fires
        state[TWO + b] += one * fires
        state[ONE + b] = one * silent + first
        state[CONTRADICTED + b] = state[CONTRADICTED + b] * silent + first * denied
        state[NONE + b] = none * silent
        state[OPEN + b] += u * product
        state[PRODUCT + b] = product * denied
        state[SUM_ODDS + b] += odds
        state[SUM_S + b] += odds * fires
        kept[ODDS + b] = odds
        kept[FIRES + b] = fires
        kept[DENIED + b] = denied
        kept[OTHERS + b] = product


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def joined(state):
    """Join the lanes of one row; the result is in the first lane."""
    for b in range(1, LANES):
        none, one, product = state[NONE], state[ONE], state[PRODUCT]
        more_none, more_one = state[NONE + b], state[ONE + b]
        more_two = state[TWO + b]
        state[TWO] += one * (more_one + more_two) + none * more_two
        state[ONE] = one * more_none + none * more_one
        state[CONTRADICTED] = state[CONTRADICTED] * more_none + none * state[CONTRADICTED + b]
        state[NONE] = none * more_none
        state[OPEN] += product * state[OPEN + b]
        state[PRODUCT] = product * state[PRODUCT + b]
        state[SUM_ODDS] += state[SUM_ODDS + b]
        state[SUM_S] += state[SUM_S + b]


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def class_forms(kept, d, total, result):
    """Write probability, plausibility and belief; ``d`` and ``total`` are given for each lane."""
    use_full_width()
    for b in range(LANES):
        odds, fires = kept[ODDS + b], kept[FIRES + b]
        plausibility = min(1.0, odds / d[b])
        # The chances add up to one, so the ratio is at most one up to rounding.
        ratio = fires + (1.0 - fires) * kept[OTHERS + b]
        result[b] = odds / total[b]
        result[LANES + b] = plausibility
        result[2 * LANES + b] = plausibility * min(1.0, ratio)


# Sums of weights with a row in each lane of the vector registers: for many rows and classes.

# Sizes of blocks. They change speed alone.
CLASSES = 256  # classes whose sums are kept for a block: 256 KB
_ROW_TILE = 128  # features of a block, a multiple of 4; with 64 rows 64 KB
_LINE = 8  # doubles in a cache line

# Summing |w| and w is faster than summing both sides. But (Σ|w| ± Σw) / 2 loses digits of the
# smaller side. Where that is below this share, both sides are summed in a second pass.
ONE_SIDED = 1e-3
# With few features this would happen often, so they have only the second pass.
FEW_FEATURES = 32


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def _fill_eight(features, centre, i, b, start, width, tile):
    """Write eight rows into neighbouring lanes: whole registers, no scattered writes."""
    for j in range(width):
        mean, at = np.float64(centre[start + j]), j * LANES + b
        tile[at] = features[i, start + j] - mean
        tile[at + 1] = features[i + 1, start + j] - mean
        tile[at + 2] = features[i + 2, start + j] - mean
        tile[at + 3] = features[i + 3, start + j] - mean
        tile[at + 4] = features[i + 4, start + j] - mean
        tile[at + 5] = features[i + 5, start + j] - mean
        tile[at + 6] = features[i + 6, start + j] - mean
        tile[at + 7] = features[i + 7, start + j] - mean


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def _fill_tile(features, centre, first, rows, start, width, tile):
    eights = rows // 8 * 8
    for b in range(0, eights, 8):
        _fill_eight(features, centre, first + b, b, start, width, tile)
    for b in range(eights, rows):
        for j in range(width):
            tile[j * LANES + b] = features[first + b, start + j] - np.float64(centre[start + j])


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def _add_row_sizes(tile, sums, beta, o):
    """Add |w| and w of the features of a tile, for one class."""
    use_full_width()
    fours = beta.shape[0] // 4 * 4
    for j in range(0, fours, 4):
        b0, b1, b2, b3 = beta[j], beta[j + 1], beta[j + 2], beta[j + 3]
        part = tile[j * LANES : (j + 4) * LANES]
        for b in range(LANES):
            w0 = b0 * part[b] + o
            w1 = b1 * part[b + LANES] + o
            w2 = b2 * part[b + 2 * LANES] + o
            w3 = b3 * part[b + 3 * LANES] + o
            sums[b] += (abs(w0) + abs(w1)) + (abs(w2) + abs(w3))
            sums[b + LANES] += (w0 + w1) + (w2 + w3)
    for j in range(fours, beta.shape[0]):
        part = tile[j * LANES : (j + 1) * LANES]
        for b in range(LANES):
            w = beta[j] * part[b] + o
            sums[b] += abs(w)
            sums[b + LANES] += w


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def _add_sides(tile, sums, beta, o):
    """Add the positive and the negative weights of the features of a tile, for one class."""
    use_full_width()
    fours = beta.shape[0] // 4 * 4
    for j in range(0, fours, 4):
        b0, b1, b2, b3 = beta[j], beta[j + 1], beta[j + 2], beta[j + 3]
        part = tile[j * LANES : (j + 4) * LANES]
        for b in range(LANES):
            w0 = b0 * part[b] + o
            w1 = b1 * part[b + LANES] + o
            w2 = b2 * part[b + 2 * LANES] + o
            w3 = b3 * part[b + 3 * LANES] + o
            sums[b] += (max(w0, 0.0) + max(w1, 0.0)) + (max(w2, 0.0) + max(w3, 0.0))
            sums[b + LANES] -= (min(w0, 0.0) + min(w1, 0.0)) + (min(w2, 0.0) + min(w3, 0.0))
    for j in range(fours, beta.shape[0]):
        part = tile[j * LANES : (j + 1) * LANES]
        for b in range(LANES):
            w = beta[j] * part[b] + o
            sums[b] += max(w, 0.0)
            sums[b + LANES] -= min(w, 0.0)


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def _sweep(features, centre, beta, offset, first, rows, k0, chosen, sides, tile, column, sums):
    """Sum over all features for the chosen classes, tile by tile."""
    use_full_width()
    n_features = features.shape[1]
    for start in range(0, n_features, _ROW_TILE):
        width = min(_ROW_TILE, n_features - start)
        _fill_tile(features, centre, first, rows, start, width, tile)
        for k in range(chosen.shape[0]):
            if not chosen[k]:
                continue
            for j in range(width):
                column[j] = beta[start + j, k0 + k]
            here = sums[k * 2 * LANES : (k + 1) * 2 * LANES]
            if sides:
                _add_sides(tile, here, column[:width], np.float64(offset[k0 + k]))
            else:
                _add_row_sizes(tile, here, column[:width], np.float64(offset[k0 + k]))


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def _split(sums, rows, chosen):
    """Turn Σ|w| and Σw into both sides; choose the classes where that loses digits, and clear them.

    Returns whether there are any.
    """
    use_full_width()
    found = False
    for k in range(chosen.shape[0]):
        here = sums[k * 2 * LANES : (k + 1) * 2 * LANES]
        lost = 0
        for b in range(rows):
            lost += here[b] - abs(here[b + LANES]) <= ONE_SIDED * here[b]
        chosen[k] = lost > 0
        found = found or lost > 0
        if lost > 0:
            here[:] = 0.0
        else:
            for b in range(LANES):
                size, z = here[b], here[b + LANES]
                here[b], here[b + LANES] = 0.5 * (size + z), 0.5 * (size - z)
    return found


@numba.njit(error_model="numpy", cache=True)
def _store(sums, first, rows, k0, count, logits, positive, negative):
    """Write the sums of a block, a cache line of classes at a time."""
    for line in range(0, count, _LINE):
        for b in range(rows):
            for k in range(line, min(line + _LINE, count)):
                up, down = sums[k * 2 * LANES + b], sums[(k * 2 + 1) * LANES + b]
                positive[first + b, k0 + k] = up
                negative[first + b, k0 + k] = down
                logits[first + b, k0 + k] = up - down


@numba.njit(nogil=True, error_model="numpy", cache=True)
def pool_blocks(features, centre, beta, offset, first, last, k0, k1, logits, positive, negative):
    """Pool some rows for at most 256 classes, block by block."""
    use_full_width()
    count, few = k1 - k0, features.shape[1] < FEW_FEATURES
    tile, sums = aligned(LANES * _ROW_TILE), aligned(2 * LANES * count)
    column, chosen = np.empty(_ROW_TILE), np.empty(count, dtype=np.bool_)
    for start in range(first, last, LANES):
        rows = min(LANES, last - start)
        sums[:] = 0.0
        chosen[:] = True
        head = (features, centre, beta, offset, start, rows, k0, chosen)
        if few:
            _sweep(*head, True, tile, column, sums)
        else:
            _sweep(*head, False, tile, column, sums)
            if _split(sums, rows, chosen):
                _sweep(*head, True, tile, column, sums)
        _store(sums, start, rows, k0, count, logits, positive, negative)
