"""Error bars of weights, and how a weight is drawn that cannot be told from zero."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba, to_rgba_array
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from shafer.plots.drawing.style import FOR, ink

_PALE = 0.3  # the share of its colour that a pale point or bar keeps
_FONT = "small"


def paler(colors: Any) -> NDArray[Any]:
    """Mix colours with that of the background; points that lie on each other stay pale."""
    behind = np.array(to_rgba(rcParams["axes.facecolor"]))
    return _PALE * to_rgba_array(colors) + (1.0 - _PALE) * behind


def pale_look(color: str) -> dict[str, Any]:
    """Return the look of a pale bar: its outline keeps the colour."""
    return {"facecolor": paler(color)[0], "edgecolor": color, "linewidth": 0.9}


def draw_whisker(ax: Axes, low: float, high: float, y: float, cap: float = 0.13) -> None:
    """Draw an error bar from low to high; its caps reach to each side by ``cap`` rows."""
    ax.plot(
        [low, low, low, high, high, high],
        [y - cap, y + cap, y, y, y + cap, y - cap],
        color=ink(),
        linewidth=1.1,
        solid_joinstyle="miter",
        zorder=4,
        scalex=False,
        scaley=False,
    )


def whisker_legend(
    ax: Axes, level: float, *, of: str = "", lift: float = 0.0, columns: int = 2
) -> float:
    """Explain error bars and pale weights above the axes; return the room that takes, in points.

    ``lift`` is how far above the axes, in points; ``columns`` is 1 or 2.
    """
    points = FontProperties(size=_FONT).get_size_in_points()
    handles = [
        Line2D([], [], color=ink(), linewidth=1.1, marker="|", label=f"{level:.0%} interval{of}"),
        Patch(**pale_look(FOR), label="pale: cannot be told from zero"),
    ]
    ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=columns,
        fontsize=_FONT,
        frameon=False,
        borderaxespad=lift / points,
        borderpad=0.2,
        handlelength=1.8,
        columnspacing=1.4,
    )
    return lift + (1.7 if columns == 2 else 3.0) * points
