"""What numba kernels need to become vector code: full-width registers, and an exponential.

numba has no exponential that it can vectorise, so a loop that calls ``np.exp`` runs one number at a
time. The one here is the arithmetic of ``arithmetic.py``, which NumPy runs as well.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from shafer._kernels.arithmetic import (
    BITS_OF_ONE,
    LEAST_EXPONENT,
    ROUND,
    SMALLEST_POWER,
    exponent_and_rest,
    joined_chances,
    with_one_more,
)
from shafer._kernels.compiled.kernel import kernel
from shafer._kernels.pooling import FEW_FEATURES, LANES_OF_FEATURES, one_sided
from shafer._typing import Array

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, misc"
# The compiler infers types from the arguments; annotations inside compiled code have no effect.


# No fast mathematics: multiplications and additions are not fused, sums are not reordered. So NumPy
# gets the same bits (``direct_forms.py``, ``pooling.py``), and a row gets them in any batch.
_ONE_SIDED = one_sided(64)
_exponent_and_rest = kernel(error_model="numpy")(exponent_and_rest)
_with_one_more = kernel(error_model="numpy")(with_one_more)
_joined_chances = kernel(error_model="numpy")(joined_chances)


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


@kernel(error_model="numpy")
def _power_of_two(rounded):
    return _from_bits((_bits(rounded) << 52) + BITS_OF_ONE)


@kernel(error_model="numpy")
def power_and_rest(x):
    r"""Return :math:`2^n` and :math:`e^r - 1` with :math:`x = n \ln 2 + r`, :math:`|r| \le 0.35`.

    Their product plus the power is e^x; below −745 it is zero. Takes finite x up to 700.
    """
    n, rest = _exponent_and_rest(max(x, LEAST_EXPONENT))
    # In two factors: the smallest doubles are below the smallest power that has full digits.
    first = max(n, SMALLEST_POWER)
    power = _power_of_two(first + ROUND) * _power_of_two((n - first) + ROUND)
    return power, rest


@kernel(error_model="numpy")
def exponential(x):
    """Return e^x for finite x up to 700."""
    power, rest = power_and_rest(x)
    return power + power * rest


@kernel(error_model="numpy")
def chances(weight):
    """Return e^−w and 1 − e^−w for w ≥ 0, each with relative accuracy, from one exponential."""
    power, rest = power_and_rest(-weight)
    change = power * rest
    return power + change, (1.0 - power) - change


@kernel()
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


@kernel(error_model="numpy")
def _loses_digits(size, z):
    return size - abs(z) <= _ONE_SIDED * size


@kernel(error_model="numpy")
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


@kernel(error_model="numpy")
def _add_size(b0, x0, offset, size, total):
    use_full_width()
    for k in range(size.shape[0]):
        w = np.float64(b0[k]) * x0 + np.float64(offset[k])
        size[k] += abs(w)
        total[k] += w


@kernel(error_model="numpy")
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


@kernel(error_model="numpy")
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


@kernel(nogil=True, error_model="numpy")
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
            if few or _loses_digits(size[k], total[k]):
                up, down = _sides(row, beta, offset, k0 + k)
            positive[i, k0 + k], negative[i, k0 + k] = up, down
            logits[i, k0 + k] = up - down


# Sums of weights with a feature in each lane of the vector registers: for few classes.


@intrinsic
def _two_sides(_, row, beta, offset, up, down):  # pragma: no cover - runs in the compiler
    """Sum both sides of the weights, with every 16th feature in the same lane.

    Written for vectors: from a loop over an array of 16 sums LLVM makes code of five times the
    run time.
    """
    arrays = (row, beta, offset, up, down)

    def generate(context, builder, signature, args):
        kind = ir.VectorType(ir.DoubleType(), LANES_OF_FEATURES)
        made = [
            context.make_array(array)(context, builder, arg)
            for array, arg in zip(signature.args, args, strict=True)
        ]
        *given, up_at, down_at = (array.data for array in made)
        size, zero = made[0].nitems, ir.Constant(kind, [0.0] * LANES_OF_FEATURES)
        sums = [cgutils.alloca_once_value(builder, zero) for _ in range(2)]
        groups = builder.udiv(size, size.type(LANES_OF_FEATURES))
        with cgutils.for_range(builder, groups) as loop:
            start = builder.mul(loop.index, size.type(LANES_OF_FEATURES))
            x, slope, share = (
                builder.load(
                    builder.bitcast(builder.gep(place, [start]), kind.as_pointer()), align=8
                )
                for place in given
            )
            w = builder.fadd(builder.fmul(slope, x), share)
            for total, side in zip(sums, (w, builder.fneg(w)), strict=True):
                part = builder.select(builder.fcmp_ordered(">", side, zero), side, zero)
                builder.store(builder.fadd(builder.load(total), part), total)
        for place, total in zip((up_at, down_at), sums, strict=True):
            out = builder.bitcast(place, kind.as_pointer())
            builder.store(builder.load(total), out, align=8)
        return context.get_dummy_value()

    return types.void(*arrays), generate


@kernel(error_model="numpy")
def _joined_lanes(lanes):
    """Add lanes to those half as many places before, until one is left."""
    for b in range(8):
        lanes[b] += lanes[b + 8]
    for b in range(4):
        lanes[b] += lanes[b + 4]
    return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])


@kernel(error_model="numpy")
def _are_opposite(beta, offset):
    """Tell whether there are two classes with opposite weights: then one of them is enough."""
    if beta.shape[0] != 2 or offset[0] + offset[1] != 0.0:
        return False
    different = 0
    for j in range(beta.shape[1]):
        different += beta[0, j] + beta[1, j] != 0.0
    return different == 0


@kernel(nogil=True, error_model="numpy")
def pool_few_classes(features, centre, beta, offset, first, last, logits, positive, negative):
    """Pool some rows; ``beta`` is (K, J). Of two opposite classes one is computed."""
    use_full_width()
    n_features, n_classes = features.shape[1], beta.shape[0]
    opposite = _are_opposite(beta, offset)
    # Filled up with features that weigh nothing, so that all lanes are full.
    whole = (n_features + LANES_OF_FEATURES - 1) // LANES_OF_FEATURES * LANES_OF_FEATURES
    row, up, down = aligned(whole), aligned(LANES_OF_FEATURES), aligned(LANES_OF_FEATURES)
    coefficients = aligned(n_classes * whole).reshape(n_classes, whole)
    shares = aligned(n_classes * whole).reshape(n_classes, whole)
    for k in range(n_classes):
        for j in range(n_features):
            coefficients[k, j], shares[k, j] = beta[k, j], offset[k]
    for i in range(first, last):
        for j in range(n_features):
            row[j] = features[i, j] - np.float64(centre[j])
        for k in range(1 if opposite else n_classes):
            _two_sides(row, coefficients[k], shares[k], up, down)
            one, other = _joined_lanes(up), _joined_lanes(down)
            positive[i, k], negative[i, k], logits[i, k] = one, other, one - other
            if opposite:
                positive[i, 1], negative[i, 1], logits[i, 1] = other, one, other - one


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


@kernel(error_model="numpy")
def start(state):
    """Write the state before the first class."""
    state[:] = 0.0
    state[NONE : NONE + LANES] = 1.0
    state[PRODUCT : PRODUCT + LANES] = 1.0


@kernel(error_model="numpy")
def add_class(given, state, kept):
    """Add a class to the state of each lane; ``OTHERS`` is the product of the classes before it."""
    use_full_width()
    for b in range(LANES):
        silent, fires = chances(given[FOR + b])
        u, denied = chances(given[AGAINST + b])
        odds = exponential(given[Z + b])
        none, one, product = state[NONE + b], state[ONE + b], state[PRODUCT + b]
        state[TWO + b] += one * fires
        state[ONE + b], state[CONTRADICTED + b] = _with_one_more(
            one, state[CONTRADICTED + b], none, silent, fires, denied
        )
        state[NONE + b] = none * silent
        state[OPEN + b] += u * product
        state[PRODUCT + b] = product * denied
        state[SUM_ODDS + b] += odds
        state[SUM_S + b] += odds * fires
        kept[ODDS + b] = odds
        kept[FIRES + b] = fires
        kept[DENIED + b] = denied
        kept[OTHERS + b] = product


@kernel(error_model="numpy")
def joined(state):
    """Join the lanes of one row, half of them at a time; the result is in the first lane."""
    half = LANES // 2
    while half:
        for b in range(half):
            other = b + half
            more = (state[NONE + other], state[ONE + other], state[TWO + other])
            none, one, two, contradicted = _joined_chances(
                state[NONE + b],
                state[ONE + b],
                state[TWO + b],
                state[CONTRADICTED + b],
                (*more, state[CONTRADICTED + other]),
            )
            state[NONE + b], state[ONE + b] = none, one
            state[TWO + b], state[CONTRADICTED + b] = two, contradicted
            state[OPEN + b] += state[PRODUCT + b] * state[OPEN + other]
            state[PRODUCT + b] *= state[PRODUCT + other]
            state[SUM_ODDS + b] += state[SUM_ODDS + other]
            state[SUM_S + b] += state[SUM_S + other]
        half //= 2


@kernel(error_model="numpy")
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


@kernel(error_model="numpy")
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


@kernel(error_model="numpy")
def _fill_tile(features, centre, first, rows, start, width, tile):
    eights = rows // 8 * 8
    for b in range(0, eights, 8):
        _fill_eight(features, centre, first + b, b, start, width, tile)
    for b in range(eights, rows):
        for j in range(width):
            tile[j * LANES + b] = features[first + b, start + j] - np.float64(centre[start + j])


@kernel(error_model="numpy")
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


@kernel(error_model="numpy")
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


@kernel(error_model="numpy")
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


@kernel(error_model="numpy")
def _choose(sums, rows, chosen):
    """Choose the classes with a row where Σ|w| and Σw would lose digits; tell if there are any."""
    found = False
    for k in range(chosen.shape[0]):
        here = sums[k * 2 * LANES : (k + 1) * 2 * LANES]
        lost = 0
        for b in range(rows):
            lost += _loses_digits(here[b], here[b + LANES])
        chosen[k] = lost > 0
        found = found or lost > 0
    return found


@kernel(error_model="numpy")
def _split(sums, sides, chosen):
    """Turn Σ|w| and Σw into both sides; take the sides where they were summed and needed."""
    use_full_width()
    for k in range(chosen.shape[0]):
        here = sums[k * 2 * LANES : (k + 1) * 2 * LANES]
        if chosen[k]:
            there = sides[k * 2 * LANES : (k + 1) * 2 * LANES]
            for b in range(LANES):
                size, z = here[b], here[b + LANES]
                lost = _loses_digits(size, z)
                here[b] = there[b] if lost else 0.5 * (size + z)
                here[b + LANES] = there[b + LANES] if lost else 0.5 * (size - z)
        else:
            for b in range(LANES):
                size, z = here[b], here[b + LANES]
                here[b], here[b + LANES] = 0.5 * (size + z), 0.5 * (size - z)


@kernel(error_model="numpy")
def _store(sums, first, rows, k0, count, logits, positive, negative):
    """Write the sums of a block, a cache line of classes at a time."""
    for line in range(0, count, _LINE):
        for b in range(rows):
            for k in range(line, min(line + _LINE, count)):
                up, down = sums[k * 2 * LANES + b], sums[(k * 2 + 1) * LANES + b]
                positive[first + b, k0 + k] = up
                negative[first + b, k0 + k] = down
                logits[first + b, k0 + k] = up - down


@kernel(nogil=True, error_model="numpy")
def pool_blocks(features, centre, beta, offset, first, last, k0, k1, logits, positive, negative):
    """Pool some rows for at most 256 classes, block by block."""
    use_full_width()
    count, few = k1 - k0, features.shape[1] < FEW_FEATURES
    tile, sums = aligned(LANES * _ROW_TILE), aligned(2 * LANES * count)
    sides = aligned(0 if few else 2 * LANES * count)
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
            if _choose(sums, rows, chosen):
                sides[:] = 0.0
                _sweep(*head, True, tile, column, sides)
            _split(sums, sides, chosen)
        _store(sums, start, rows, k0, count, logits, positive, negative)
