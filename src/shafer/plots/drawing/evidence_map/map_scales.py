"""The colours of a map, from where to where, and its colour bar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure

from shafer.plots.drawing.evidence_map.location_maps import LocationMap
from shafer.plots.drawing.evidence_map.map_blending import CONTRADICTED, FOR_AND_AGAINST, SILENT
from shafer.plots.drawing.evidence_map.map_cells import MapCells
from shafer.plots.drawing.evidence_map.map_words import (
    CONFLICT_AXIS,
    CONFLICT_ENDS,
    IGNORANCE_AXIS,
    IGNORANCE_ENDS,
    bar_ends,
    evidence_axis,
)


@final
@dataclass(frozen=True)
class MapScale:
    """Colours between two values, the name of the colour bar, and words at its ends."""

    colors: Colormap
    low: float
    high: float
    name: str
    ends: tuple[str, str]


def scale_of(maps: Sequence[LocationMap], cells: MapCells, note: str = "") -> MapScale:
    """Return the scale that maps of one kind share; of evidence, symmetric around zero.

    Only components that have a place count: the base rate has none.
    """
    spread = np.concatenate([cells.spread(one.values).ravel() for one in maps])
    values = spread[~np.isnan(spread)]
    if not len(values):
        raise ValueError("regions must give at least one pixel a component; got −1 everywhere.")
    if maps[0].kind == "evidence":
        most = float(np.abs(values).max()) or 1.0
        same = len({one.label for one in maps}) == 1
        label, over = maps[0].label if same else None, maps[0].over
        name = evidence_axis(over, note)
        return MapScale(FOR_AND_AGAINST, -most, most, name, bar_ends(label, over))
    if maps[0].kind == "ignorance":
        low = np.floor(20.0 * float(values.min())) / 20.0
        return MapScale(SILENT, float(min(low, 0.95)), 1.0, IGNORANCE_AXIS, IGNORANCE_ENDS)
    most = max(float(values.max()), 0.05)
    return MapScale(CONTRADICTED, 0.0, most, CONFLICT_AXIS, CONFLICT_ENDS)


def draw_scale(figure: Figure, axes: Sequence[Axes], scale: MapScale) -> None:
    """Draw the colour bar to the right of the axes; beside one row of them, as tall as they are."""
    drawn = ScalarMappable(Normalize(scale.low, scale.high), scale.colors)
    if len({round(one.get_position().y0, 6) for one in axes}) > 1:  # several rows
        bar = figure.colorbar(drawn, ax=list(axes), shrink=0.7, aspect=20, pad=0.03)
    else:
        bar = figure.colorbar(drawn, cax=axes[-1].inset_axes((1.05, 0.07, 0.05, 0.86)))
    bar.ax.set_ylabel(scale.name, fontsize="small")
    bar.ax.tick_params(labelsize="small")
    for words, height, side in zip(scale.ends, (-0.05, 1.05), ("top", "bottom"), strict=True):
        place = bar.ax.transAxes
        bar.ax.text(0.0, height, words, fontsize="small", ha="left", va=side, transform=place)
