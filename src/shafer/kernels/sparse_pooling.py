"""Pool the weights of a linear model over sparse features, in O(nnz · K).

A zero feature gives the same weights in every row. They are summed once per class. Each stored
entry then adds the difference that it makes.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import sparse

from shafer._typing import Array, FloatArray
from shafer.kernels.pooling import Pooled

# Stored entries × classes of the largest temporary array (16 MB in double precision).
_BLOCK = 2**21


def _row_blocks(indptr: FloatArray, n_classes: int) -> list[slice]:
    """Split the rows into blocks of at most ``_BLOCK`` stored entries × classes."""
    most = max(1, _BLOCK // n_classes)
    cuts, n = [0], len(indptr) - 1
    while cuts[-1] < n:
        end = int(np.searchsorted(indptr, indptr[cuts[-1]] + most, side="right")) - 1
        cuts.append(min(max(end, cuts[-1] + 1), n))
    return [slice(a, b) for a, b in pairwise(cuts)]


def pool_linear_sparse(
    features: Array, centre: FloatArray, beta: FloatArray, offset: FloatArray
) -> Pooled:
    """Pool the weights β (φ − μ) + b/J of a linear model.

    Parameters
    ----------
    features : CSR array of shape (n, J)
    centre : array of shape (J,)
        Means of the features over the background data.
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
    # Both sums have positive and negative terms; rounding must not leave a result below zero.
    positive = np.clip(positive + positive_at_zero.sum(axis=0), 0, None)
    negative = np.clip(negative + negative_at_zero.sum(axis=0), 0, None)
    logits = features @ beta64 + at_zero.sum(axis=0)
    return Pooled(*(a.astype(beta.dtype, copy=False) for a in (logits, positive, negative)))
