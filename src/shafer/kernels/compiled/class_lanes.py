"""Sums of weights with a class in each lane of the vector registers: for few rows.

The order of the sums is that of ``row_lanes``, so a row gets the same numbers in any batch.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, misc"
# The compiler infers types from the arguments; annotations inside compiled code have no effect.

from __future__ import annotations

import numba
import numpy as np

from shafer.kernels.compiled.row_lanes import FEW_FEATURES, ONE_SIDED
from shafer.kernels.compiled.vector_code import FUSED, use_full_width


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
    """Sum the positive and the negative weights of one class, in the order of ``row_lanes``."""
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
