"""Sums of weights over sparse features, compiled by numba: the twin of ``sparse_pooling``."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, misc"
# The compiler infers types from the arguments; annotations inside compiled code have no effect.

from __future__ import annotations

import numba
import numpy as np

from shafer._typing import Array, FloatArray
from shafer.kernels.compiled.vector_code import read_only
from shafer.kernels.pooling import Pooled


@numba.njit(parallel=True, error_model="numpy", cache=True)
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


@numba.njit(error_model="numpy", cache=True)
def _sums_at_zero(centre, beta, offset):
    """Return Σ|w| and Σw of a row whose features are all zero."""
    n_features, n_classes = beta.shape
    absolute, total = np.zeros(n_classes), np.zeros(n_classes)
    for j in range(n_features):
        for k in range(n_classes):
            w = offset[k] - centre[j] * beta[j, k]
            absolute[k] += abs(w)
            total[k] += w
    return absolute, total


def pool_linear_sparse(
    features: Array, centre: FloatArray, beta: FloatArray, offset: FloatArray
) -> Pooled:
    """Pool over CSR features; see :func:`shafer.kernels.sparse_pooling.pool_linear_sparse`."""
    head = (centre, beta, offset)
    wide = [read_only(array.astype(np.float64, copy=False)) for array in head]
    n = features.shape[0]
    absolute, logits = (np.tile(total, (n, 1)) for total in _sums_at_zero(*wide))
    rows = [read_only(array) for array in (features.data, features.indices, features.indptr)]
    _sparse_sums(*rows, *wide, absolute, logits)
    absolute = np.maximum(absolute, np.abs(logits))
    parts = logits, 0.5 * (absolute + logits), 0.5 * (absolute - logits)
    return Pooled(*(a.astype(beta.dtype, copy=False) for a in parts))


__all__ = ["pool_linear_sparse"]
