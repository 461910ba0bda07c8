"""One row of a summary: a swarm of points, pale ones, and two error bars."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer.plots.drawing.style import AGAINST, FOR, GREY, RAMP, ink
from shafer.plots.drawing.swarms.swarm import swarm_offsets
from shafer.plots.drawing.whiskers import draw_whisker, paler

ENDS = (5, 95)
"""Percentiles of the instances whose error bars are drawn."""

_REACH = 0.42  # how far a row of points reaches to each side, in rows
_ROOM = 0.2  # rows: less of that where error bars lie below
_BARS = (0.24, 0.37)  # rows below the middle: where they lie
_MANY = 2000  # points: from here on a picture holds an image of them, not every one


class SwarmRow(NamedTuple):
    """The weights of one component, (n,), its feature's values, and the ends of its error bars."""

    weights: FloatArray
    values: FloatArray | None = None
    lower: FloatArray | None = None
    upper: FloatArray | None = None

    def ends(self) -> list[tuple[float, float, float]]:
        """Return the two error bars that are drawn: the weight, and the lower and upper end."""
        if self.lower is None or self.upper is None:
            return []
        order = np.argsort(self.weights, kind="stable")
        chosen = [order[round((len(order) - 1) * share / 100)] for share in ENDS]
        ends = [(self.weights[i], self.lower[i], self.upper[i]) for i in chosen]
        return [(float(weight), float(low), float(high)) for weight, low, high in ends]

    def reach(self) -> FloatArray:
        """Return all that must lie inside the axes."""
        return np.concatenate([self.weights, *map(np.array, self.ends())])

    def colors(self, valued: bool) -> NDArray[Any]:
        """Return colours (n, 4): of the values; without any in the picture, for and against."""
        if not valued:
            sides = np.array([to_rgba(FOR), to_rgba(AGAINST)])
            found: NDArray[Any] = sides[(self.weights < 0).astype(int)]
        else:
            found = _by_value(self.values, len(self.weights))
        if self.lower is not None and self.upper is not None:
            near_zero = (self.lower <= 0.0) & (self.upper >= 0.0)
            found[near_zero] = paler(found[near_zero])
        return found


def draw_swarm(
    ax: Axes, place: int, row: SwarmRow, limits: tuple[float, float], *, valued: bool, panels: int
) -> None:
    """Draw a row around the height ``place``, in a picture with some panels beside each other."""
    x = row.weights
    reach = _REACH if row.lower is None else _REACH - _ROOM
    offsets = swarm_offsets(x, *limits, bins=110 if panels == 1 else 60)
    step = min(0.1, reach / max(1.0, float(np.abs(offsets).max())))
    middle = place if row.lower is None else place - _ROOM / 2
    ax.scatter(
        x,
        middle + step * offsets,
        s=float(np.clip(4000.0 / len(x), 3.0, 16.0)) / (1 if panels == 1 else 1.5),
        c=row.colors(valued),
        linewidths=0,
        rasterized=len(x) > _MANY,
        zorder=3,
    )
    for (weight, low, high), below in zip(row.ends(), _BARS, strict=False):
        draw_whisker(ax, low, high, place + below, cap=0.05)
        ax.plot(weight, place + below, marker="o", markersize=2.4, color=ink(), zorder=4)


def _by_value(values: FloatArray | None, n: int) -> NDArray[Any]:
    colors = np.tile(to_rgba(GREY), (n, 1))
    if values is None:
        return colors
    known = np.isfinite(values)
    if known.any():
        # The outermost values would leave all the others one colour.
        low, high = np.percentile(values[known], [3, 97])
        if low == high:  # most values are the same: spread the others over the whole range
            low, high = values[known].min(), values[known].max()
        share = (values[known] - low) / ((high - low) or 1.0) if high > low else 0.5
        colors[known] = RAMP(np.clip(share, 0.0, 1.0) * np.ones(int(known.sum())))
    return colors


def swarm_limits(rows: list[SwarmRow]) -> tuple[float, float]:
    """Return limits that hold zero, all points and all error bars, with a little room."""
    reached = np.concatenate([row.reach() for row in rows] + [np.zeros(1)])
    low, high = float(reached.min()), float(reached.max())
    pad = 0.03 * ((high - low) or 2.0)
    return low - pad, high + pad
