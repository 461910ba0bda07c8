"""Errors of weights made from the arrays of a file, after every array was checked.

Their arrays are in the file of the weights, with names that begin with ``errors.``. Messages are
parts of a sentence about the file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shafer._sparse_structure import check_compressed, check_indices
from shafer._validation import to_numpy
from shafer.evidence.io.stored_sources import (
    Arrays,
    check_floats,
    check_names,
    sparse_features,
    stored_source,
)
from shafer.evidence.weight_errors import (
    ComponentSums,
    LinearErrors,
    SampledErrors,
    TableErrors,
    WeightErrors,
)
from shafer.evidence.weight_sources import WeightSource

_PREFIX = "errors."
_SUMS = ("sum_data", "sum_indices", "sum_indptr")
_SPARSE = ("data", "indices", "indptr", "shape")


def arrays_to_store(errors: WeightErrors | None) -> Arrays:
    """Return the arrays of errors under the names that they have in a file."""
    named = {} if errors is None else errors.arrays()
    return {f"{_PREFIX}{name}": to_numpy(array) for name, array in named.items()}


def stored_errors(kind: Any, arrays: Arrays, source: WeightSource) -> WeightErrors | None:
    """Make the errors of a source, of a kind, from the arrays of a file; None without a kind.

    Raises
    ------
    ValueError
        If the kind is unknown, or an array is missing, unknown, or does not fit the others.
    """
    given = {name.removeprefix(_PREFIX): array for name, array in arrays.items()}
    if kind is None:
        check_names(given, ())
        return None
    if kind not in _KINDS or len(source.shape) != 3:
        raise ValueError(f"its errors are of the unknown kind {kind!r}")
    errors = _KINDS[kind](given)
    if errors.shape != source.shape:
        raise ValueError(f"it has errors of shape {errors.shape} for weights of {source.shape}")
    return errors


def split_arrays(arrays: Arrays) -> tuple[Arrays, Arrays]:
    """Return the arrays of the weights, and those of their errors."""
    of_errors = {name: array for name, array in arrays.items() if name.startswith(_PREFIX)}
    return {name: arrays[name] for name in arrays if name not in of_errors}, of_errors


def _linear(arrays: Arrays) -> LinearErrors:
    given = dict(arrays)
    is_sparse = "features" not in given
    fields = _SPARSE if is_sparse else ("features",)
    check_names(given, (*fields, "centre", "covariance", *_SUMS, "factor"))
    features: Any
    if is_sparse:
        features = sparse_features(*(given[name] for name in _SPARSE))
    else:
        features = given["features"]
        _check_ndim(features, "features", 2)
        check_floats(features, "features", features.shape)
    n, n_features = features.shape
    check_floats(given["centre"], "centre", (n_features,))
    covariance = given["covariance"]
    _check_ndim(covariance, "covariance", 4)
    n_contrasts = len(covariance)
    if n_contrasts < 1:
        raise ValueError("its array 'covariance' must have at least one contrast")
    check_floats(covariance, "covariance", (n_contrasts, n_features + 1) * 2)
    check_floats(given["factor"], "factor", (n,))
    return LinearErrors(
        features, given["centre"], covariance, _sums(given, n_features + 1), given["factor"]
    )


def _table(arrays: Arrays) -> TableErrors:
    check_names(arrays, ("index", "tables", "shares", *_SUMS, "factor"))
    index, tables = arrays["index"], arrays["tables"]
    _check_ndim(index, "index", 2)
    _check_ndim(tables, "tables", 3)
    n_draws, n_lines, _ = tables.shape
    check_floats(tables, "tables", tables.shape)
    if index.dtype.kind != "i":
        raise ValueError(f"its array 'index' must hold whole numbers; it holds {index.dtype}")
    check_indices(index, n_lines, "index")
    check_floats(arrays["shares"], "shares", (n_draws,))
    if n_draws < 2 or arrays["shares"].min() < 0.0 or abs(arrays["shares"].sum() - 1.0) > 1e-6:
        raise ValueError("its array 'shares' must hold shares of at least 2 draws")
    check_floats(arrays["factor"], "factor", index.shape[:1])
    sums = _sums(arrays, index.shape[1])
    return TableErrors(index, tables, arrays["shares"], sums, arrays["factor"])


def _sampled(arrays: Arrays) -> SampledErrors:
    """Make errors of arrays named ``draw.kind.field``."""
    by_draw: dict[int, tuple[str, Arrays]] = {}
    for name, array in arrays.items():
        number, kind, field = (*name.split(".", 2), "", "")[:3]
        if not (number.isdecimal() and number.isascii() and len(number) < 10):
            raise ValueError(f"it holds an unknown array {name!r}")
        known, fields = by_draw.setdefault(int(number), (kind, {}))
        if known != kind or field in fields or name != f"{int(number)}.{kind}.{field}":
            raise ValueError(f"it holds an unknown array {name!r}")
        fields[field] = array
    if len(by_draw) < 2 or sorted(by_draw) != list(range(len(by_draw))):
        raise ValueError("its draws must be at least 2, and numbered from 0 without gaps")
    draws = tuple(stored_source(kind, fields) for _, (kind, fields) in sorted(by_draw.items()))
    if len({draw.shape for draw in draws}) > 1 or len(draws[0].shape) != 3:
        raise ValueError("its draws must have weights of one shape")
    return SampledErrors(draws)


def _sums(arrays: Arrays, n_terms: int) -> ComponentSums:
    data, indices, indptr = (arrays[name] for name in _SUMS)
    check_floats(data, "sum_data", (data.size,))
    check_compressed(data, indices, indptr, max(0, indptr.size - 1), n_terms)
    parts = (data, indices, indptr)
    return ComponentSums(sparse.csr_array(parts, shape=(indptr.size - 1, n_terms)))


def _check_ndim(array: NDArray[Any], name: str, ndim: int) -> None:
    if np.ndim(array) != ndim:
        raise ValueError(f"its array {name!r} must have {ndim} axes; it has {np.ndim(array)}")


_KINDS: dict[str, Callable[[Arrays], WeightErrors]] = {
    "LinearErrors": _linear,
    "SampledErrors": _sampled,
    "TableErrors": _table,
}
