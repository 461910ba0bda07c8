"""Drawing one map over its image."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from shafer._typing import FloatArray
from shafer.plots.drawing.evidence_map.location_maps import LocationMap
from shafer.plots.drawing.evidence_map.map_blending import (
    blended,
    canvas_size,
    smoothed,
    stretched,
)
from shafer.plots.drawing.evidence_map.map_cells import MapCells
from shafer.plots.drawing.evidence_map.map_scales import MapScale
from shafer.plots.drawing.evidence_map.shown_image import ShownImage

_LINE = "#555555"


def draw_image(ax: Axes, image: ShownImage) -> None:
    """Draw the image by itself."""
    _show(ax, image.colours, image.size)
    ax.set_title("the image", fontsize="medium")
    ax.set_xlabel(image.note, fontsize="small")


def draw_map(
    ax: Axes,
    image: ShownImage,
    cells: MapCells,
    one: LocationMap,
    scale: MapScale,
    *,
    smooth: bool,
    grid: bool,
) -> None:
    """Draw one map over its image."""
    size = canvas_size(image.size, cells.positions.shape)
    values = cells.spread(one.values)
    fine = smoothed(values, size) if smooth else np.asarray(stretched(values, size))
    grey: FloatArray = np.asarray(stretched(image.grey, size), dtype=np.float64)
    _show(ax, blended(grey, fine, scale.colors, scale.low, scale.high), image.size)
    if grid:
        height, width = image.size
        lines = cells.borders() * (width, height) - 0.5
        ax.add_collection(LineCollection(list(lines), colors=_LINE, linewidths=0.5))
    ax.set_title(one.title, fontsize="medium")
    ax.set_xlabel(one.caption, fontsize="small")


def _show(ax: Axes, pixels: FloatArray, size: tuple[int, int]) -> None:
    """Draw pixels so that one unit of the axes is one pixel of the image."""
    height, width = size
    extent = (-0.5, width - 0.5, height - 0.5, -0.5)
    ax.imshow(pixels, extent=extent, interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([])
