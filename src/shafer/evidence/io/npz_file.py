"""Evidence on disk: one ``.npz`` file of plain arrays and a JSON header. Nothing is pickled.

The header holds a checksum of everything else. Files of version 0.1.0 have none; their arrays are
checked all the same.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shafer._array_file import read_array_file, write_array_file
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
    bool,
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
    return read_array_file(path, _FORMAT, _understood, "Evidence.save", "the evidence")


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
