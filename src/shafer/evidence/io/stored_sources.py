"""Weight sources made from the arrays of a file, after every array was checked.

Compiled code follows these arrays without looking, so shapes, types, ranges and the structure of
sparse matrices are checked here. Messages are parts of a sentence about the file.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shafer._sparse_structure import check_compressed
from shafer._validation import check_finite, check_overflow
from shafer.evidence.weight_sources import (
    BaseRateWeights,
    DenseWeights,
    JoinedWeights,
    LinearWeights,
    LocatedWeights,
    Part,
    ScaledWeights,
    SparseWeights,
    WeightSource,
)

Arrays: TypeAlias = dict[str, NDArray[Any]]

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_FACTORS = ("factor", "row_factor", "factor_for", "factor_against")
_HEAD = ("centre", "beta", "offset")
_OPTIONAL = {"DenseWeights": ("shares",), "LocatedWeights": ("shares",)}
_FIELDS = {
    "DenseWeights": ("weights",),
    "LinearWeights": ("features", *_HEAD),
    "LocatedWeights": ("features", "beta", "shift", "offset"),
    "SparseWeights": ("data", "indices", "indptr", "shape", *_HEAD),
}


def stored_source(kind: str, arrays: Arrays) -> WeightSource:
    """Make a source of a kind from its arrays.

    Raises
    ------
    ValueError
        If the kind is unknown, or an array is missing, unknown, or does not fit the others.
    """
    if kind == JoinedWeights.__name__:
        return _joined(dict(arrays))
    return _single(kind, dict(arrays))


def _single(kind: str, arrays: Arrays) -> WeightSource:
    factor, base_rate = arrays.pop("row_factor", None), arrays.pop("base_rate", None)
    if kind not in _FIELDS:
        raise ValueError(f"its weights are of the unknown kind {kind!r}")
    check_names(arrays, _FIELDS[kind], _OPTIONAL.get(kind, ()))
    source: WeightSource
    if kind == "DenseWeights":
        source = _dense(**arrays)
    elif kind == "LinearWeights":
        source = _linear(**arrays)
    elif kind == "LocatedWeights":
        source = _located(**arrays)
    else:
        source = _sparse(**arrays)
    if base_rate is not None:
        check_floats(base_rate, "base_rate", source.shape[-1:])
        source = BaseRateWeights(source, base_rate)
    return source if factor is None else _scaled(source, factor)


def check_names(arrays: Arrays, fields: tuple[str, ...], optional: tuple[str, ...] = ()) -> None:
    """Refuse missing and unknown arrays."""
    if sorted(set(arrays).difference(optional)) != sorted(fields):
        raise ValueError(f"it must hold the arrays {sorted(fields)}; it holds {sorted(arrays)}")


def check_floats(array: NDArray[Any], name: str, shape: tuple[int, ...]) -> None:
    """Refuse anything but finite numbers in native single or double precision."""
    if array.dtype not in _FLOATS:
        raise ValueError(f"its array {name!r} must hold floats; it holds {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"its array {name!r} must have shape {shape}; it has {array.shape}")
    check_finite(array, f"its array {name!r}")
    if name in _FACTORS and array.size and float(array.min()) < 0.0:
        raise ValueError(f"its array {name!r} must not be negative")


def _dense(weights: NDArray[Any], shares: NDArray[Any] | None = None) -> DenseWeights:
    if weights.ndim not in (3, 4):
        raise ValueError(f"its array 'weights' must have 3 or 4 axes; it has {weights.ndim}")
    check_floats(weights, "weights", weights.shape)
    if shares is not None:
        of_each = shares.ndim == weights.ndim  # shares of each instance
        check_floats(shares, "shares", weights.shape if of_each else weights.shape[-2:])
        _check_one_type(weights=weights, shares=shares)
        check_overflow(shares.sum(axis=-2), "shares of the base rate")
    return DenseWeights(weights, shares)


def _check_head(
    n_columns: int, centre: NDArray[Any], beta: NDArray[Any], offset: NDArray[Any]
) -> None:
    n_classes = beta.shape[1] if beta.ndim == 2 else 0
    check_floats(beta, "beta", (n_columns, n_classes))
    check_floats(centre, "centre", (n_columns,))
    check_floats(offset, "offset", (n_classes,))


def _check_one_type(**arrays: NDArray[Any]) -> None:
    if len({array.dtype for array in arrays.values()}) > 1:
        raise ValueError(f"its arrays {sorted(arrays)} must be of one precision")


def _linear(
    features: NDArray[Any], centre: NDArray[Any], beta: NDArray[Any], offset: NDArray[Any]
) -> LinearWeights:
    if features.ndim != 2:
        raise ValueError(f"its array 'features' must have 2 axes; it has {features.ndim}")
    check_floats(features, "features", features.shape)
    _check_head(features.shape[1], centre, beta, offset)
    _check_one_type(features=features, centre=centre, beta=beta, offset=offset)
    return LinearWeights(features, centre, beta, offset)


def _located(
    features: NDArray[Any],
    beta: NDArray[Any],
    shift: NDArray[Any],
    offset: NDArray[Any],
    shares: NDArray[Any] | None = None,
) -> LocatedWeights:
    if features.ndim != 3 or beta.ndim not in (2, 3):
        raise ValueError("its arrays 'features' and 'beta' must have 3 axes, or 'beta' 2")
    n, n_locations, width = features.shape
    n_classes = beta.shape[-1]
    check_floats(features, "features", features.shape)
    check_floats(beta, "beta", (*(n_locations, width)[3 - beta.ndim :], n_classes))
    for name, array in (("shift", shift), ("offset", offset)):
        check_floats(array, name, (1 if array.shape[:1] == (1,) else n_locations, n_classes))
    if shares is not None:
        check_floats(shares, "shares", (n, n_locations))
    known = {} if shares is None else {"shares": shares}
    _check_one_type(features=features, beta=beta, shift=shift, offset=offset, **known)
    return LocatedWeights(features, beta, shift, offset, shares)


def _sparse(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    shape: NDArray[Any],
    centre: NDArray[Any],
    beta: NDArray[Any],
    offset: NDArray[Any],
) -> SparseWeights:
    features = sparse_features(data, indices, indptr, shape)
    _check_head(features.shape[1], centre, beta, offset)
    _check_one_type(data=data, centre=centre, beta=beta, offset=offset)
    return SparseWeights(features, centre, beta, offset)


def sparse_features(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: NDArray[Any]
) -> Any:
    """Make a CSR array of finite numbers, with each cell at most once."""
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or min(shape.tolist()) < 0:
        raise ValueError("its array 'shape' must hold the numbers of rows and columns")
    n, n_columns = (int(size) for size in shape)
    check_floats(data, "data", (data.size,))
    check_compressed(data, indices, indptr, n, n_columns)
    features = sparse.csr_array((data, indices, indptr), shape=(n, n_columns))
    if not features.has_canonical_format:  # out of order is allowed, twice the same cell is not
        ordered = features.copy()
        ordered.sum_duplicates()
        if ordered.nnz != features.nnz:
            raise ValueError("its array 'indices' names a cell twice")
    return features


def _scaled(source: WeightSource, factor: NDArray[Any]) -> ScaledWeights:
    check_floats(factor, "row_factor", source.shape[:-2])
    return ScaledWeights(source, factor)


def _joined(arrays: Arrays) -> WeightSource:
    """Make joined weights of arrays named ``part.kind.field``."""
    factor = arrays.pop("row_factor", None)
    by_part: dict[int, tuple[str, Arrays]] = {}
    for name, array in arrays.items():
        number, kind, field = (*name.split("."), "", "")[:3]
        if not (number.isdecimal() and number.isascii() and len(number) < 10):
            raise ValueError(f"it holds an unknown array {name!r}")
        known, fields = by_part.setdefault(int(number), (kind, {}))
        if known != kind or field in fields or name != f"{int(number)}.{kind}.{field}":
            raise ValueError(f"it holds an unknown array {name!r}")
        fields[field] = array
    if not by_part or sorted(by_part) != list(range(len(by_part))):
        raise ValueError("its parts must be numbered from 0 without gaps")
    first = by_part[0][1].get("places", np.empty(0))
    parts = [_part(kind, fields, first.shape) for _, (kind, fields) in sorted(by_part.items())]
    if len({part.source.shape[0] for part in parts}) > 1:
        raise ValueError("its parts must have the same number of rows")
    joined = JoinedWeights(tuple(parts))
    return joined if factor is None else _scaled(joined, factor)


def _part(kind: str, fields: Arrays, frame: tuple[int, ...]) -> Part:
    places = fields.pop("places", np.empty(0))
    first, second = fields.pop("factor_for", None), fields.pop("factor_against", None)
    source = _single(kind, fields)
    if len(source.shape) != 3:
        raise ValueError("the weights of a part must have 3 axes")
    n, _, n_classes = source.shape
    _check_places(places, n_classes, frame)
    part = Part(source, source.pooled(), places.astype(np.intp))
    if first is None and second is None:
        return part
    if first is None or second is None:
        raise ValueError("a part must have both 'factor_for' and 'factor_against', or neither")
    for name, array in (("factor_for", first), ("factor_against", second)):
        columns = 1 if array.shape == (n, 1) else len(places)
        check_floats(array, name, (n, columns))
    same = np.array_equal(first, second)
    return replace(part, factors=(first, first if same else second))


def _check_places(places: NDArray[Any], n_classes: int, frame: tuple[int, ...]) -> None:
    """Check the column of each class of the frame: −1, or one of the source's columns, once."""
    if places.dtype.kind != "i" or places.ndim != 1 or places.shape != frame:
        raise ValueError("the array 'places' of each part must hold a column for each class")
    known = places[places >= 0]
    if places.size and (int(places.min()) < -1 or int(places.max()) >= n_classes):
        raise ValueError("the array 'places' of a part holds columns that its source lacks")
    if len(np.unique(known)) != len(known):
        raise ValueError("the array 'places' of a part names a column twice")
