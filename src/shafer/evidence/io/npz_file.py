"""Evidence on disk: one ``.npz`` file of plain arrays and a JSON header. Nothing is pickled.

The header holds a checksum of everything else. Files of version 0.1.0 have none; their arrays are
checked all the same.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shafer._files import replacing
from shafer._safe_archive import open_archive, read_array
from shafer._text import printable, shortened
from shafer._validation import class_labels, component_names, to_numpy
from shafer.evidence.component_layout import ComponentLayout, read_layout
from shafer.evidence.io.stored_errors import arrays_to_store, split_arrays, stored_errors
from shafer.evidence.io.stored_sources import Arrays, stored_source
from shafer.evidence.weight_errors import WeightErrors
from shafer.evidence.weight_sources import WeightSource, stored_kind

if TYPE_CHECKING:
    from shafer.evidence.evidence import Evidence

_FORMAT = "shafer-evidence-1"
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
]


def save(evidence: Evidence, path: str | os.PathLike[str]) -> None:
    """Write the source, its errors and layout, the class labels and the component names."""
    source = evidence.unchanged_source()
    arrays: Arrays = {name: to_numpy(array) for name, array in source.arrays().items()}
    arrays |= arrays_to_store(evidence.errors)
    header: dict[str, Any] = {
        "format": _FORMAT,
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
    classes = evidence.classes
    if classes.dtype.kind not in _LABEL_KINDS:
        header["classes"] = _plain_labels(classes)
        classes = np.empty(0)
    arrays["classes"] = classes
    header["checksum"] = _checksum(header, arrays)
    with replacing(path) as file:
        np.savez(file, allow_pickle=False, header=np.asarray(json.dumps(header)), **arrays)


def _plain_labels(classes: NDArray[Any]) -> list[Any]:
    labels: list[Any] = classes.tolist()
    for label in labels:
        if not isinstance(label, str | int | float | bool):
            raise ValueError(
                f"save() can store class labels that are strings or numbers; got {label!r} of type "
                f"{type(label).__name__}. Rename the classes before training."
            )
    return labels


def _checksum(header: dict[str, Any], arrays: Arrays) -> str:
    """Return the SHA-256 of the header, and of the names, types, shapes and bytes of all arrays."""
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(repr((name, array.dtype.str, array.shape)).encode())
        if array.size:
            digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


class _OtherFormatError(Exception):
    """The file has a format of another version."""


def load(path: str | os.PathLike[str]) -> Stored:
    """Read the arguments of ``Evidence.from_source``, in their order."""
    with open(path, "rb") as file:  # a missing file is an OSError
        try:
            return _understood(*_read(file))
        except _OtherFormatError as error:
            raise ValueError(f"{os.fspath(path)!r} {error}") from None
        except MemoryError:
            raise
        except Exception as error:  # a damaged file can fail in any way
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ValueError(
                f"{os.fspath(path)!r} is not a file written by Evidence.save, or is damaged: "
                f"{shortened(printable(reason), 200)}. Save the evidence again."
            ) from error


def _read(file: BinaryIO) -> tuple[dict[str, Any], Arrays]:
    with open_archive(file) as archive:
        arrays = {
            name.removesuffix(".npy"): read_array(archive, name) for name in archive.namelist()
        }
    header = json.loads(str(arrays.pop("header", "null")))
    if not isinstance(header, dict):
        raise ValueError("it has no header")
    if header.get("format") != _FORMAT:
        found = shortened(repr(header.get("format")))
        raise _OtherFormatError(
            f"has format {found}; this version reads {_FORMAT!r}. Update shafer to read it."
        )
    checksum = header.pop("checksum", None)
    if checksum is not None and checksum != _checksum(header, arrays):
        raise ValueError("its content does not match its checksum")
    return header, arrays


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


def _texts(header: dict[str, Any], key: str) -> tuple[str, ...]:
    texts = header.get(key)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"its {key!r} must be a list of strings")
    return tuple(texts)
