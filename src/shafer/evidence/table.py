"""Evidence as a data frame, through narwhals: pandas, polars or pyarrow."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._column import ColumnKind
from shafer._typing import FloatArray

if TYPE_CHECKING:
    from shafer.evidence.mass_evidence import MassEvidence

_BACKENDS = ("pandas", "polars", "pyarrow")


def _pick_backend(backend: str | None) -> Any:
    """Take the user's choice, else the library already in use, else one that is installed."""
    if backend is not None:
        if backend not in _BACKENDS:
            raise ValueError(f"backend must be one of {', '.join(_BACKENDS)}; got {backend!r}.")
        if importlib.util.find_spec(backend) is None:
            raise ValueError(f"backend {backend!r} is not installed; run: pip install {backend}")
        return backend
    found = [name for name in _BACKENDS if name in sys.modules] or [
        name for name in _BACKENDS if importlib.util.find_spec(name) is not None
    ]
    if not found:
        raise ValueError("to_frame needs a data-frame library; run: pip install pandas")
    return found[0]


def label_texts(classes: NDArray[Any]) -> list[str]:
    """Write the labels plainly, or with quotes where 1 and "1" would read the same."""
    plain = [str(label) for label in classes.tolist()]
    return plain if len(set(plain)) == len(plain) else [repr(x) for x in classes.tolist()]


def members_text(names: Iterable[Any]) -> str:
    """Write names as a set: ``{a, b}``. What would read as no name or two gets quotes."""
    texts = [str(name) for name in names]
    return "{" + ", ".join(repr(x) if _is_unclear(x) else x for x in texts) + "}"


def _is_unclear(text: str) -> bool:
    return not text.strip() or ", " in text or text[0] in "'\"{"


def set_names(chosen: NDArray[np.bool_], classes: NDArray[Any]) -> list[str]:
    """Write each row of a boolean (n, K) array as a set of labels, as :func:`members_text` does."""
    labels = label_texts(classes)
    # Few different sets occur, and each is written once.
    packed = np.packbits(chosen, axis=1)
    keys = np.ascontiguousarray(packed).view(f"V{max(1, packed.shape[1])}").ravel()
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    names = np.empty(len(first), dtype=object)
    names[:] = [members_text(labels[k] for k in np.flatnonzero(chosen[row])) for row in first]
    found: list[str] = names[place].tolist()
    return found


# What a column of class labels holds, by the kind of their array; texts otherwise.
_KINDS_OF_LABELS: dict[str, ColumnKind] = {"b": "truth", "i": "whole", "u": "whole", "f": "number"}


def kind_of_labels(classes: NDArray[Any]) -> ColumnKind:
    """Return what a column of class labels holds."""
    return _KINDS_OF_LABELS.get(classes.dtype.kind, "text")


def labels_at(positions: NDArray[np.intp], classes: NDArray[Any]) -> Any:
    """Return the labels at positions as a column: an array, or a list of texts."""
    if kind_of_labels(classes) != "text":
        return classes[positions]
    return np.array(label_texts(classes), dtype=object)[positions].tolist()


def evidence_columns(evidence: MassEvidence) -> dict[str, Any]:
    """Return the columns of the table, each of one value per instance.

    For the evidence of components there is one row for each component of each instance, and no
    answer.
    """
    table: dict[str, Any] = {}
    axis_names = evidence._axis_names
    if axis_names:
        instance, component = (x.ravel() for x in np.indices((len(evidence), len(axis_names))))
        table["instance"] = instance
        table["component"] = np.asarray(axis_names, dtype=object)[component].tolist()
    else:
        table["answer"] = labels_at(evidence._answers, evidence.classes)
    return table | probability_columns(evidence) | mass_columns(evidence)


def probability_columns(evidence: MassEvidence) -> dict[str, Any]:
    """Return the columns ``probability_c``: the probabilities that one bets with."""
    values = to_numpy(evidence.betting_probability).reshape(-1, evidence.n_classes)
    return columns_of_probabilities(values, evidence.classes)


def columns_of_probabilities(values: FloatArray, classes: NDArray[Any]) -> dict[str, Any]:
    """Return probabilities (n, K) that are known as the same columns."""
    return {f"probability_{x}": values[:, k] for k, x in enumerate(label_texts(classes))}


def mass_columns(evidence: MassEvidence) -> dict[str, Any]:
    """Return the columns of the mass functions: belief, plausibility, ignorance and conflict."""
    table: dict[str, Any] = {}
    labels = label_texts(evidence.classes)
    for name in evidence._class_columns:
        values = to_numpy(getattr(evidence, name)).reshape(-1, evidence.n_classes)
        for k, label in enumerate(labels):
            table[f"{name}_{label}"] = values[:, k]
    for name in evidence._scalar_columns:
        table[name] = to_numpy(getattr(evidence, name)).reshape(-1)
    return table


def probability_kinds(classes: NDArray[Any]) -> dict[str, ColumnKind]:
    """Return the names of the columns of probabilities, and what they hold."""
    return {f"probability_{label}": "number" for label in label_texts(classes)}


def mass_kinds(kind: type[MassEvidence], classes: NDArray[Any]) -> dict[str, ColumnKind]:
    """Return the names of the columns of mass functions, and what they hold, before any row."""
    labels = label_texts(classes)
    names = [f"{name}_{label}" for name in kind._class_columns for label in labels]
    return dict.fromkeys([*names, *kind._scalar_columns], "number")


def native_frame(columns: dict[str, Any], index: Any, backend: str | None) -> Any:
    """Build the data frame of a library; a pandas frame gets the index, if there is one."""
    frame = nw.from_dict(columns, backend=_pick_backend(backend))
    native = frame.to_native()
    if index is not None and frame.implementation.is_pandas_like():
        return native.set_axis(index, axis=0)
    return native
