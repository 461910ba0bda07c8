"""Sparse matrices from files: their index arrays are followed by compiled code without checks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_INDEX_TYPES = (np.dtype(np.int32), np.dtype(np.int64))


def check_compressed(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    n_major: int,
    n_minor: int,
) -> None:
    """Refuse compressed rows (or columns) whose indices lead out of the matrix or its arrays.

    Parameters
    ----------
    data, indices : arrays of shape (nnz,)
    indptr : array of shape (n_major + 1,)
    n_major, n_minor : int
        Rows and columns of a CSR matrix, columns and rows of a CSC matrix.
    """
    for name, array in (("indices", indices), ("indptr", indptr)):
        if array.dtype not in _INDEX_TYPES or array.ndim != 1:
            raise ValueError(f"its array {name!r} must be a list of whole numbers")
    if data.shape != indices.shape:
        raise ValueError(f"it has {data.size} values for {indices.size} indices")
    if len(indptr) != n_major + 1 or indptr[0] != 0 or indptr[-1] != len(data):
        raise ValueError("its array 'indptr' does not fit the matrix")
    if np.any(indptr[1:] < indptr[:-1]):
        raise ValueError("its array 'indptr' must not decrease")
    check_indices(indices, n_minor, "indices")


def check_indices(indices: NDArray[Any], size: int, name: str) -> None:
    """Refuse an index outside 0 … size − 1."""
    if indices.size and (int(indices.min()) < 0 or int(indices.max()) >= size):
        raise ValueError(f"its array {name!r} holds indices outside 0 … {size - 1}")
