"""Weights given in full, compiled by numba: the twin of ``pool`` and ``additive_weights``."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, misc"
# The compiler infers types from the arguments; annotations inside compiled code have no effect.

from __future__ import annotations

import math

import numba
import numpy as np

from shafer._typing import FloatArray
from shafer.kernels.compiled.vector_code import read_only
from shafer.kernels.pooling import Pooled

_SERIAL_WORK = 2**20  # weights below which waking threads may take longer than the sums
_TASKS_PER_THREAD = 4


@numba.njit(nogil=True, error_model="numpy", cache=True)
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


@numba.njit(parallel=True, error_model="numpy", cache=True)
def _pool_in_tasks(weights, rows, logits, positive, negative):
    n = weights.shape[0]
    for task in numba.prange((n + rows - 1) // rows):
        first = task * rows
        _pool_rows(weights, first, min(n, first + rows), logits, positive, negative)


def pool(weights: FloatArray) -> Pooled:
    """Pool weights of shape (..., G, K); see :func:`shafer.kernels.pooling.pool`."""
    *instances, n_components, n_classes = weights.shape
    n = math.prod(instances)
    given = read_only(weights.reshape(n, n_components, n_classes))
    pooled = [np.empty((n, n_classes), dtype=weights.dtype) for _ in range(3)]
    if given.size < _SERIAL_WORK:
        _pool_rows(given, 0, n, *pooled)
    else:
        _pool_in_tasks(given, _rows_of_task(n), *pooled)
    return Pooled(*(array.reshape(*instances, n_classes) for array in pooled))


@numba.njit(nogil=True, error_model="numpy", cache=True)
def _weigh_rows(contributions, constant, first, last, weights):
    """Centre over the classes, relative to the first class, and add the constant."""
    n_components, n_classes = constant.shape
    for i in range(first, last):
        for g in range(n_components):
            base = contributions[i, g, 0]
            total = base - base  # zero, of the precision of the input
            for k in range(n_classes):
                total += contributions[i, g, k] - base
            mean = total / n_classes
            for k in range(n_classes):
                weights[i, g, k] = ((contributions[i, g, k] - base) - mean) + constant[g, k]


@numba.njit(parallel=True, error_model="numpy", cache=True)
def _weigh_in_tasks(contributions, constant, rows, weights):
    n = weights.shape[0]
    for task in numba.prange((n + rows - 1) // rows):
        first = task * rows
        _weigh_rows(contributions, constant, first, min(n, first + rows), weights)


def additive_weights(contributions: FloatArray, constant: FloatArray) -> FloatArray:
    """Return the weights of contributions (n, G, K); the reference is in ``class_centring.py``."""
    given, added = read_only(contributions), read_only(constant)
    weights = np.empty(given.shape, dtype=given.dtype)
    if given.size < _SERIAL_WORK:
        _weigh_rows(given, added, 0, len(given), weights)
    else:
        _weigh_in_tasks(given, added, _rows_of_task(len(given)), weights)
    return weights


def _rows_of_task(n: int) -> int:
    return -(-n // (_TASKS_PER_THREAD * int(numba.get_num_threads())))


__all__ = ["additive_weights", "pool"]
