"""Sums of weights with a feature in each lane of the vector registers: for few classes."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, misc"
# The compiler infers types from the arguments; annotations inside compiled code have no effect.

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from shafer.kernels.compiled.vector_code import use_full_width

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
