"""Sums of the weights of a linear model, compiled by numba: the twin of ``kernels.pooling``.

What is in a lane of the vector registers depends on the shape: a feature (few classes), a row (many
rows), or a class (few rows). A row gets the same numbers in any batch.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, misc"
# The compiler infers types from the arguments; annotations inside compiled code have no effect.

from __future__ import annotations

import numba
import numpy as np

from shafer._typing import FloatArray
from shafer.kernels.compiled.class_lanes import pool_single_rows
from shafer.kernels.compiled.feature_lanes import pool_few_classes
from shafer.kernels.compiled.row_lanes import CLASSES, LANES, pool_blocks
from shafer.kernels.compiled.vector_code import read_only
from shafer.kernels.pooling import Pooled

# Thresholds, as measured. They change speed alone.
_FEW_CLASSES = 8  # below this, a feature is in each lane
_FEW_ROWS = 16  # below this, a class is in each lane
_SERIAL_WORK = 2**22  # weights below which waking threads may take longer than the sums
_SERIAL_WORK_OF_ONE_ROW = 2**20  # the same for few rows: they wait for memory
_TASKS_PER_THREAD = 4


@numba.njit(parallel=True, error_model="numpy", cache=True)
def _in_row_tasks(features, centre, beta, offset, rows, logits, positive, negative):
    n = features.shape[0]
    for task in numba.prange((n + rows - 1) // rows):
        first = task * rows
        last = min(n, first + rows)
        pool_few_classes(features, centre, beta, offset, first, last, logits, positive, negative)


@numba.njit(parallel=True, error_model="numpy", cache=True)
def _in_block_tasks(features, centre, beta, offset, rows, logits, positive, negative):
    n, n_classes = logits.shape
    by_row, by_class = (n + rows - 1) // rows, (n_classes + CLASSES - 1) // CLASSES
    for task in numba.prange(by_row * by_class):
        first, k0 = task // by_class * rows, task % by_class * CLASSES
        last, k1 = min(n, first + rows), min(n_classes, k0 + CLASSES)
        pool_blocks(features, centre, beta, offset, first, last, k0, k1, logits, positive, negative)


@numba.njit(parallel=True, error_model="numpy", cache=True)
def _in_class_tasks(features, centre, beta, offset, classes, logits, positive, negative):
    n_classes = logits.shape[1]
    for task in numba.prange((n_classes + classes - 1) // classes):
        k0 = task * classes
        k1 = min(n_classes, k0 + classes)
        pool_single_rows(features, centre, beta, offset, k0, k1, logits, positive, negative)


def pool_linear(
    features: FloatArray, centre: FloatArray, beta: FloatArray, offset: FloatArray
) -> Pooled:
    """Pool the weights of a linear model; see :func:`shafer.kernels.pooling.pool_linear`."""
    n, n_classes = features.shape[0], beta.shape[1]
    few_rows = n < _FEW_ROWS
    serial = n * beta.size < (_SERIAL_WORK_OF_ONE_ROW if few_rows else _SERIAL_WORK)
    coefficients = beta if n_classes >= _FEW_CLASSES else beta.T
    head = [read_only(array) for array in (features, centre, coefficients, offset)]
    pooled = Pooled(*np.empty((3, n, n_classes), dtype=features.dtype))  # one block: fewer pages
    if n_classes < _FEW_CLASSES:
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


__all__ = ["pool_linear"]
