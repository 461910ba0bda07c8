"""How every Display looks: colours, line styles, strips of instances, and the axes to draw on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import AbstractPathEffect, withStroke

from shafer._typing import FloatArray

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's palette, less black and yellow: one is lost on dark, the other on light."""

LINE_STYLES: tuple[Any, ...] = (
    "solid",
    "dashed",
    "dashdot",
    (0, (6, 1.5, 1, 1.5, 1, 1.5)),
    (0, (9, 2)),
    (0, (3, 1, 1, 1)),
    (0, (2, 1)),
)
MARKERS = ("^", "o", "s", "D", "v", "P")
STRIP_HEIGHT = 0.055  # of the axes


def color(position: int) -> str:
    """Return a colour; with ``line_style`` the first forty-two differ."""
    return COLORS[position % len(COLORS)]


def line_style(position: int) -> Any:
    """Return a line style; the period is prime to that of the colours."""
    return LINE_STYLES[position % len(LINE_STYLES)]


def axes_for(ax: Axes | None) -> tuple[Axes, Figure]:
    """Return the axes to draw on, new ones if none are given, and their figure."""
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots()[1]
    figure = ax.get_figure(root=True)
    assert figure is not None
    return ax, figure


def ink() -> str:
    """Return the colour of text under the style in force: dark on light, light on dark."""
    return str(matplotlib.rcParams["text.color"])


def halo(width: float = 3.0) -> list[AbstractPathEffect]:
    """Return an outline in the colour of the background, for text that lies over lines."""
    return [withStroke(linewidth=width, foreground=matplotlib.rcParams["axes.facecolor"])]


def literal(text: object) -> str:
    """Keep matplotlib from reading dollar signs in a user's name as mathematics."""
    return str(text).replace("$", r"\$")


def draw_strips(ax: Axes, instances: Mapping[str, FloatArray]) -> None:
    """Mark instances along the horizontal axis, one strip a group, jittered to part ties.

    Two groups take the lower and the upper axis; more lie below, above each other. The vertical
    range grows by what the strips need.
    """
    if not instances:
        return
    pair = len(instances) == 2
    below, above = (1, 1) if pair else (len(instances), 0)
    low, high = ax.get_ylim()
    unit = (high - low) * STRIP_HEIGHT / (1.0 - STRIP_HEIGHT * (below + above))
    ax.set_ylim(low - below * unit, high + above * unit)
    for position, (name, values) in enumerate(instances.items()):
        base = (0.0 if position == 0 else 1.0 - STRIP_HEIGHT) if pair else position * STRIP_HEIGHT
        # Multiples of the golden ratio modulo one: spread evenly, and the same in every run.
        jitter = (np.arange(len(values)) * 0.6180339887498949) % 1.0
        ax.plot(
            values,
            base + STRIP_HEIGHT * (0.15 + 0.7 * jitter),
            transform=ax.get_xaxis_transform(),
            linestyle="none",
            marker=MARKERS[position % len(MARKERS)],
            markersize=2.8,
            markeredgewidth=0.5,
            markerfacecolor="none" if position % 2 else color(position),
            markeredgecolor=color(position),
            alpha=0.7,
            label=f"_{literal(name)}",
        )
