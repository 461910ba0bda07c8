"""Which component covers which part of an image: cells of a grid, or regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer._validation import to_numpy
from shafer.evidence import Evidence, GridLayout, RegionLayout
from shafer.plots.drawing.own_base_rate import base_rate_position

NO_COMPONENT = -1


@final
@dataclass(frozen=True, eq=False)
class MapCells:
    """The component of each cell, (h, w), −1 where there is none; regions have any shape.

    ``names`` are those of the components.
    """

    positions: NDArray[np.intp]
    regions: bool = False
    names: tuple[str, ...] = ()

    def spread(self, values: FloatArray) -> FloatArray:
        """Return the value of each cell, (h, w), from those of the components, (G,)."""
        inside = self.positions != NO_COMPONENT
        return np.where(inside, values[np.where(inside, self.positions, 0)], np.nan)

    def centres(self) -> FloatArray:
        """Return the centres of the cells, (h · w, 2), as points from 0 to 1."""
        h, w = self.positions.shape
        places = ((np.arange(h) + 0.5) / h, (np.arange(w) + 0.5) / w)
        down, across = np.meshgrid(*places, indexing="ij")
        return np.stack([across.ravel(), down.ravel()], axis=1)

    def borders(self) -> FloatArray:
        """Return the lines between different components, (m, 2, 2), as points from 0 to 1."""
        grid = self.positions
        h, w = grid.shape
        i, j = np.nonzero(grid[:, 1:] != grid[:, :-1])  # upright lines
        upright = np.stack([[(j + 1) / w, i / h], [(j + 1) / w, (i + 1) / h]]).transpose(2, 0, 1)
        i, j = np.nonzero(grid[1:] != grid[:-1])
        level = np.stack([[j / w, (i + 1) / h], [(j + 1) / w, (i + 1) / h]]).transpose(2, 0, 1)
        return np.concatenate([upright, level])


def cells_of(evidence: Evidence, shape: Any = None, regions: Any = None) -> MapCells:
    """Return where the components of one instance lie in its image.

    Parameters
    ----------
    evidence : Evidence
        One instance.
    shape : pair of int, optional
        Height and width of a grid of components, row by row.
    regions : array of int of shape (h, w), optional
        Position of the component of each pixel; −1 where there is none.
    """
    if shape is not None and regions is not None:
        raise ValueError("Give shape or regions, not both: one is a grid, the other any regions.")
    base = base_rate_position(evidence)
    where = np.setdiff1d(np.arange(evidence.n_components), [] if base is None else [base])
    if regions is not None:
        return _read_regions(regions, where, evidence.component_names)
    if shape is not None:
        return MapCells(where.reshape(_read_shape(shape, len(where))))
    layout = evidence.layout
    if isinstance(layout, GridLayout):
        cells = np.arange(layout.n_components).reshape(layout.height, layout.width)
        return MapCells(cells)
    if isinstance(layout, RegionLayout):
        labels = layout.label_map.reshape(layout.label_map.shape[-2:])
        return MapCells(labels, regions=True, names=evidence.component_names)
    raise ValueError(
        f"The places of the {len(where)} components in the image are not known. Make the evidence "
        "with Explainer(network, images, components='locations'), or pass shape=(rows, columns) "
        "of the grid, or regions=, the component of each pixel."
    )


def _read_shape(shape: Any, size: int) -> tuple[int, int]:
    try:
        h, w = (int(side) for side in shape)
    except (TypeError, ValueError):
        h = w = 0
    if h < 1 or w < 1 or h * w != size:
        raise ValueError(
            f"shape must be the rows and columns of a grid of {size} components; got {shape!r}."
        )
    return h, w


def _read_regions(regions: Any, where: NDArray[np.intp], names: tuple[str, ...]) -> MapCells:
    labels = to_numpy(regions)
    if labels.ndim != 2 or labels.dtype.kind not in "iu" or 0 in labels.shape:
        raise ValueError(
            "regions must be whole numbers of shape (H, W), the component of each pixel; got "
            f"{labels.dtype} of shape {labels.shape}."
        )
    if labels.min() < NO_COMPONENT or labels.max() >= len(where):
        raise ValueError(
            f"regions must be from 0 to {len(where) - 1}, or −1 for none; got values from "
            f"{labels.min()} to {labels.max()}."
        )
    padded = np.append(where, NO_COMPONENT)  # −1 takes the last
    return MapCells(padded[labels], regions=True, names=names)
