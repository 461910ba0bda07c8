"""Evidence on disk: one ``.npz`` file of plain arrays and a JSON header. Nothing is pickled."""

from __future__ import annotations

import json
import os
import zipfile
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shafer._files import replacing
from shafer._validation import check_finite, class_labels, component_names, to_numpy
from shafer.evidence.weight_sources import (
    DenseWeights,
    JoinedWeights,
    LinearWeights,
    Part,
    ScaledWeights,
    SparseWeights,
    WeightSource,
)

if TYPE_CHECKING:
    from shafer.evidence.evidence import Evidence

_FORMAT = "shafer-evidence-1"
Stored: TypeAlias = tuple[WeightSource, NDArray[Any], tuple[str, ...], tuple[str, ...]]
_KINDS = {kind.__name__: kind for kind in (DenseWeights, LinearWeights, SparseWeights)}


def save(evidence: Evidence, path: str | os.PathLike[str]) -> None:
    """Write the source, the class labels and the component names."""
    source = evidence.unchanged_source()
    arrays: dict[str, Any] = {k: to_numpy(array) for k, array in source.arrays().items()}
    if isinstance(source, ScaledWeights):  # the factors are one of the arrays
        source = source.source
    header = {
        "format": _FORMAT,
        "source": type(source).__name__,
        "names": list(evidence.component_names),
        "parts": list(evidence.parts),
    }
    classes = evidence.classes
    if classes.dtype.kind not in "biufU":
        header["classes"] = _plain_labels(classes)
        classes = np.empty(0)
    with replacing(path) as file:
        np.savez(file, header=np.asarray(json.dumps(header)), classes=classes, **arrays)


def _plain_labels(classes: NDArray[Any]) -> list[Any]:
    labels: list[Any] = classes.tolist()
    for label in labels:
        if not isinstance(label, str | int | float | bool):
            raise ValueError(
                f"save() keeps class labels that are strings or numbers; got {label!r} "
                f"of type {type(label).__name__}."
            )
    return labels


def load(path: str | os.PathLike[str]) -> Stored:
    """Read the source, the class labels, the component names and the names of the parts."""
    with open(path, "rb") as file:  # a missing file is an OSError, whatever is in it is not
        try:
            header, arrays = _read(file)
            return _understood(header, arrays)
        except _NewerFormatError as error:
            raise ValueError(f"{os.fspath(path)!r} {error}") from None
        except Exception as error:  # a damaged archive can fail in any way
            raise ValueError(
                f"{os.fspath(path)!r} is not a file written by Evidence.save, or is damaged."
            ) from error


class _NewerFormatError(Exception):
    """The file says that it is of another format."""


def _read(file: BinaryIO) -> tuple[dict[str, Any], dict[str, Any]]:
    with zipfile.ZipFile(file):  # np.load would also take other kinds of files
        pass
    file.seek(0)
    with np.load(file, allow_pickle=False) as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays.pop("header")))
    if header["format"] != _FORMAT:
        raise _NewerFormatError(f"has format {header['format']!r}; this version reads {_FORMAT!r}.")
    return header, arrays


def _understood(header: dict[str, Any], arrays: dict[str, Any]) -> Stored:
    classes = arrays.pop("classes")
    if "classes" in header:
        classes = np.empty(len(header["classes"]), dtype=object)
        classes[:] = header["classes"]
    source = (
        _joined(arrays)
        if header["source"] == JoinedWeights.__name__
        else _source(header["source"], arrays)
    )
    *_, n_components, n_classes = source.shape
    return (
        source,
        class_labels(classes, n_classes),
        component_names(header["names"], n_components),
        tuple(str(name) for name in header["parts"]),
    )


def _source(kind: str, arrays: dict[str, Any]) -> WeightSource:
    """Make a source of its arrays."""
    if kind == "SparseWeights":
        parts = (arrays.pop("data"), arrays.pop("indices"), arrays.pop("indptr"))
        arrays["features"] = sparse.csr_array(parts, shape=tuple(arrays.pop("shape")))
        check_finite(arrays["features"].data, "features")
    for name, array in arrays.items():
        if not sparse.issparse(array):
            check_finite(array, name)
    factor = arrays.pop("row_factor", None)
    source: WeightSource = _KINDS[kind](**arrays)
    return source if factor is None else ScaledWeights(source, factor)


def _joined(arrays: dict[str, Any]) -> WeightSource:
    """Make joined weights of arrays named by the part, its kind and the field."""
    factor = arrays.pop("row_factor", None)
    by_part: dict[tuple[int, str], dict[str, Any]] = {}
    for name, array in arrays.items():
        number, kind, field = name.split(".")
        by_part.setdefault((int(number), kind), {})[field] = array
    parts = []
    for (_, kind), fields in sorted(by_part.items()):
        places = fields.pop("places").astype(np.intp)
        first, second = (fields.pop(name, None) for name in ("factor_for", "factor_against"))
        source = _source(kind, fields)
        if first is None:
            parts.append(Part(source, source.pooled(), places))
            continue
        check_finite(first, "factor_for")
        check_finite(second, "factor_against")
        same = np.array_equal(first, second)
        parts.append(Part(source, source.pooled(), places, (first, first if same else second)))
    joined = JoinedWeights(tuple(parts))
    return joined if factor is None else ScaledWeights(joined, factor)
