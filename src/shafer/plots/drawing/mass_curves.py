"""The masses of one component as curves over its values, for two Displays."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from shafer._typing import FloatArray, Label
from shafer.plots.drawing.evidence_arrays import numbers
from shafer.plots.drawing.set_names import leading_sets
from shafer.plots.drawing.single_component import Component
from shafer.plots.drawing.style import (
    color,
    draw_legend,
    draw_strips,
    ink,
    line_style,
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
