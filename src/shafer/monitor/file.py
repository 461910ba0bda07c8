"""A monitor on disk: arrays and a JSON header, without the explainer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shafer._checks.labels import component_names
from shafer._files.arrays import Arrays, Header, read_array_file, write_array_file
from shafer._files.codec import MONITOR, read, written
from shafer.explain.explainer import Explainer
from shafer.monitor.options import MonitorOptions, checked_options
from shafer.monitor.reference import (
    LEAST_ROWS,
    MOST_AXES,
    ExplainerPrint,
    ReferenceRows,
    watched,
)

if TYPE_CHECKING:
    from shafer.monitor.monitor import Monitor


def save_monitor(monitor: Monitor, path: str | os.PathLike[str]) -> None:
    """Write the reference, the options, and the print of the explainer."""
    own, reference = written(monitor.explainer_print), written(monitor.reference)
    classes = own.pop("classes").tolist()
    labels, profiles = reference["labels"], reference["profile"]["profiles"]
    header = {
        "format": MONITOR.current,
        "names": list(own.pop("component_names")),
        "classes": plain_labels(classes, "save() can store class labels that are"),
        "factor": own.pop("factor"),
        "options": written(monitor.options),
        "profile": [[float(p.pop("noise")), float(p.pop("rest"))] for p in profiles],
        "labels": labels is not None,
        "covered": labels is not None and "covered" in labels,
    }
    arrays: Arrays = own | reference["axes"] | _some(reference, "held_out", "tolerance")
    parts = {"rows": reference["facts"], "labels": labels or {}}
    parts |= {f"profile{k}": profile for k, profile in enumerate(profiles)}
    for part, held in parts.items():
        arrays |= {f"{part}_{name}": array for name, array in held.items()}
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
        path, MONITOR, partial(_understood, watched(explainer)), "Monitor.save", "the monitor"
    )
    own.check(explainer)
    return explainer, reference, options, own


def _understood(
    varying: list[int], header: Header, arrays: Arrays
) -> tuple[ReferenceRows, MonitorOptions, ExplainerPrint]:
    own = _print(header, arrays)
    kept = [own.component_names[g] for g in varying if g < len(own.component_names)]
    profiles = [
        {**_part(arrays, f"profile{k}"), "noise": noise, "rest": rest}
        for k, (noise, rest) in enumerate(header["profile"])
    ]
    given = {
        "axes": _some(arrays, "centre", "axes"),
        "profile": {"classes": own.classes, "component_names": kept, "profiles": profiles},
        **_some(arrays, "held_out", "tolerance"),
        "facts": _part(arrays, "rows"),
        "labels": _part(arrays, "labels") if header["labels"] else None,
    }
    reference = read(ReferenceRows, given, {"K": len(own.classes), "G": len(kept)})
    _check(reference)
    if ("labels_covered" in arrays) != header["covered"]:
        raise ValueError("its sets do not fit its labels")
    return reference, checked_options(**header["options"]), own


def _print(header: Header, arrays: Arrays) -> ExplainerPrint:
    stored = plain_labels(header["classes"], "its class labels must be")
    classes = np.empty(len(stored), dtype=object)
    classes[:] = stored
    given = {"component_names": header["names"], "classes": classes, "factor": header["factor"]}
    own = read(ExplainerPrint, {**given, **_some(arrays, "means", "offset", "beta")})
    component_names(own.component_names, len(own.component_names))
    return own


def _some(held: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return what is held under these names."""
    return {name: held[name] for name in names if name in held}


def _part(arrays: Arrays, part: str) -> Arrays:
    """Return the arrays of a part, by the names of its fields."""
    start = f"{part}_"
    return {n.removeprefix(start): array for n, array in arrays.items() if n.startswith(start)}


def _check(reference: ReferenceRows) -> None:
    """Check what shapes do not tell."""
    axes, n = reference.axes, len(reference)
    if not 1 <= axes.n_axes <= MOST_AXES or not axes.used[:, 0].all():
        raise ValueError(f"it has {axes.n_axes} axes for a component")
    if n < LEAST_ROWS or reference.held_out.sum() != n // 2:
        raise ValueError("its reference rows are not divided into halves")
    if not all(len(profile.distances) for profile in reference.profile.profiles):
        raise ValueError("a profile has no rows")


def plain_labels(labels: Sequence[Any], wrong: str) -> list[Any]:
    """Return class labels that JSON can hold; ``wrong`` begins the error for others."""
    for label in labels:
        if not isinstance(label, str | int | float | bool):
            raise ValueError(
                f"{wrong} strings, numbers or truth values; got {label!r} of type "
                f"{type(label).__name__}. Rename the classes before training."
            )
    return list(labels)
