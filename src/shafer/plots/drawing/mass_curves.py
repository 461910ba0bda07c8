"""Masses of several sets as curves over one variable: what two Displays share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from shafer._typing import FloatArray
from shafer.plots.drawing.style import color, ink, line_style


def draw_masses(ax: Axes, values: FloatArray, masses: FloatArray, names: Sequence[str]) -> None:
    """Draw one curve per set, told apart by line style as well as by colour.

    The whole frame is always dotted and in the colour of text: it is what is not known.
    """
    for position, name in enumerate(names):
        frame = name == "Θ"
        ax.plot(
            values,
            masses[:, position],
            color=ink() if frame else color(position),
            linestyle="dotted" if frame else line_style(position),
            linewidth=1.8,
            label=name,
        )
    ax.set_ylim(-0.03, 1.03)
    ax.set_yticks(np.linspace(0.0, 1.0, 6).round(1).tolist())  # also where strips stretch the axis
    ax.set_ylabel("mass")
