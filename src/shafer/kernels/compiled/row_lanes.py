"""Sums of weights with a row in each lane of the vector registers: for many rows and classes.

Rows are taken in blocks of 64. A block is transposed, so that one instruction works on a feature of
eight rows. Sums are in double precision, also for float32.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, misc"
# The compiler infers types from the arguments; annotations inside compiled code have no effect.

from __future__ import annotations

import numba
import numpy as np

from shafer.kernels.compiled.vector_code import FUSED, aligned, use_full_width

# Sizes of blocks. They change speed alone.
LANES = 64  # rows of a block: eight registers of 512 bits
CLASSES = 256  # classes whose sums are kept for a block: 256 KB
_TILE = 128  # features of a block, a multiple of 4; with 64 rows 64 KB
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
def _add_sizes(tile, sums, beta, o):
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
    for start in range(0, n_features, _TILE):
        width = min(_TILE, n_features - start)
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
                _add_sizes(tile, here, column[:width], np.float64(offset[k0 + k]))


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
    tile, sums = aligned(LANES * _TILE), aligned(2 * LANES * count)
    column, chosen = np.empty(_TILE), np.empty(count, dtype=np.bool_)
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
