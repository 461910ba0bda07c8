"""The masses of one component as curves over its values, for two Displays."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from shafer._checks.arrays import float_array, to_numpy
from shafer._typing import FloatArray, Label
from shafer.evidence.evidence import Evidence
from shafer.evidence.groups import component_positions
from shafer.evidence.mass_evidence import MassEvidence
from shafer.plots.set_names import leading_sets
from shafer.plots.style import (
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


def draw_masses(ax: Axes, values: FloatArray, masses: FloatArray, names: Sequence[str]) -> None:
    """Draw one curve per set; line styles as well as colours tell them apart.

    The mass on all classes, the ignorance, is always dotted and in the colour of text.
    """
    for position, name in enumerate(names):
        frame = name == "Θ"
        ax.plot(
            values,
            masses[:, position],
            color=ink() if frame else color(position),
            linestyle="dotted" if frame else line_style(position),
            linewidth=1.8,
            label=f"{name} (ignorance)" if frame else name,
        )
    ax.set_ylim(-0.03, 1.03)
    ax.set_yticks(np.linspace(0.0, 1.0, 6).round(1).tolist())  # also where strips stretch the axis
    ax.set_ylabel("mass")


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
