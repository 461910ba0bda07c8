"""Evidence on disk: one ``.npz`` file of plain arrays and a JSON header. Nothing is pickled."""

from __future__ import annotations

import json
import os
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shafer._files import replacing
from shafer._validation import to_numpy
from shafer.evidence.weights import DenseWeights, LinearWeights, SparseWeights, WeightSource

if TYPE_CHECKING:
    from shafer.evidence.evidence import Evidence

_FORMAT = "shafer-evidence-1"
_KINDS = {kind.__name__: kind for kind in (DenseWeights, LinearWeights, SparseWeights)}


def save(evidence: Evidence, path: str | os.PathLike[str]) -> None:
    """Write the source, the class labels and the component names."""
    header = {
        "format": _FORMAT,
        "source": type(evidence.source).__name__,
        "names": list(evidence.component_names),
    }
    classes = evidence.classes
    if classes.dtype.kind not in "biufU":
        header["classes"] = _plain_labels(classes)
        classes = np.empty(0)
    arrays: dict[str, Any] = {k: to_numpy(array) for k, array in evidence.source.arrays().items()}
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


def load(path: str | os.PathLike[str]) -> tuple[WeightSource, NDArray[Any], tuple[str, ...]]:
    """Read the source, the class labels and the component names."""
    try:
        with zipfile.ZipFile(path):  # np.load would also take other kinds of files
            pass
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        header = json.loads(str(arrays.pop("header")))
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ValueError(f"{os.fspath(path)!r} is not a file written by Evidence.save.") from error
    if header.get("format") != _FORMAT:
        raise ValueError(
            f"{os.fspath(path)!r} has format {header.get('format')!r}; "
            f"this version reads {_FORMAT!r}."
        )
    classes = arrays.pop("classes")
    if "classes" in header:
        classes = np.empty(len(header["classes"]), dtype=object)
        classes[:] = header["classes"]
    if header["source"] == "SparseWeights":
        parts = (arrays.pop("data"), arrays.pop("indices"), arrays.pop("indptr"))
        arrays["features"] = sparse.csr_array(parts, shape=tuple(arrays.pop("shape")))
    return _KINDS[header["source"]](**arrays), classes, tuple(header["names"])
