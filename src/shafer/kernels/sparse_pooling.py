"""Pooling of a linear head over sparse features, at a cost of O(nnz · K).

A zero feature contributes the same weights to every row. They are summed once per class, and each
stored entry only adds the difference it makes.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import sparse

from shafer._typing import Array, FloatArray
from shafer.kernels.pooling import Pooled

_BLOCK = 2**21


def _row_blocks(indptr: FloatArray, n_classes: int) -> list[slice]:
    """Cut the rows so that a block holds few enough stored entries."""
    most = max(1, _BLOCK // n_classes)
    cuts, n = [0], len(indptr) - 1
    while cuts[-1] < n:
        end = int(np.searchsorted(indptr, indptr[cuts[-1]] + most, side="right")) - 1
        cuts.append(min(max(end, cuts[-1] + 1), n))
    return [slice(a, b) for a, b in pairwise(cuts)]


def pool_linear_sparse(
    features: Array, centre: FloatArray, beta: FloatArray, offset: FloatArray
) -> Pooled:
    """Pool the weights β (φ − μ) + b/J of a linear head.

    Parameters
    ----------
    features : CSR array of shape (n, J)
    centre : array of shape (J,)
        Feature means over the background.
    beta : array of shape (J, K)
    offset : array of shape (K,)
    """
    beta64 = beta.astype(np.float64)
    at_zero = offset - centre[:, None] * beta64  # (J, K): the weights of an absent feature
    positive_at_zero = np.clip(at_zero, 0, None)
    negative_at_zero = np.clip(-at_zero, 0, None)
    positive = np.empty((features.shape[0], beta.shape[1]))
    negative = np.empty_like(positive)
    for rows in _row_blocks(features.indptr, beta.shape[1]):
        start, stop = features.indptr[rows.start], features.indptr[rows.stop]
        column = features.indices[start:stop]
        weights = features.data[start:stop, None] * beta64[column] + at_zero[column]
        indptr = features.indptr[rows.start : rows.stop + 1] - start
        row_of = sparse.csr_array(
            (np.ones(stop - start), np.arange(stop - start), indptr),
            shape=(len(indptr) - 1, stop - start),
        )
        positive[rows] = row_of @ (np.clip(weights, 0, None) - positive_at_zero[column])
        negative[rows] = row_of @ (np.clip(-weights, 0, None) - negative_at_zero[column])
    # The two sums are of either sign; what they cancel to must not fall below zero by rounding.
    positive = np.clip(positive + positive_at_zero.sum(axis=0), 0, None)
    negative = np.clip(negative + negative_at_zero.sum(axis=0), 0, None)
    logits = features @ beta64 + at_zero.sum(axis=0)
    return Pooled(*(a.astype(beta.dtype, copy=False) for a in (logits, positive, negative)))
