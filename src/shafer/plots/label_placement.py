"""Where names and levels are written, so that none is cut off and none lies on another.

The name of a region goes inside where it fits, else beside with a line to the region. The level of
a curve goes near its middle.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from numpy.typing import NDArray
from scipy import ndimage

from shafer._typing import BoolArray, FloatArray
from shafer.plots.style import halo, ink

_SMALLEST_NAMED = 0.004  # of the plane: smaller scraps of a region stay without a name
_MOST_NAMED = 16  # regions: with more, only the largest have a name
_FEW = 8  # regions: up to here each has a name, even if it lies on a boundary
_FARTHEST = 0.3  # of the axes: a name farther from its region would not be read with it
_FONT = "small"
_LEVEL_FONT = "x-small"
_SHORTEST_LABELLED = 0.2  # of the axes: a shorter curve has no room for its level
_TRIED = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82)  # places along a curve
_COARSE = 120  # points along each axis when room is sought


class _Part(NamedTuple):
    """A connected part of a region, its name, and the point where there is most room."""

    name: str
    row: int
    column: int
    room: float  # in units of the name's own size: 1 is just enough


def write_names(
    ax: Axes, grid: tuple[FloatArray, FloatArray], regions: NDArray[Any], names: list[str]
) -> None:
    """Name every part of every region, except scraps, and at least the largest part of each.

    Where there are many regions, only the largest are named, and only where there is room.

    Parameters
    ----------
    ax : matplotlib axes
    grid : pair of arrays of shape (p,) and (q,)
    regions : int array of shape (q, p)
        Which region each point belongs to.
    names : list of str
        Names of the regions.
    """
    step = max(1, max(regions.shape) // _COARSE)
    coarse = regions[::step, ::step]
    x, y = grid[0][::step], grid[1][::step]
    largest = np.argsort(-np.bincount(coarse.ravel(), minlength=len(names)), kind="stable")
    parts = [
        part
        for position in largest[:_MOST_NAMED]
        for part in _parts(coarse == position, names[position], _size_of(ax, names[position]))
    ]
    taken: list[tuple[int, int, str]] = []
    for part in sorted(parts, key=lambda part: -part.room):
        place = (part.row, part.column)
        if part.room < 1.0:
            free = _free_place(ax, coarse, part, taken)
            if free is None and len(names) > _FEW:
                continue
            place = free or place
        row, column = place
        taken.append((row, column, part.name))
        anchor = (x[part.column], y[part.row])
        ax.annotate(
            part.name,
            anchor,
            xytext=(x[column], y[row]),
            ha="center",
            va="center",
            fontsize=_FONT,
            path_effects=halo(),
            arrowprops=None
            if place == (part.row, part.column)
            else {"arrowstyle": "-", "color": ink(), "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0},
        )
        if place != (part.row, part.column):
            ax.plot(*anchor, marker="o", markersize=2.5, color=ink())


def level_places(
    ax: Axes, grid: tuple[FloatArray, FloatArray], segments: list[list[FloatArray]]
) -> list[tuple[float, float]]:
    """Return a place on the longest curve of each level, clear of the texts already there.

    Left to itself matplotlib also puts levels on the edge of the axes, where they are cut off. A
    level that finds no place stays without its number.
    """
    extent = np.array([np.ptp(grid[0]), np.ptp(grid[1])])
    height, width = _size_of(ax, "0.00", _LEVEL_FONT)
    reach = np.array([width, height]).max() * 0.8
    taken = [np.array(text.get_position(), dtype=float) for text in ax.texts]
    places = []
    for level in segments:
        curve = max(level, key=lambda c: _length(c / extent)[-1], default=None)
        if curve is None or (path := _length(curve / extent))[-1] < _SHORTEST_LABELLED:
            continue
        for share in _TRIED:
            place = curve[np.searchsorted(path, share * path[-1])]
            if all(np.hypot(*((place - other) / extent)) >= reach for other in taken):
                taken.append(place)
                places.append((float(place[0]), float(place[1])))
                break
    return places


def _length(curve: FloatArray) -> FloatArray:
    """Return the length of a curve (n, 2) up to each of its points."""
    steps = np.hypot(*np.diff(curve, axis=0).T)
    return np.concatenate([[0.0], np.cumsum(steps)])


def _size_of(ax: Axes, name: str, font: str = _FONT) -> tuple[float, float]:
    """Return about how high and wide a name is, in parts of the axes."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    box = ax.get_position()
    width, height = figure.get_size_inches() * (box.width, box.height)
    inches = FontProperties(size=font).get_size_in_points() / 72.0
    longest = max(len(line) for line in name.splitlines())
    return 1.5 * inches / height, (0.62 * longest + 0.8) * inches / width


def _room(inside: BoolArray, size: tuple[float, float]) -> FloatArray:
    """Return how far each point is from the edge, in units of half a name of this size."""
    rows, columns = inside.shape
    sampling = (2.0 / (rows * size[0]), 2.0 / (columns * size[1]))
    padded = ndimage.distance_transform_edt(np.pad(inside, 1), sampling=sampling)
    room: FloatArray = padded[1:-1, 1:-1]
    return room


def _parts(inside: BoolArray, name: str, size: tuple[float, float]) -> list[_Part]:
    labels, count = ndimage.label(inside)
    if count == 0:  # lost between the points of the coarse grid
        return []
    shares = ndimage.sum_labels(inside, labels, np.arange(1, count + 1)) / inside.size
    found = []
    for label in np.flatnonzero(shares >= min(_SMALLEST_NAMED, shares.max())) + 1:
        room = _room(labels == label, size)
        row, column = np.unravel_index(np.argmax(room), room.shape)
        found.append(_Part(name, int(row), int(column), float(room.max())))
    return found


def _free_place(
    ax: Axes, regions: NDArray[Any], part: _Part, taken: list[tuple[int, int, str]]
) -> tuple[int, int] | None:
    """Return the nearest place that crosses no boundary and no other name, if there is one."""
    size = _size_of(ax, part.name)
    free = _room(_away_from_edges(regions), size) >= 1.15
    rows, columns = np.indices(regions.shape)
    for row, column, name in taken:
        other = _size_of(ax, name)
        apart_y = np.abs(rows - row) / regions.shape[0] >= (size[0] + other[0]) / 2
        apart_x = np.abs(columns - column) / regions.shape[1] >= (size[1] + other[1]) / 2
        free &= apart_x | apart_y
    distance = np.hypot(
        (rows - part.row) / regions.shape[0], (columns - part.column) / regions.shape[1]
    )
    free &= distance <= _FARTHEST
    if not free.any():
        return None
    nearest = int(np.argmin(np.where(free, distance, np.inf)))
    row, column = divmod(nearest, int(regions.shape[1]))
    return row, column


def _away_from_edges(regions: NDArray[Any]) -> BoolArray:
    """Say which points have neighbours of their own region only."""
    lowest = ndimage.minimum_filter(regions, size=3)
    inside: BoolArray = lowest == ndimage.maximum_filter(regions, size=3)
    return inside
