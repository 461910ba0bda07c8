"""Sparse matrices inside a model file: archives in the archive, checked before SciPy reads them."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._safe_archive import open_archive, read_array
from shafer._sparse_structure import check_compressed, check_indices

_FIELDS = {
    "coo": {"row", "col", "data"},
    "csc": {"indices", "indptr", "data"},
    "csr": {"indices", "indptr", "data"},
}


def check_sparse(raw: bytes) -> None:
    """Refuse a matrix written by ``scipy.sparse.save_npz`` whose indices do not fit.

    Raises
    ------
    ValueError
        If the archive is damaged, of another kind than CSR, CSC or COO, or not two-dimensional.
    """
    with open_archive(io.BytesIO(raw)) as archive:
        kind = _kind(archive)
        arrays = {
            name.removesuffix(".npy"): read_array(archive, name)
            for name in archive.namelist()
            if name != "format.npy"
        }
    _check(kind, arrays)


def _kind(archive: zipfile.ZipFile) -> str:
    value = read_array(archive, "format.npy")
    kind = value.item() if value.shape == () else ""
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)
    if kind not in _FIELDS:
        raise ValueError(f"it holds a sparse matrix of format {kind!r}; csr, csc and coo are read")
    return kind


def _check(kind: str, arrays: dict[str, NDArray[Any]]) -> None:
    arrays.pop("_is_array", None)
    shape = arrays.pop("shape", np.empty(0))
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or min(shape.tolist()) < 0:
        raise ValueError("the shape of a sparse matrix in it is damaged")
    if set(arrays) != _FIELDS[kind] or arrays["data"].dtype.kind not in "biuf":
        raise ValueError("a sparse matrix in it is damaged")
    n_rows, n_columns = (int(size) for size in shape)
    data = arrays["data"]
    if kind == "coo":
        for name, size in (("row", n_rows), ("col", n_columns)):
            index = arrays[name]
            if index.dtype.kind not in "iu" or index.shape != data.shape or data.ndim != 1:
                raise ValueError("a sparse matrix in it is damaged")
            check_indices(index, size, name)
        return
    sizes = (n_rows, n_columns) if kind == "csr" else (n_columns, n_rows)
    check_compressed(data, arrays["indices"], arrays["indptr"], *sizes)
