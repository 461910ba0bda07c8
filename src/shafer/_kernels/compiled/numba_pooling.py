"""Sums of weights, compiled by numba: the twin of ``pooling.py``, with equal bits.

What is in a lane of the vector registers depends on the shape: a feature (few classes), a row (many
rows), or a class (few rows). A row gets the same numbers in any batch.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from shafer._kernels.compiled.kernel import kernel
from shafer._kernels.compiled.numba_lanes import (
    CLASSES,
    LANES,
    pool_blocks,
    pool_few_classes,
    pool_single_rows,
    read_only,
)
from shafer._kernels.pooling import FEW_CLASSES, Pooled, from_size_and_sum, sums_at_zero
from shafer._typing import Array, FloatArray

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, misc"
# The compiler infers types from the arguments; annotations inside compiled code have no effect.


# Thresholds, as measured. They change speed alone.
_FEW_ROWS = 16  # below this, a class is in each lane
_SERIAL_WORK = 2**22  # weights below which waking threads may take longer than the sums
_SERIAL_WORK_OF_ONE_ROW = 2**20  # the same for few rows: they wait for memory
_TASKS_PER_THREAD = 4


@kernel(parallel=True, error_model="numpy")
def _in_row_tasks(features, centre, beta, offset, rows, logits, positive, negative):
    n = features.shape[0]
    for task in numba.prange((n + rows - 1) // rows):
        first = task * rows
        last = min(n, first + rows)
        pool_few_classes(features, centre, beta, offset, first, last, logits, positive, negative)


@kernel(parallel=True, error_model="numpy")
def _in_block_tasks(features, centre, beta, offset, rows, logits, positive, negative):
    n, n_classes = logits.shape
    by_row, by_class = (n + rows - 1) // rows, (n_classes + CLASSES - 1) // CLASSES
    for task in numba.prange(by_row * by_class):
        first, k0 = task // by_class * rows, task % by_class * CLASSES
        last, k1 = min(n, first + rows), min(n_classes, k0 + CLASSES)
        pool_blocks(features, centre, beta, offset, first, last, k0, k1, logits, positive, negative)


@kernel(parallel=True, error_model="numpy")
def _in_class_tasks(features, centre, beta, offset, classes, logits, positive, negative):
    n_classes = logits.shape[1]
    for task in numba.prange((n_classes + classes - 1) // classes):
        k0 = task * classes
        k1 = min(n_classes, k0 + classes)
        pool_single_rows(features, centre, beta, offset, k0, k1, logits, positive, negative)


def pool_linear(
    features: FloatArray, centre: FloatArray, beta: FloatArray, offset: FloatArray
) -> Pooled:
    """Pool the weights of a linear model; see :func:`shafer._kernels.pooling.pool_linear`."""
    n, n_classes = features.shape[0], beta.shape[1]
    few_rows = n < _FEW_ROWS
    serial = n * beta.size < (_SERIAL_WORK_OF_ONE_ROW if few_rows else _SERIAL_WORK)
    coefficients = beta if n_classes >= FEW_CLASSES else beta.T
    head = [read_only(array) for array in (features, centre, coefficients, offset)]
    pooled = Pooled(*np.empty((3, n, n_classes), dtype=features.dtype))  # one block: fewer pages
    if n_classes < FEW_CLASSES:
        if serial:
            pool_few_classes(*head, 0, n, *pooled)
        else:
            _in_row_tasks(*head, _share(n, 64), *pooled)
    elif few_rows:
        if serial:
            pool_single_rows(*head, 0, n_classes, *pooled)
        else:
            _in_class_tasks(*head, min(_share(n_classes, 64, 1), 1024), *pooled)
    elif serial and n_classes <= CLASSES:
        pool_blocks(*head, 0, n, 0, n_classes, *pooled)
    else:
        _in_block_tasks(*head, _share(n, LANES), *pooled)
    return pooled


def _share(size: int, step: int, tasks: int = _TASKS_PER_THREAD) -> int:
    """Return the size of one task, a multiple of ``step``."""
    threads = int(numba.get_num_threads())
    return -(-size // (tasks * threads * step)) * step


# Weights given in full, and those of contributions.

_SERIAL_DENSE_WORK = 2**20  # weights below which waking threads may take longer than the sums


@kernel(nogil=True, error_model="numpy")
def _pool_rows(weights, first, last, logits, positive, negative):
    """Sum the positive and the negative weights of some rows, in double precision."""
    n_components, n_classes = weights.shape[1:]
    up, down = np.empty(n_classes), np.empty(n_classes)
    for i in range(first, last):
        up[:], down[:] = 0.0, 0.0
        for g in range(n_components):
            for k in range(n_classes):
                w = np.float64(weights[i, g, k])
                up[k] += max(w, 0.0)
                down[k] -= min(w, 0.0)
        for k in range(n_classes):
            positive[i, k], negative[i, k] = up[k], down[k]
            logits[i, k] = up[k] - down[k]


@kernel(parallel=True, error_model="numpy")
def _pool_in_tasks(weights, rows, logits, positive, negative):
    n = weights.shape[0]
    for task in numba.prange((n + rows - 1) // rows):
        first = task * rows
        _pool_rows(weights, first, min(n, first + rows), logits, positive, negative)


def pool(weights: FloatArray) -> Pooled:
    """Pool weights of shape (..., G, K); see :func:`shafer._kernels.pooling.pool`."""
    *instances, n_components, n_classes = weights.shape
    n = math.prod(instances)
    given = read_only(weights.reshape(n, n_components, n_classes))
    pooled = [np.empty((n, n_classes), dtype=weights.dtype) for _ in range(3)]
    if given.size < _SERIAL_DENSE_WORK:
        _pool_rows(given, 0, n, *pooled)
    else:
        _pool_in_tasks(given, _rows_of_task(n), *pooled)
    return Pooled(*(array.reshape(*instances, n_classes) for array in pooled))


@kernel(nogil=True, error_model="numpy")
def _weigh_rows(contributions, constant, count, first, last, weights):
    """Centre over the classes, relative to the first class, and add the constant."""
    n_components, n_classes = constant.shape
    for i in range(first, last):
        for g in range(n_components):
            base = contributions[i, g, 0]
            total = base - base  # zero, of the precision of the input
            for k in range(n_classes):
                total += contributions[i, g, k] - base
            mean = total / count
            for k in range(n_classes):
                weights[i, g, k] = ((contributions[i, g, k] - base) - mean) + constant[g, k]


@kernel(parallel=True, error_model="numpy")
def _weigh_in_tasks(contributions, constant, count, rows, weights):
    n = weights.shape[0]
    for task in numba.prange((n + rows - 1) // rows):
        first = task * rows
        _weigh_rows(contributions, constant, count, first, min(n, first + rows), weights)


def additive_weights(contributions: FloatArray, constant: FloatArray) -> FloatArray:
    """Return the weights of contributions (n, G, K); the reference is in ``pooling.py``."""
    given, added = read_only(contributions), read_only(constant)
    weights = np.empty(given.shape, dtype=given.dtype)
    count = given.dtype.type(given.shape[2])  # the mean stays in this precision
    if given.size < _SERIAL_DENSE_WORK:
        _weigh_rows(given, added, count, 0, len(given), weights)
    else:
        _weigh_in_tasks(given, added, count, _rows_of_task(len(given)), weights)
    return weights


def _rows_of_task(n: int) -> int:
    return -(-n // (_TASKS_PER_THREAD * int(numba.get_num_threads())))


# The weights of a linear model on sparse features.


@kernel(parallel=True, error_model="numpy")
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
    """Pool over CSR features; see :func:`shafer._kernels.pooling.pool_linear_sparse`."""
    size, total = sums_at_zero(centre, beta, offset)
    wide = [read_only(a.astype(np.float64, copy=False)) for a in (centre, beta, offset)]
    sizes, totals = np.zeros((2, features.shape[0], beta.shape[1]))
    rows = [read_only(array) for array in (features.data, features.indices, features.indptr)]
    _sparse_sums(*rows, *wide, sizes, totals)
    sizes += size
    totals += total
    return from_size_and_sum(sizes, totals, beta.dtype)


__all__ = ["additive_weights", "pool", "pool_linear", "pool_linear_sparse"]
