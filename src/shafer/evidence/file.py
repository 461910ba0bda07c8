"""Evidence on disk: one ``.npz`` file of plain arrays and a JSON header. Nothing is pickled.

The header holds a checksum of everything else. Files of version 0.1.0 have none; their arrays are
checked all the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, final

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
from shafer._files.codec import EVIDENCE, LEFT_OUT, Limits, read, written
from shafer._typing import Array
from shafer.decision.policy import AnswerRule, Cutoff, stored_rule
from shafer.evidence.base_rate import BASE_RATE
from shafer.evidence.errors import (
    LinearErrors,
    SampledErrors,
    TableErrors,
    WeightErrors,
)
from shafer.evidence.joined import JoinedWeights, Part
from shafer.evidence.kept import ROWS, KeptInputs, kept_rows, rows_to_keep
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
    Any,
    KeptInputs | None,
    WeightErrors | None,
    ComponentLayout | None,
    bool,
    AnswerRule | None,
]


def save(evidence: Evidence, path: str | os.PathLike[str]) -> None:
    """Write the source, its errors and layout, the labels and names, and what is known of rows."""
    source = evidence.unchanged_source()
    arrays: Arrays = {name: to_numpy(array) for name, array in source.arrays().items()}
    if evidence.errors is not None:
        errors = evidence.errors.arrays()
        arrays |= {f"{_PREFIX}{name}": to_numpy(array) for name, array in errors.items()}
    header: dict[str, Any] = {
        "format": EVIDENCE.current,
        "source": stored_kind(source),
        "names": list(evidence.component_names),
        "parts": list(evidence.parts),
        "base_rates": list(source.base_rates()),
    }
    if evidence.layout is not None:
        header["layout"] = evidence.layout.plain()
        if "labels" in header["layout"]:
            arrays[_LABELS] = header["layout"].pop("labels")
    if evidence.errors is not None:
        header["errors"] = type(evidence.errors).__name__
    if evidence.calibrated:
        header["calibrated"] = True
    if isinstance(evidence.cutoff, Cutoff):
        header["threshold"] = written(evidence.cutoff)
    elif evidence.cutoff is not None:
        header["loss"] = [list(row) for row in evidence.cutoff.loss]
    rows, held = rows_to_keep(evidence.inputs, evidence.index, evidence.n_components)
    arrays |= held
    if rows:
        header["rows"] = rows
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


@final
@dataclass(frozen=True)
class _Description:
    """What a header holds; files of version 0.1.0 lack all that may be left out."""

    source: str
    names: tuple[str, ...]
    parts: tuple[str, ...]
    layout: Annotated[dict[str, Any] | None, LEFT_OUT] = None
    errors: Annotated[str | None, LEFT_OUT] = None
    calibrated: Annotated[bool, LEFT_OUT] = False
    threshold: Annotated[Cutoff | None, LEFT_OUT] = None
    loss: Annotated[list[list[float]] | None, LEFT_OUT] = None
    rows: Annotated[dict[str, Any] | None, LEFT_OUT] = None
    base_rates: Annotated[list[int] | None, LEFT_OUT] = None
    classes: Annotated[
        list[str | bool | int | Annotated[float, Limits(infinite=True)]] | None, LEFT_OUT
    ] = None


def _understood(header: dict[str, Any], arrays: Arrays) -> Stored:
    told = read(_Description, header)
    if "classes" not in arrays:
        raise ValueError("it has no class labels")
    classes = _labels(arrays.pop("classes"), told.classes)
    labels = arrays.pop(_LABELS, None)
    of_rows = {name: arrays.pop(name) for name in list(arrays) if name.startswith(ROWS)}
    of_weights, of_errors = _split(arrays)
    source = _source(told.source, of_weights)
    *instances, n_components, n_classes = source.shape
    if len(told.parts) != (instances[1] if len(instances) > 1 else 0):
        raise ValueError(f"it has {len(told.parts)} names of parts for weights of {source.shape}")
    names = component_names(told.names, n_components)
    if told.base_rates is None:
        source = _with_base(source, _named_base_rates(source, names))
    else:
        source = _marked(source, tuple(told.base_rates))
    index, inputs = kept_rows(told.rows, of_rows, source.shape[0], n_components)
    labels_of_classes = class_labels(classes, n_classes)
    return (
        source,
        labels_of_classes,
        names,
        told.parts,
        index,
        inputs,
        _errors(told.errors, of_errors, source),
        _layout(told.layout, labels, source),
        told.calibrated,
        stored_rule(told.threshold, told.loss, labels_of_classes),
    )


def _layout(
    given: dict[str, Any] | None, labels: NDArray[Any] | None, source: WeightSource
) -> ComponentLayout | None:
    if given is None:
        return None
    layout = read_layout(given if labels is None else {**given, "labels": labels})
    n, n_components = source.shape[0], source.shape[-2]
    if layout is not None and layout.n_components > n_components:
        raise ValueError(f"its layout has {layout.n_components} places for {n_components}")
    if labels is not None and labels.ndim == 3 and len(labels) != n:
        raise ValueError(f"it has {len(labels)} label maps for {n} rows")
    return layout


def _labels(stored: NDArray[Any], plain: list[Any] | None) -> NDArray[Any]:
    if plain is None:
        if stored.dtype.kind not in _LABEL_KINDS or stored.ndim != 1:
            raise ValueError(f"its class labels must not be of type {stored.dtype}")
        return stored
    classes = np.empty(len(plain), dtype=object)
    classes[:] = plain
    return classes


# Weight sources made from the arrays of a file, after every array was checked.

Arrays: TypeAlias = dict[str, Any]

_SOURCES: dict[str, type[WeightSource]] = {
    cls.__name__: cls for cls in (DenseWeights, LinearWeights, LocatedWeights, SparseWeights)
}
_CSR = ("data", "indices", "indptr", "shape")
_SUMS = ("sum_data", "sum_indices", "sum_indptr")


@final
@dataclass(frozen=True, eq=False)
class _Factors:
    """What a file holds on top of a source: the base rate as a component, and factors."""

    base_rate: Annotated[Array | None, "K", LEFT_OUT] = None
    row_factor: Annotated[Array | None, "...", Limits(least=0.0), LEFT_OUT] = None


@final
@dataclass(frozen=True, eq=False)
class _Place:
    """What a file holds on top of a source that is a part of joined weights."""

    places: Annotated[NDArray[np.signedinteger[Any]], "k", Limits(least=-1)]
    factor_for: Annotated[Array | None, "n 1", "n k", Limits(least=0.0), LEFT_OUT] = None
    factor_against: Annotated[Array | None, "n 1", "n k", Limits(least=0.0), LEFT_OUT] = None


def _taken(arrays: Arrays, cls: type[Any]) -> Arrays:
    """Take out the fields of a class that there are."""
    return {f.name: arrays.pop(f.name) for f in fields(cls) if f.name in arrays}


def _source(kind: str, arrays: Arrays) -> WeightSource:
    """Make a source of a kind from its arrays.

    Raises
    ------
    ValueError
        If the kind is unknown, or an array is missing, unknown, or does not fit the others.
    """
    if kind != JoinedWeights.__name__:
        return _single(kind, dict(arrays))
    held = dict(arrays)
    factor = {name: held.pop(name) for name in ("row_factor",) if name in held}
    return _factored(_joined(held), factor)


def _single(kind: str, arrays: Arrays) -> WeightSource:
    if kind not in _SOURCES:
        raise ValueError(f"its weights are of the unknown kind {kind!r}")
    factors = _taken(arrays, _Factors)
    if kind == SparseWeights.__name__:
        _join_features(arrays)
    source = read(_SOURCES[kind], arrays)
    if len({array.dtype for array in arrays.values()}) > 1:
        raise ValueError(f"its arrays {sorted(arrays)} must be of one precision")
    if isinstance(source, DenseWeights):
        if len(source.shape) not in (3, 4):
            raise ValueError(f"its weights must have 3 or 4 axes; they have shape {source.shape}")
        if source.shares is not None:
            check_overflow(source.shares.sum(axis=-2), "shares of the base rate")
    return _factored(source, factors)


def _factored(source: WeightSource, given: Arrays) -> WeightSource:
    """Add the base rate as a component, and multiply by factors, where there are any."""
    factors = read(_Factors, given, {"K": source.shape[-1], "...": source.shape[:-2]})
    if factors.base_rate is not None:
        source = BaseRateWeights(source, factors.base_rate)
    return source if factors.row_factor is None else ScaledWeights(source, factors.row_factor)


def _marked(source: WeightSource, base: tuple[int, ...]) -> WeightSource:
    """Return a source that knows which of its components are a base rate.

    Raises
    ------
    ValueError
        If the source holds a base rate in another place, or cannot hold one in this place.
    """
    marked = _with_base(source, base)
    if marked.base_rates() != base or not all(g < source.shape[-2] for g in base):
        raise ValueError(f"its base rates {list(base)} do not fit its weights")
    return marked


def _with_base(source: WeightSource, base: tuple[int, ...]) -> WeightSource:
    if isinstance(source, ScaledWeights):
        return replace(source, source=_with_base(source.source, base))
    if isinstance(source, BaseRateWeights):
        return replace(source, source=_with_base(source.source, base[:-1]))
    if isinstance(source, DenseWeights):
        return replace(source, base=base)
    if not isinstance(source, JoinedWeights):
        return source
    parts, start = [], 0
    for part in source.parts:
        own = tuple(g - start for g in base if 0 <= g - start < part.n_components)
        parts.append(replace(part, source=_with_base(part.source, own)))
        start += part.n_components
    return JoinedWeights(tuple(parts))


def _named_base_rates(source: WeightSource, names: tuple[str, ...]) -> tuple[int, ...]:
    """Return the base rates of a file of older versions, which knew them by their names."""
    shares = to_numpy(source.base_shares())
    full = np.broadcast_to(shares, (*shares.shape[:-2], *source.shape[-2:]))
    shared = (full.reshape(-1, *source.shape[-2:]) != 0.0).any(axis=(0, 2))  # (G,)
    found = []
    for g, name in enumerate(names):
        prefix = name.removesuffix(BASE_RATE)
        if prefix == name or (prefix and not prefix.endswith(": ")):
            continue
        others = [h for h, other in enumerate(names) if h != g and other.startswith(prefix)]
        alone = not any(shared[h] for h in others) and bool(others or not prefix)
        if alone or prefix == f"{BASE_RATE}: ":  # class frequencies that were counted once
            found.append(g)
    return tuple(found)


def _join_features(arrays: Arrays) -> None:
    """Put a CSR array in the place of the four arrays that make it up."""
    if "features" in arrays:
        return
    if not set(_CSR) <= set(arrays):
        raise ValueError(f"it must hold the arrays {sorted(_CSR)}; it holds {sorted(arrays)}")
    arrays["features"] = _sparse_features(*(arrays.pop(name) for name in _CSR))


def _check_floats(data: NDArray[Any], name: str) -> None:
    """Refuse anything but a list of finite numbers in native single or double precision."""
    if data.dtype not in (np.dtype(np.float32), np.dtype(np.float64)) or data.ndim != 1:
        raise ValueError(f"its array {name!r} must be a list of floats; it holds {data.dtype}")
    check_finite(data, f"its array {name!r}")


def _sparse_features(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: NDArray[Any]
) -> Any:
    """Make a CSR array of finite numbers, with each cell at most once."""
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or min(shape.tolist()) < 0:
        raise ValueError("its array 'shape' must hold the numbers of rows and columns")
    n, n_columns = (int(size) for size in shape)
    _check_floats(data, "data")
    check_compressed(data, indices, indptr, n, n_columns)
    features = sparse.csr_array((data, indices, indptr), shape=(n, n_columns))
    if not features.has_canonical_format:  # out of order is allowed, twice the same cell is not
        ordered = features.copy()
        ordered.sum_duplicates()
        if ordered.nnz != features.nnz:
            raise ValueError("its array 'indices' names a cell twice")
    return features


def _joined(arrays: Arrays) -> WeightSource:
    """Make joined weights of arrays named ``part.kind.field``."""
    parts = _numbered(arrays, "parts")
    first = np.shape(parts[0][1].get("places", ()))
    joined = JoinedWeights(tuple(_part(kind, held, first) for kind, held in parts))
    if len({part.source.shape[0] for part in joined.parts}) > 1:
        raise ValueError("its parts must have the same number of rows")
    return joined


def _numbered(arrays: Arrays, what: str) -> list[tuple[str, Arrays]]:
    """Return the kind and the arrays of each of several sources, which are numbered from 0."""
    found: dict[int, tuple[str, Arrays]] = {}
    for name, array in arrays.items():
        number, kind, field = (*name.split(".", 2), "", "")[:3]
        digits = number.isdecimal() and number.isascii() and len(number) < 10
        known, held = found.setdefault(int(number), (kind, {})) if digits else ("", {})
        if not digits or known != kind or name != f"{int(number)}.{kind}.{field}":
            raise ValueError(f"it holds an unknown array {name!r}")
        held[field] = array
    if not found or sorted(found) != list(range(len(found))):
        raise ValueError(f"its {what} must be numbered from 0 without gaps")
    return [found[number] for number in range(len(found))]


def _part(kind: str, arrays: Arrays, frame: tuple[int, ...]) -> Part:
    more = _taken(arrays, _Place)
    source = _single(kind, arrays)
    if len(source.shape) != 3:
        raise ValueError("the weights of a part must have 3 axes")
    n, _, n_classes = source.shape
    place = read(_Place, more)
    _check_places(place.places, n_classes, frame)
    part = Part(source, source.pooled(), place.places.astype(np.intp))
    first, second = place.factor_for, place.factor_against
    if first is None and second is None:
        return part
    if first is None or second is None:
        raise ValueError("a part must have both 'factor_for' and 'factor_against', or neither")
    if len(first) != n:
        raise ValueError(f"the factors of a part must be as many as its {n} rows")
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


def _errors(kind: str | None, arrays: Arrays, source: WeightSource) -> WeightErrors | None:
    """Make the errors of a source, of a kind; None without a kind.

    Raises
    ------
    ValueError
        If the kind is unknown, or an array is missing, unknown, or does not fit the others.
    """
    if kind is None:
        if arrays:
            raise ValueError(f"it holds unknown arrays {sorted(arrays)}")
        return None
    if kind not in _ERRORS or len(source.shape) != 3:
        raise ValueError(f"its errors are of the unknown kind {kind!r}")
    errors = _ERRORS[kind](dict(arrays))
    if errors.shape != source.shape:
        raise ValueError(f"it has errors of shape {errors.shape} for weights of {source.shape}")
    return errors


def _split(arrays: Arrays) -> tuple[Arrays, Arrays]:
    """Return the arrays of the weights, and those of their errors."""
    of_errors = {n.removeprefix(_PREFIX): a for n, a in arrays.items() if n.startswith(_PREFIX)}
    return {n: array for n, array in arrays.items() if not n.startswith(_PREFIX)}, of_errors


def _linear(arrays: Arrays) -> LinearErrors:
    _join_features(arrays)
    _join_sums(arrays, np.size(arrays.get("centre", ())) + 1)
    return read(LinearErrors, arrays)


def _table(arrays: Arrays) -> TableErrors:
    _join_sums(arrays, (*np.shape(arrays.get("index", ())), 0, 0)[1])
    errors = read(TableErrors, arrays)
    check_indices(errors.index, errors.tables.shape[1], "index")
    if len(errors.shares) < 2 or abs(errors.shares.sum() - 1.0) > 1e-6:
        raise ValueError("its array 'shares' must hold shares of at least 2 draws")
    return errors


def _sampled(arrays: Arrays) -> SampledErrors:
    """Make errors of arrays named ``draw.kind.field``."""
    draws = tuple(_source(kind, held) for kind, held in _numbered(arrays, "draws"))
    if len(draws) < 2 or len({draw.shape for draw in draws}) > 1 or len(draws[0].shape) != 3:
        raise ValueError("its draws must be at least 2, with weights of one shape")
    return SampledErrors(draws)


def _join_sums(arrays: Arrays, n_terms: int) -> None:
    """Put sums of terms in the place of the three arrays that make them up."""
    if not set(_SUMS) <= set(arrays):
        return
    data, indices, indptr = parts = tuple(arrays.pop(name) for name in _SUMS)
    _check_floats(data, "sum_data")
    check_compressed(data, indices, indptr, max(0, indptr.size - 1), n_terms)
    matrix = sparse.csr_array(parts, shape=(indptr.size - 1, n_terms))
    arrays["sums"] = {"matrix": matrix}


_ERRORS: dict[str, Callable[[Arrays], WeightErrors]] = {
    "LinearErrors": _linear,
    "SampledErrors": _sampled,
    "TableErrors": _table,
}
