"""Points of the uncertainty plane: by right or wrong, or by the size of the decided set."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from shafer._typing import BoolArray, FloatArray
from shafer.plots.drawing.style import COLORS, RAMP

_SIZES = 4  # set sizes told apart; larger ones share a colour


class _Group(NamedTuple):
    name: str
    color: str
    marker: str
    inside: BoolArray


def draw_points(
    ax: Axes,
    x: FloatArray,
    y: FloatArray,
    right: BoolArray | None,
    set_sizes: NDArray[np.intp] | None,
) -> None:
    """Draw every point, wrong ones and large sets on top, and count each kind in the legend."""
    size = float(np.clip(9000.0 / len(x), 7.0, 26.0))
    groups = [group for group in _groups(len(x), right, set_sizes) if group.inside.any()]
    for order, group in enumerate(groups):
        cross = group.marker == "x"
        ax.scatter(
            x[group.inside],
            y[group.inside],
            s=1.7 * size if cross else size,  # a cross has less ink
            c=group.color,
            marker=group.marker,
            linewidths=1.1 if cross else 0.0,
            alpha=0.95 if cross else 0.8,
            label=f"{group.name} ({int(group.inside.sum()):,})",
            zorder=3 + 0.1 * order,
            rasterized=len(x) > 2000,
        )
    if len(groups) > 1 or groups[0].name:
        ax.legend(
            loc="upper right",
            fontsize="small",
            framealpha=0.9,
            markerscale=1.0 if len(x) < 800 else 1.6,
            title=None if right is not None else "classes decided on",
            title_fontsize="small",
        )


def _groups(n: int, right: BoolArray | None, set_sizes: NDArray[np.intp] | None) -> list[_Group]:
    if right is not None:
        return [
            _Group("right", COLORS[0], "o", right),
            _Group("wrong", COLORS[1], "x", ~right),
        ]
    if set_sizes is None:
        return [_Group("", COLORS[0], "o", np.ones(n, dtype=bool))]
    looks = zip((COLORS[0], COLORS[4], COLORS[1], COLORS[3]), "o^sD", strict=True)
    sizes = np.unique(set_sizes)
    groups = []
    for position, (color, marker) in enumerate(looks):
        if position >= len(sizes):
            break
        last = position == _SIZES - 1 and len(sizes) > _SIZES
        inside = set_sizes >= sizes[position] if last else set_sizes == sizes[position]
        name = f"{sizes[position]} or more" if last else f"{sizes[position]}"
        groups.append(_Group(name, color, marker, inside))
    return groups


def draw_hexagons(
    ax: Axes,
    x: FloatArray,
    y: FloatArray,
    right: BoolArray | None,
    set_sizes: NDArray[np.intp] | None,
) -> None:
    """Count points in hexagons: colour is the share of wrong ones or the mean size of the sets."""
    if right is not None:
        value, label, top = (~right).astype(float), "share of wrong ones", None
    elif set_sizes is not None:
        value, label, top = set_sizes.astype(float), "mean number of classes decided on", None
    else:
        value, label, top = np.ones(len(x)), "", 1.0
    limits = (ax.get_xlim(), ax.get_ylim())
    grid: dict[str, Any] = {
        "gridsize": (38, 22),
        "extent": (*limits[0], *limits[1]),
        "mincnt": 1,
        "linewidths": 0.2,
        "cmap": RAMP,
        "zorder": 2,
    }
    counted = ax.hexbin(x, y, **grid)
    counts = np.asarray(counted.get_array())
    counted.remove()
    cells = ax.hexbin(x, y, C=value, reduce_C_function=np.mean, **grid)
    cells.set_alpha(0.3 + 0.7 * np.log1p(counts) / np.log1p(counts.max()))
    cells.set_edgecolor("none")
    low = 0.0 if right is not None else 1.0
    found = float(np.asarray(cells.get_array()).max())
    cells.set_clim(low, top if top is not None else max(found, low + 0.05))
    ax.set_xlim(limits[0])
    ax.set_ylim(limits[1])
    if label:
        figure = ax.get_figure(root=True)
        assert figure is not None
        bar = figure.colorbar(cells, ax=ax, fraction=0.05, aspect=28, pad=0.02)
        bar.set_alpha(1.0)
        bar.set_label(f"{label} (faint: few of {len(x):,} points)", fontsize="small")
        bar.ax.tick_params(labelsize="small")
        bar.outline.set_visible(False)
