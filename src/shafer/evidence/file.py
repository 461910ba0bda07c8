"""Evidence on disk: one ``.npz`` file of plain arrays and a JSON header. Nothing is pickled.

The header holds a checksum of everything else. Files of version 0.1.0 have none; their arrays are
checked all the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shafer._checks.arrays import (
    check_compressed,
    check_finite,
    check_indices,
    check_overflow,
    to_numpy,
)
from shafer._checks.labels import class_labels, component_names
from shafer._files.arrays import read_array_file, write_array_file
from shafer._files.codec import EVIDENCE
from shafer.evidence.errors import (
    ComponentSums,
    LinearErrors,
    SampledErrors,
    TableErrors,
    WeightErrors,
)
from shafer.evidence.joined import JoinedWeights, Part
from shafer.evidence.layout import ComponentLayout, read_layout
from shafer.evidence.sources import (
    BaseRateWeights,
    DenseWeights,
    LinearWeights,
    LocatedWeights,
    ScaledWeights,
    SparseWeights,
    WeightSource,
    stored_kind,
)

if TYPE_CHECKING:
    from shafer.evidence.evidence import Evidence


_LABEL_KINDS = "biufU"
_LABELS = "region_labels"
Stored: TypeAlias = tuple[
    WeightSource,
    NDArray[Any],
    tuple[str, ...],
    tuple[str, ...],
    None,
    None,
    WeightErrors | None,
    ComponentLayout | None,
    bool,
]


def save(evidence: Evidence, path: str | os.PathLike[str]) -> None:
    """Write the source, its errors and layout, the class labels and the component names."""
    source = evidence.unchanged_source()
    arrays: Arrays = {name: to_numpy(array) for name, array in source.arrays().items()}
    arrays |= arrays_to_store(evidence.errors)
    header: dict[str, Any] = {
        "format": EVIDENCE.current,
        "source": stored_kind(source),
        "names": list(evidence.component_names),
        "parts": list(evidence.parts),
    }
    if evidence.layout is not None:
        header["layout"] = evidence.layout.plain()
        if "labels" in header["layout"]:
            arrays[_LABELS] = header["layout"].pop("labels")
    if evidence.errors is not None:
        header["errors"] = type(evidence.errors).__name__
    if evidence.calibrated:
        header["calibrated"] = True
    classes = evidence.classes
    if classes.dtype.kind not in _LABEL_KINDS:
        header["classes"] = _plain_labels(classes)
        classes = np.empty(0)
    arrays["classes"] = classes
    write_array_file(path, header, arrays)


def _plain_labels(classes: NDArray[Any]) -> list[Any]:
    labels: list[Any] = classes.tolist()
    for label in labels:
        if not isinstance(label, str | int | float | bool):
            raise ValueError(
                f"save() can store class labels that are strings or numbers; got {label!r} of type "
                f"{type(label).__name__}. Rename the classes before training."
            )
    return labels


def load(path: str | os.PathLike[str]) -> Stored:
    """Read the arguments of ``Evidence.from_source``, in their order."""
    return read_array_file(path, EVIDENCE, _understood, "Evidence.save", "the evidence")


def _understood(header: dict[str, Any], arrays: Arrays) -> Stored:
    if "classes" not in arrays:
        raise ValueError("it has no class labels")
    classes = _labels(arrays.pop("classes"), header)
    labels = arrays.pop(_LABELS, None)
    of_weights, of_errors = split_arrays(arrays)
    source = stored_source(str(header.get("source")), of_weights)
    *instances, n_components, n_classes = source.shape
    parts = _texts(header, "parts")
    if len(parts) != (instances[1] if len(instances) > 1 else 0):
        raise ValueError(f"it has {len(parts)} names of parts for weights of {source.shape}")
    return (
        source,
        class_labels(classes, n_classes),
        component_names(_texts(header, "names"), n_components),
        parts,
        None,  # row labels are not stored,
        None,  # and neither are the inputs
        stored_errors(header.get("errors"), of_errors, source),
        _layout(header.get("layout"), labels, source),
        _flag(header, "calibrated"),
    )


def _layout(
    given: Any, labels: NDArray[Any] | None, source: WeightSource
) -> ComponentLayout | None:
    if given is None:
        return None
    if not isinstance(given, dict):
        raise ValueError("its layout must be a mapping")
    layout = read_layout(given if labels is None else {**given, "labels": labels})
    n, n_components = source.shape[0], source.shape[-2]
    if layout is not None and layout.n_components > n_components:
        raise ValueError(f"its layout has {layout.n_components} places for {n_components}")
    if labels is not None and labels.ndim == 3 and len(labels) != n:
        raise ValueError(f"it has {len(labels)} label maps for {n} rows")
    return layout


def _labels(stored: NDArray[Any], header: dict[str, Any]) -> NDArray[Any]:
    if "classes" not in header:
        if stored.dtype.kind not in _LABEL_KINDS or stored.ndim != 1:
            raise ValueError(f"its class labels must not be of type {stored.dtype}")
        return stored
    labels = header["classes"]
    plain = isinstance(labels, list) and all(
        isinstance(label, str | int | float | bool) for label in labels
    )
    if not plain:
        raise ValueError("its class labels must be strings or numbers")
    classes = np.empty(len(labels), dtype=object)
    classes[:] = labels
    return classes


def _flag(header: dict[str, Any], key: str) -> bool:
    flag = header.get(key, False)
    if not isinstance(flag, bool):
        raise ValueError(f"its {key!r} must be true or false")
    return flag


def _texts(header: dict[str, Any], key: str) -> tuple[str, ...]:
    texts = header.get(key)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"its {key!r} must be a list of strings")
    return tuple(texts)


# Weight sources made from the arrays of a file, after every array was checked.

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


# Errors of weights made from the arrays of a file, after every array was checked.

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


def _linear_errors(arrays: Arrays) -> LinearErrors:
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
    "LinearErrors": _linear_errors,
    "SampledErrors": _sampled,
    "TableErrors": _table,
}
