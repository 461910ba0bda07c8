"""Segmentations of images: which region each pixel belongs to, and its share of each grid cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer._validation import to_numpy
from shafer.evidence.component_layout import GridLayout, RegionLayout


def is_label_map(groups: Any) -> bool:
    """Return whether groups are a label map: whole numbers (H, W) or (n, H, W), perhaps named."""
    if isinstance(groups, tuple) and len(groups) == 2 and isinstance(groups[1], Mapping):
        groups = groups[0]
    ndim, dtype = getattr(groups, "ndim", 0), str(getattr(groups, "dtype", ""))
    return ndim in (2, 3) and ("int" in dtype or "bool" in dtype)


def read_regions(groups: Any) -> RegionLayout:
    """Read a label map, or a pair of it and a mapping from label to name.

    Regions are ordered by label and named ``"region 3"``, or as the mapping says.
    """
    given, names = groups if isinstance(groups, tuple) else (groups, {})
    labels = np.asarray(to_numpy(given))
    if not labels.size:
        raise ValueError(f"The label map must not be empty; got shape {labels.shape}.")
    known, positions = np.unique(labels, return_inverse=True)
    unknown = sorted(str(label) for label in names if label not in known.tolist())
    if unknown:
        raise ValueError(
            f"The names of regions have labels {unknown} that the label map does not have; its "
            f"labels are {known.tolist()[:20]}."
        )
    titles = tuple(str(names.get(label, f"region {label}")) for label in known.tolist())
    if len(set(titles)) < len(titles):
        raise ValueError(f"Each region needs a name of its own; got {list(titles)[:20]}.")
    return RegionLayout(positions.reshape(labels.shape), titles)


def region_shares(layout: RegionLayout, grid: GridLayout) -> FloatArray:
    """Return the share of each region in the area of each cell, (G, R), or (n, G, R).

    A cell's evidence is spread evenly over its area, so a region gets the part that it covers. For
    a label map of the size of the grid these are 0 and 1.
    """
    if layout.label_map.ndim == 3:
        maps = [RegionLayout(labels, layout.region_names) for labels in layout.label_map]
        return np.stack([region_shares(one, grid) for one in maps])
    height, width = layout.label_map.shape
    rows, columns = _overlap(grid.height, height), _overlap(grid.width, width)
    shares: FloatArray = np.empty((grid.n_components, layout.n_components))
    for region in range(layout.n_components):
        inside = (layout.label_map == region).astype(np.float64)
        shares[:, region] = (rows @ inside @ columns.T).reshape(-1)
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def _overlap(n_cells: int, n_pixels: int) -> NDArray[np.float64]:
    """Return how much of each cell each pixel covers along one axis, (cells, pixels)."""
    # In units of 1 / (cells · pixels), so that the edges are whole numbers.
    starts, pixels = np.arange(n_cells) * n_pixels, np.arange(n_pixels) * n_cells
    low = np.maximum(starts[:, None], pixels)
    high = np.minimum(starts[:, None] + n_pixels, pixels + n_cells)
    overlap: NDArray[np.float64] = np.clip(high - low, 0, None) / n_pixels
    return overlap
