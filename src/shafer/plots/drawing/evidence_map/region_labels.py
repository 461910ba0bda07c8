"""Where to write the names of regions: at their widest places."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import distance_transform_edt

from shafer.plots.drawing.evidence_map.map_cells import NO_COMPONENT, MapCells
from shafer.plots.drawing.style import without_middle

_MOST = 40  # regions whose names can be told apart
_PREFIX = "region "


def region_labels(cells: MapCells) -> list[tuple[str, float, float]]:
    """Return the short name of each region, and its widest place, across and down from 0 to 1."""
    h, w = cells.positions.shape
    found = [g for g in np.unique(cells.positions).tolist() if g != NO_COMPONENT]
    if len(found) > _MOST:
        return []
    labels = []
    for g in found:
        inside = np.pad(cells.positions == g, 1)
        i, j = np.unravel_index(int(np.argmax(distance_transform_edt(inside))), inside.shape)
        labels.append((_short(cells.names[g]), (int(j) - 0.5) / w, (int(i) - 0.5) / h))
    return labels


def _short(name: str) -> str:
    """Leave the number of a region that has no name of its own."""
    return without_middle(name.removeprefix(_PREFIX), 10)
