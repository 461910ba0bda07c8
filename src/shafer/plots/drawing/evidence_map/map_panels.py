"""Drawing one map over its image."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patheffects import withStroke

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
from shafer.plots.drawing.evidence_map.map_words import REGION_NOTE, smooth_note
from shafer.plots.drawing.evidence_map.region_labels import region_labels
from shafer.plots.drawing.evidence_map.shown_image import ShownImage

_LINE = "#333333"


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
    shape = (cells.positions.shape[0], cells.positions.shape[1])
    caption = [one.caption] if one.caption else []
    if smooth:
        caption.append(smooth_note(shape, dots=grid))
    elif cells.regions:
        caption.append(REGION_NOTE)
    if grid:
        _draw_places(ax, image.size, cells, smooth=smooth)
    ax.set_title(one.title, fontsize="medium")
    ax.set_xlabel("\n".join(caption), fontsize="small")


def _draw_places(ax: Axes, size: tuple[int, int], cells: MapCells, *, smooth: bool) -> None:
    """Draw the borders of cells; of a smooth map the centres, where its colours are exact."""
    scale = np.array([size[1], size[0]])
    if smooth:
        x, y = (cells.centres() * scale - 0.5).T
        ax.scatter(x, y, s=3, color=_LINE, linewidths=0)
        return
    lines = cells.borders() * scale - 0.5
    width = 1.0 if cells.regions else 0.5
    ax.add_collection(LineCollection(list(lines), colors=_LINE, linewidths=width))
    for name, across, down in region_labels(cells) if cells.regions else []:
        x, y = np.array([across, down]) * scale - 0.5
        written = ax.text(x, y, name, color="black", fontsize="small", ha="center", va="center")
        written.set_path_effects([withStroke(linewidth=2.5, foreground="white")])


def _show(ax: Axes, pixels: FloatArray, size: tuple[int, int]) -> None:
    """Draw pixels so that one unit of the axes is one pixel of the image."""
    height, width = size
    extent = (-0.5, width - 0.5, height - 0.5, -0.5)
    ax.imshow(pixels, extent=extent, interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([])
