"""The masses of one component as curves over its values, for two Displays."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from shafer._checks.arrays import float_array, to_numpy
from shafer._checks.labels import is_missing
from shafer._typing import FloatArray, Label
from shafer.evidence.evidence import Evidence
from shafer.evidence.groups import component_positions
from shafer.evidence.mass_evidence import MassEvidence
from shafer.plots.set_names import leading_sets
from shafer.plots.style import (
    MARKERS,
    color,
    draw_legend,
    draw_strips,
    ink,
    line_style,
    numbers,
    of_instances,
    without_middle,
)


class MassCurves(NamedTuple):
    """One component over its values: its weights (n, K), and the masses (n, S) of some sets."""

    name: str
    values: FloatArray
    weights: FloatArray
    masses: FloatArray
    sets: tuple[str, ...]


def mass_curves(alone: Component, top: int, sets: Sequence[Collection[Label]] | None) -> MassCurves:
    """Return the weights and masses of a component by itself, in the order of its values.

    Parameters
    ----------
    alone : Component
    top : int
        Sets at most; the others are pooled.
    sets : sequence of collections of class labels, optional
        Take the masses of these sets, in this order.
    """
    leading = leading_sets(alone.evidence, top, sets)
    weights = numbers(alone.evidence.weights)[:, 0, :]
    return MassCurves(alone.name, alone.values, weights, leading.masses, leading.names)


def draw_masses(
    ax: Axes,
    values: FloatArray,
    masses: FloatArray,
    names: Sequence[str],
    *,
    points: bool = False,
) -> None:
    """Draw one curve per set; line styles as well as colours tell them apart.

    The mass on all classes, the ignorance, is always dotted and in the colour of text. With
    ``points``, each row is a point instead.
    """
    for position, name in enumerate(names):
        frame = name == "Θ"
        curve: dict[str, Any] = {"linestyle": "dotted" if frame else line_style(position)}
        look = point_look(position) if points else {**curve, "linewidth": 1.8}
        ax.plot(
            values,
            masses[:, position],
            color=ink() if frame else color(position),
            label=f"{name} (ignorance)" if frame else name,
            **look,
        )
    ax.set_ylim(-0.03, 1.03)
    ax.set_yticks(np.linspace(0.0, 1.0, 6).round(1).tolist())  # also where strips stretch the axis
    ax.set_ylabel("mass")


def point_look(position: int) -> dict[str, Any]:
    """Return the look of points that are not joined by a line."""
    marker = MARKERS[(position + 1) % len(MARKERS)]
    return {"linestyle": "none", "marker": marker, "markersize": 3.0, "alpha": 0.6}


# Values along the axis: numbers, or categories; and whether the weights are a function of them.

_MOST_TURNS = 10.0  # how many times its range a curve may rise and fall in all
_MISSING = "missing"


def axis_values(values: Any) -> tuple[Any, tuple[str, ...] | None]:
    """Return values as numbers, and the names of the categories if they are categories."""
    given = np.asarray(to_numpy(values) if hasattr(values, "dtype") else values, dtype=object)
    if given.ndim != 1 or not any(isinstance(value, str) for value in given.tolist()):
        return values, None
    own = getattr(getattr(values, "dtype", None), "categories", None)  # of pandas, in their order
    names = [_MISSING if is_missing(value) else str(value) for value in given.tolist()]
    order = [] if own is None else [str(value) for value in own]
    every = [*order, *sorted(set(names) - set(order))]
    every = [name for name in every if name in set(names)]
    place = {name: float(k) for k, name in enumerate(every)}
    return np.array([place[name] for name in names]), tuple(every)


def beside_each_other(places: FloatArray) -> FloatArray:
    """Spread the rows of each category over its place; evenly, and the same in every run."""
    return np.asarray(places + 0.6 * ((np.arange(len(places)) * 0.6180339887498949) % 1.0 - 0.5))


def is_function(values: FloatArray, weights: FloatArray) -> bool:
    """Return whether weights (n, K) depend on the ascending values alone, as far as they show.

    They do not if rows of one value have different weights, or if the weights jump up and down from
    row to row, as those of a tree that also looks at other inputs.

    Examples
    --------
    >>> x = np.linspace(0.0, 1.0, 100)
    >>> is_function(x, x[:, None] ** 2), is_function(x, (x * (-1) ** np.arange(100))[:, None])
    (True, False)
    """
    known = np.isfinite(values)
    values, weights = values[known], weights[known]
    if len(values) < 2:
        return True
    reach = np.ptp(weights, axis=0)
    steps = np.abs(np.diff(weights, axis=0))
    same = np.diff(values) == 0.0
    if (steps[same] > 1e-6 * reach.max()).any():
        return False
    return bool((steps.sum(axis=0) <= _MOST_TURNS * reach + 1e-9 * reach.max()).all())


def dress_curves(
    ax: Axes, xlabel: str, instances: Mapping[str, FloatArray], *, legend: bool
) -> None:
    """Add the instances along the axis, the name of the axis, and the legend if wanted."""
    draw_strips(ax, instances)
    ax.set_xlabel(xlabel)
    if legend:
        draw_legend(ax)


def axis_name(name: str) -> str:
    """Return a component's name, short enough for an axis."""
    return without_middle(name, 60)


# One component taken out of the evidence, in the order of its values.


class Component(NamedTuple):
    """A component's name, its values in ascending order, and its own evidence in that order."""

    name: str
    values: FloatArray
    evidence: Evidence


def component_alone(evidence: MassEvidence, component: str | int, values: Any) -> Component:
    """Take one component, by name or position, with its value in each row of the evidence."""
    plain = of_instances(evidence.weighed)
    (position,) = component_positions([component], plain.component_names)
    array = to_numpy(float_array(values, "values", ndim=(1,)))
    if array.shape != (len(plain),):
        raise ValueError(
            f"values must have one value for each of the {len(plain)} rows of evidence; "
            f"got shape {array.shape}."
        )
    name = plain.component_names[position]
    source = plain.unchanged_source().keep([position])  # without the others' weights
    own = Evidence.from_source(source, plain.classes, (name,))
    order = np.argsort(array, kind="stable")
    return Component(name, array[order], own[order])
