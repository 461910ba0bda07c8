"""Evidence as a data frame, through narwhals: pandas, polars or pyarrow, whichever is there."""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING, Any, TypeGuard

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from shafer._validation import to_numpy

if TYPE_CHECKING:
    from shafer.evidence.discounted_evidence import DiscountedEvidence
    from shafer.evidence.evidence import Evidence

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


def set_names(chosen: NDArray[np.bool_], classes: NDArray[Any]) -> list[str]:
    """Write each row of a boolean (n, K) array as a set of labels: ``{a, b}``."""
    labels = label_texts(classes)
    return ["{" + ", ".join(labels[k] for k in np.flatnonzero(row)) + "}" for row in chosen]


def scalar_names(evidence: Evidence | DiscountedEvidence) -> list[str]:
    """Name what the table shows of each instance; discounted evidence has one thing more."""
    names = ["ignorance", "conflict", "weight_of_conflict"]
    return [*names[:1], "epistemic_ignorance", *names[1:]] if is_discounted(evidence) else names


def is_discounted(evidence: Evidence | DiscountedEvidence) -> TypeGuard[DiscountedEvidence]:
    """Say which of the two it is."""
    from shafer.evidence.discounted_evidence import (
        DiscountedEvidence,  # it shows itself by this file
    )

    return isinstance(evidence, DiscountedEvidence)


def columns(evidence: Evidence | DiscountedEvidence) -> dict[str, Any]:
    """Return the columns of the table, each of one value per instance."""
    table: dict[str, Any] = {}
    batch = evidence.logits.shape[:-1]
    if len(batch) == 2:  # one row for each component of each instance
        instance, component = (axis.ravel() for axis in np.indices(batch))
        table["instance"] = instance
        table["component"] = np.asarray(evidence.parts, dtype=object)[component].tolist()
    labels = label_texts(evidence.classes)
    for name in ("probability", "belief", "plausibility", "pignistic"):
        values = to_numpy(getattr(evidence, name)).reshape(-1, evidence.n_classes)
        for k, label in enumerate(labels):
            table[f"{name}_{label}"] = values[:, k]
    for name in scalar_names(evidence):
        table[name] = to_numpy(getattr(evidence, name)).reshape(-1)
    chosen = to_numpy(evidence.decide("interval_dominance")).reshape(-1, evidence.n_classes)
    table["decision"] = set_names(chosen, evidence.classes)
    return table


def to_frame(evidence: Evidence | DiscountedEvidence, backend: str | None) -> Any:
    """Build the native data frame."""
    return nw.from_dict(columns(evidence), backend=_pick_backend(backend)).to_native()
