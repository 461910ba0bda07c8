"""A monitor on disk: arrays and a JSON header, without the explainer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shafer._checks.labels import class_labels
from shafer._files.arrays import Arrays, Header, read_array_file, write_array_file
from shafer._typing import BoolArray, FloatArray
from shafer.evidence.typicality import ClassProfile, WeightProfile
from shafer.explain.explainer import Explainer
from shafer.monitor.options import MonitorOptions, checked_options
from shafer.monitor.reference import (
    LEAST_ROWS,
    MOST_AXES,
    ComponentAxes,
    ExplainerPrint,
    LabelFacts,
    ReferenceRows,
    RowFacts,
    watched,
)

if TYPE_CHECKING:
    from shafer.monitor.monitor import Monitor


FORMAT = "shafer-monitor-1"
_PROFILE_ARRAYS = ("mean", "spread", "axes", "precision", "distances")


def save_monitor(monitor: Monitor, path: str | os.PathLike[str]) -> None:
    """Write the reference, the options, and the print of the explainer."""
    own, reference = monitor.explainer_print, monitor.reference
    labels = own.classes.tolist()
    header = {
        "format": FORMAT,
        "names": list(own.component_names),
        "classes": plain_labels(labels, "save() can store class labels that are"),
        "factor": own.factor,
        "options": {f.name: getattr(monitor.options, f.name) for f in fields(MonitorOptions)},
        "profile": [[float(p.noise), float(p.rest)] for p in reference.profile.profiles],
        "labels": reference.labels is not None,
        "covered": reference.labels is not None and reference.labels.covered is not None,
    }
    arrays: Arrays = {
        "means": own.means,
        "offset": own.offset,
        "beta": own.beta,
        "centre": reference.axes.centre,
        "axes": reference.axes.axes,
        "held_out": reference.held_out,
        "tolerance": reference.tolerance,
    }
    arrays |= {f"rows_{f.name}": getattr(reference.facts, f.name) for f in fields(RowFacts)}
    if reference.labels is not None:
        held = {f.name: getattr(reference.labels, f.name) for f in fields(LabelFacts)}
        arrays |= {f"labels_{name}": array for name, array in held.items() if array is not None}
    for k, profile in enumerate(reference.profile.profiles):
        arrays |= {f"profile{k}_{name}": getattr(profile, name) for name in _PROFILE_ARRAYS}
    write_array_file(path, header, arrays)


def load_monitor(
    path: str | os.PathLike[str], explainer: Any
) -> tuple[Explainer, ReferenceRows, MonitorOptions, ExplainerPrint]:
    """Read the arguments of ``Monitor``, and check that the explainer belongs to them."""
    if not isinstance(explainer, Explainer):
        raise ValueError(
            f"explainer must be the Explainer that the monitor was fitted with; got "
            f"{type(explainer).__name__}."
        )
    reference, options, own = read_array_file(
        path, FORMAT, _understood, "Monitor.save", "the monitor"
    )
    own.check(explainer)
    return explainer, reference, options, own


def _understood(
    header: Header, arrays: Arrays
) -> tuple[ReferenceRows, MonitorOptions, ExplainerPrint]:
    own = _print(header, arrays)
    options = checked_options(**header["options"])
    n_components, n_classes = len(watched(own.component_names)), len(own.classes)
    axes = ComponentAxes(
        floats(arrays, "centre", (n_components, n_classes)),
        floats(arrays, "axes", (n_components, n_classes, None)),
    )
    if not 1 <= axes.n_axes <= MOST_AXES or not axes.used[:, 0].all():
        raise ValueError(f"it has {axes.n_axes} axes for a component")
    facts = _facts(arrays, axes)
    n = len(facts)
    held_out = booleans(arrays, "held_out", (n,))
    if n < LEAST_ROWS or held_out.sum() != n // 2:
        raise ValueError("its reference rows are not divided into halves")
    tolerance = floats(arrays, "tolerance", (n_components, axes.n_axes))
    labels = _labels(arrays, n, bool(header["covered"])) if header["labels"] else None
    profile = _profile(header, arrays, own)
    return ReferenceRows(axes, profile, held_out, facts, labels, tolerance), options, own


def _print(header: Header, arrays: Arrays) -> ExplainerPrint:
    stored = plain_labels(header["classes"], "its class labels must be")
    classes = np.empty(len(stored), dtype=object)
    classes[:] = stored
    factor = header["factor"]
    if not isinstance(factor, float) or not 0.0 < factor < np.inf:
        raise ValueError(f"its factor must be a number > 0; got {factor!r}")
    means = floats(arrays, "means", (None,) * arrays["means"].ndim)
    return ExplainerPrint(
        texts(header, "names"),
        class_labels(classes, len(classes)),
        means,
        floats(arrays, "offset", (len(classes),)),
        floats(arrays, "beta", (None,) * arrays["beta"].ndim),
        factor,
    )


def _facts(arrays: Arrays, axes: ComponentAxes) -> RowFacts:
    n_components, n_classes, n_axes = axes.axes.shape
    logits = floats(arrays, "rows_logits", (None, n_classes))
    n = len(logits)
    row = {
        name: floats(arrays, f"rows_{name}", (n,))
        for name in ("row_factor", "log_ignorance", "weight_of_disagreement", "gaps", "typicality")
    }
    return RowFacts(
        logits=logits,
        scores=floats(arrays, "rows_scores", (n, n_components, n_axes)),
        weight_sums=floats(arrays, "rows_weight_sums", (None, n_components, n_classes)),
        unseen=booleans(arrays, "rows_unseen", (n,)),
        **row,
    )


def _labels(arrays: Arrays, n: int, covered: bool) -> LabelFacts:
    return LabelFacts(
        floats(arrays, "labels_log_loss", (n,)),
        floats(arrays, "labels_brier", (n,)),
        booleans(arrays, "labels_correct", (n,)),
        booleans(arrays, "labels_covered", (n,)) if covered else None,
    )


def _profile(header: Header, arrays: Arrays, own: ExplainerPrint) -> WeightProfile:
    names = tuple(own.component_names[g] for g in watched(own.component_names))
    if len(header["profile"]) != len(own.classes):
        raise ValueError("it must have one profile for each class")
    profiles = []
    for k, (noise, rest) in enumerate(header["profile"]):
        axes = floats(arrays, f"profile{k}_axes", (len(names), None))
        distances = floats(arrays, f"profile{k}_distances", (None,))
        if len(distances) == 0:
            raise ValueError("a profile has no rows")
        profiles.append(
            ClassProfile(
                floats(arrays, f"profile{k}_mean", (len(names),)),
                floats(arrays, f"profile{k}_spread", (len(names),)),
                float(noise),
                axes,
                floats(arrays, f"profile{k}_precision", (axes.shape[1],)),
                float(rest),
                distances,
            )
        )
    return WeightProfile(own.classes, names, tuple(profiles))


# Arrays and values of a saved monitor, checked when they are read.


def floats(arrays: Arrays, name: str, shape: Sequence[int | None]) -> FloatArray:
    """Return a finite float array of a shape; None stands for any length."""
    array = _shaped(arrays, name, shape)
    if array.dtype != np.float64 or not np.isfinite(array).all():
        raise ValueError(f"its array {name!r} must hold finite float64 numbers")
    return array


def booleans(arrays: Arrays, name: str, shape: Sequence[int | None]) -> BoolArray:
    """Return a boolean array of a shape."""
    array = _shaped(arrays, name, shape)
    if array.dtype != np.bool_:
        raise ValueError(f"its array {name!r} must hold truth values")
    return array


def whole_numbers(
    arrays: Arrays, name: str, shape: Sequence[int | None], least: int
) -> NDArray[np.int64]:
    """Return an array of whole numbers of at least ``least``."""
    array = _shaped(arrays, name, shape)
    if array.dtype != np.int64 or (array < least).any():
        raise ValueError(f"its array {name!r} must hold whole numbers of at least {least}")
    return array


def _shaped(arrays: Arrays, name: str, shape: Sequence[int | None]) -> NDArray[Any]:
    if name not in arrays:
        raise ValueError(f"it has no array {name!r}")
    array = arrays[name]
    wrong = len(shape) != array.ndim or any(
        wanted is not None and wanted != given
        for wanted, given in zip(shape, array.shape, strict=True)
    )
    if wrong:
        raise ValueError(f"its array {name!r} has shape {array.shape}, not {tuple(shape)}")
    return array


def texts(header: Header, key: str) -> tuple[str, ...]:
    """Return a list of distinct strings of the header."""
    found = header.get(key)
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise ValueError(f"its {key!r} must be a list of strings")
    if len(set(found)) != len(found):
        raise ValueError(f"its {key!r} must be distinct")
    return tuple(found)


def plain_labels(labels: Sequence[Any], wrong: str) -> list[Any]:
    """Return class labels that JSON can hold; ``wrong`` begins the error for others."""
    for label in labels:
        if not isinstance(label, str | int | float | bool):
            raise ValueError(
                f"{wrong} strings, numbers or truth values; got {label!r} of type "
                f"{type(label).__name__}. Rename the classes before training."
            )
    return list(labels)
