"""The bars of intervals from belief to plausibility: their content, places and looks."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from matplotlib import rcParams
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from shafer._typing import FloatArray
from shafer.plots.drawing.style import COLORS, GREY, ink

HALF_BAR = 0.3
"""Half the height of a bar, in rows."""

SEEN = 5e-4
"""A probability this far below belief is marked: three decimals show it."""

DECIDED, _POSSIBLE = COLORS[0], COLORS[5]


class IntervalRow(NamedTuple):
    """One bar: a class of an instance, or all its other classes."""

    name: str
    low: float
    high: float
    state: str
    marks: tuple[float, float] | None
    """The probability and the pignistic probability."""

    @property
    def below_belief(self) -> bool:
        """Whether the probability lies below the interval."""
        return self.marks is not None and self.marks[0] < self.low - SEEN


Blocks: TypeAlias = list[list[IntervalRow]]
"""The bars of each instance."""


def pignistic_look() -> dict[str, Any]:
    """Return the look of the mark for the pignistic probability."""
    return {
        "marker": "o",
        "markersize": 5.5,
        "markerfacecolor": rcParams["axes.facecolor"],
        "markeredgecolor": ink(),
    }


def interval_look(state: str) -> dict[str, Any]:
    """Dark for decided, light for possible, faint for dominated; an edge, to see the narrowest."""
    if state == "dominated":
        return {"color": GREY, "alpha": 0.45, "linewidth": 0.8}
    return {"color": DECIDED if state == "decided" else _POSSIBLE, "linewidth": 0.8}


def interval_handles(blocks: Blocks, words: tuple[str, str], pignistic: bool) -> list[Any]:
    """Return what a legend explains: the states that occur, and the marks.

    ``words`` are those for classes that are decided on, and for others that are not dominated.
    """
    found = {row.state for rows in blocks for row in rows}
    names = {"decided": words[0], "possible": words[1], "dominated": "ruled out"}
    handles: list[Any] = [
        Patch(**interval_look(state), label=text) for state, text in names.items() if state in found
    ]
    handles.append(Line2D([], [], color=ink(), linewidth=2.0, marker="", label="probability"))
    if pignistic:
        handles.append(Line2D([], [], linestyle="", **pignistic_look(), label="pignistic"))
    dotted = Line2D([], [], color=ink(), linestyle=(0, (1, 2)), linewidth=1, label="largest belief")
    return [*handles, dotted]


def stacked(blocks: Blocks, gap: float) -> tuple[list[FloatArray], list[float], float]:
    """Return where the bars of each block and its name lie, from the top, and where it ends."""
    places, heads, top = [], [], 0.0
    for rows in blocks:
        heads.append(top - 0.05)
        places.append(top + (1.0 if gap else 0.0) + np.arange(len(rows)))
        top = float(places[-1][-1]) + (gap or 1.0)
    return places, heads if gap else [], float(places[-1][-1]) + 0.6
