"""How the paper's figures look, and how they reach the disk as PNG and SVG."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from shafer._files.atomic import replacing
from shafer._typing import FloatArray
from shafer.plots.style import MARKERS, color

_STYLE: dict[str, Any] = {
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "legend.fontsize": 8.5,
    "savefig.dpi": 160,
    "svg.hashsalt": "shafer",  # or every run would give its elements other names
}


@contextmanager
def paper_style() -> Iterator[None]:
    """Draw alike wherever this runs, whatever style the user has set."""
    with style.context(["default", _STYLE], after_reset=True):
        yield


def new_figure(width: float, height: float) -> Figure:
    """Return a figure of this size in inches, outside pyplot: no window can open."""
    return Figure(figsize=(width, height), layout="constrained")


def scatter_classes(ax: Axes, groups: dict[str, FloatArray]) -> None:
    """Draw the points (n, 2) of each class with its marker and colour, every other one open."""
    for position, (name, points) in enumerate(groups.items()):
        ax.plot(
            points[:, 0],
            points[:, 1],
            linestyle="none",
            marker=MARKERS[position],
            markersize=3.6,
            markeredgewidth=0.7,
            markerfacecolor="none" if position % 2 else color(position),
            markeredgecolor=color(position),
            alpha=0.75,
            label=name,
        )


def legend_above(ax: Axes, columns: int) -> None:
    """Put the legend above the axes, where it hides nothing."""
    ax.legend(
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=columns,
        frameon=False,
        columnspacing=1.2,
        handletextpad=0.5,
    )


def save_figure(figure: Figure, folder: Path, name: str) -> None:
    """Write ``name.png`` and ``name.svg``, the same bytes whenever the drawing is the same."""
    without: dict[str, dict[str, Any]] = {"png": {"Software": None}, "svg": {"Date": None}}
    for kind, metadata in without.items():
        with replacing(folder / f"{name}.{kind}") as file:
            figure.savefig(file, format=kind, metadata=metadata)
