"""Bars with a tip, laid end to end, and the numbers beside them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Polygon

from shafer._typing import FloatArray
from shafer.plots.drawing.style import GREY, halo, inner_width, text_points

HALF = 0.36  # of the height of a bar, in rows


class Number(NamedTuple):
    """A number beside the end of a bar, to its right or to its left."""

    end: float
    row: float
    right: bool
    text: str
    lift: float = 0.0
    """Points above the middle of the bar."""


def limits_with(ax: Axes, ends: FloatArray, texts: list[Number]) -> tuple[float, float]:
    """Return limits that leave room for the numbers beside the bars."""
    low, high = float(ends.min()), float(ends.max())
    if low == high:
        low, high = low - 1.0, high + 1.0
    inside = (low, high)
    across = inner_width(ax)
    for _ in range(6):  # the wider the limits, the more a number takes of them
        unit = (high - low) / across
        reach = [
            number.end
            + (1 if number.right else -1) * unit * (text_points(number.text, "small") + 9)
            for number in texts
        ]
        low, high = min(inside[0], *reach), max(inside[1], *reach)
        pad = 0.03 * (high - low)
        low, high = low - pad, high + pad
    return low, high


def draw_arrow(
    ax: Axes, start: float, weight: float, row: float, look: dict[str, Any], width: float
) -> None:
    """Draw a bar with a tip, so that its direction is seen without its colour."""
    end = start + weight
    neck = end - np.sign(weight) * min(abs(weight), 0.013 * width)
    outline = [
        (start, row - HALF),
        (neck, row - HALF),
        (end, row),
        (neck, row + HALF),
        (start, row + HALF),
    ]
    ax.add_patch(Polygon(outline, closed=True, **look))


def draw_thin_end(ax: Axes, end: float, row: float) -> None:
    """Mark where a bar ends that is too short to be seen."""
    ax.plot(
        [end, end],
        [row - HALF, row + HALF],
        color=GREY,
        linewidth=4.0,
        solid_capstyle="butt",
        scalex=False,
        scaley=False,
    )


def write_number(ax: Axes, number: Number) -> None:
    """Write a number beside its bar."""
    ax.annotate(
        number.text,
        (number.end, number.row),
        xytext=(4 if number.right else -4, number.lift),
        textcoords="offset points",
        ha="left" if number.right else "right",
        va="center_baseline",
        fontsize="small",
        path_effects=halo(2.5),
    )
