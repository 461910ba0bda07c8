"""Error bars of weights, and how a weight is drawn whose error bar includes zero."""

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

from shafer.plots.style import FOR, ink

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


def missing_look(color: str) -> dict[str, Any]:
    """Return the look of the bar of an input that is missing: an outline with hatches."""
    return {"facecolor": "none", "edgecolor": color, "linewidth": 0.9, "hatch": "//////"}


def whisker_legend(
    ax: Axes,
    level: float | None,
    *,
    of: str = "",
    gaps: bool = False,
    lift: float = 0.0,
) -> float:
    """Explain error bars, pale weights and gaps above the axes.

    Return the room that takes, in points.

    Parameters
    ----------
    ax : matplotlib axes
    level : float, optional
        Of the error bars; None if there are none.
    of : str
        Which error bars are drawn; by default all, and what they show is written.
    gaps : bool
        Whether inputs are missing.
    lift : float
        How far above the axes, in points.
    """
    handles: list[Any] = []
    if level is not None:
        bar = Line2D([], [], color=ink(), linewidth=1.1, marker="|")
        bar.set_label(
            f"{level:.0%} interval{of or ' of where the bar ends: error from the training sample'}"
        )
        pale = f"pale: {level:.0%} interval includes no effect"
        handles += [bar, Patch(**pale_look(FOR), label=pale)]
    if gaps:
        handles.append(Patch(**missing_look(FOR), label="input missing: expected effect"))
    if not handles:
        return 0.0
    points = FontProperties(size=_FONT).get_size_in_points()
    ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        fontsize=_FONT,
        frameon=False,
        borderaxespad=lift / points,
        borderpad=0.2,
        handlelength=1.8,
        labelspacing=0.3,
    )
    return lift + (0.4 + 1.35 * len(handles)) * points
