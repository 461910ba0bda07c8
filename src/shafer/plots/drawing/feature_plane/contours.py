"""Drawing over a grid: level curves, boundaries of decisions, regions with their names inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from shafer._typing import BoolArray, FloatArray
from shafer.plots.drawing.feature_plane.label_placement import level_places, write_names
from shafer.plots.drawing.set_names import set_name
from shafer.plots.drawing.style import color, halo

Grid = tuple[FloatArray, FloatArray]

_TINT = "#7f7f7f"  # one grey tint carries levels: it reads alike in colour, grey and dark


def draw_levels(
    ax: Axes,
    grid: Grid,
    values: FloatArray,
    levels: Sequence[float] | int | None,
    filled: bool,
    labelled: bool,
    style: dict[str, Any],
) -> None:
    """Draw level curves, with a tint that deepens with the level if ``filled``."""
    if levels is None:
        levels = _levels_for(values)
    if filled:
        ax.imshow(
            _tint(values),
            extent=(grid[0][0], grid[0][-1], grid[1][0], grid[1][-1]),
            origin="lower",
            aspect="auto",
            zorder=0,
        )
    curves = ax.contour(*grid, values, levels=levels, **style)
    if labelled:
        places = level_places(ax, grid, curves.allsegs)
        texts = ax.clabel(curves, fontsize="x-small", fmt="%g", manual=places) if places else []
        for text in texts:
            text.set_path_effects(halo(2.0))


def _levels_for(values: FloatArray) -> list[float]:
    """Return tenths for degrees that span their range, round numbers for other values."""
    low, high = min(float(values.min()), 0.0), float(values.max())
    if 0.4 < high - low <= 1.0 + 1e-9:
        return [tenth / 10 for tenth in range(1, 10)]
    ticks = [float(tick) for tick in MaxNLocator(6).tick_values(low, high)]
    return [tick for tick in ticks if low < tick < high] or [(low + high) / 2]


def _tint(values: FloatArray) -> FloatArray:
    """Return an image of one colour, transparent at zero and half opaque at the highest value."""
    low = min(float(values.min()), 0.0)
    high = max(float(values.max()), low + 1e-12)
    image = np.empty((*values.shape, 4))
    image[..., :3] = to_rgb(_TINT)
    image[..., 3] = 0.55 * (values - low) / (high - low)
    return image


def draw_boundaries(ax: Axes, grid: Grid, margins: FloatArray, style: dict[str, Any]) -> None:
    """Draw where a class enters or leaves the chosen set.

    Where exactly one class is chosen, two margins vanish along the same line. It is drawn once, or
    the gaps of a broken line would be filled by its twin.
    """
    first, second = _two_best(margins)
    precise = bool(((margins >= 0).sum(axis=2) <= 1).all())
    for k in np.flatnonzero((margins.min(axis=(0, 1)) < 0) & (margins.max(axis=(0, 1)) > 0)):
        values: Any = margins[:, :, k]
        if precise:
            # The best of the others is an earlier class: this stretch has been drawn with it.
            values = np.ma.masked_array(values, np.where(first == k, second, first) < k)
        if np.ma.min(values) < 0 < np.ma.max(values):
            ax.contour(*grid, values, levels=[0.0], **style)


def _two_best(margins: FloatArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the classes of the largest and of the second largest margin at each point."""
    order = np.argpartition(margins, -2, axis=2)[:, :, -2:]
    swapped = np.take_along_axis(margins, order, axis=2)
    last_is_best = swapped[:, :, 1] >= swapped[:, :, 0]
    first = np.where(last_is_best, order[:, :, 1], order[:, :, 0])
    return first, np.where(last_is_best, order[:, :, 0], order[:, :, 1])


def draw_regions(
    ax: Axes,
    grid: Grid,
    chosen: BoolArray,
    classes: NDArray[Any],
    filled: bool,
    labelled: bool,
) -> None:
    """Tint each region by the classes in it, and name it."""
    sets, code = np.unique(chosen.reshape(-1, chosen.shape[2]), axis=0, return_inverse=True)
    regions = code.reshape(chosen.shape[:2])
    if filled:
        palette = np.array([_blend(np.flatnonzero(row)) for row in sets])
        ax.imshow(
            palette[regions],
            extent=(grid[0][0], grid[0][-1], grid[1][0], grid[1][-1]),
            origin="lower",
            aspect="auto",
            interpolation="nearest",
            zorder=0,
        )
    if labelled:
        names = [set_name(classes[row].tolist(), classes) for row in sets]
        write_names(ax, grid, regions, names)


def _blend(members: NDArray[np.intp]) -> tuple[float, float, float, float]:
    """Mix the members' colours; the more of them, the fainter."""
    mixed = np.mean([to_rgb(color(int(k))) for k in members], axis=0)
    return to_rgba(tuple(mixed), alpha=0.34 / len(members) ** 0.7)
