"""``MapLayout``: where the locations of a feature map lie in the user's image or text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from torch import Tensor

from shafer.evidence import ChannelLayout, ComponentLayout, GridLayout, TokenLayout
from shafer.models.readers.torch.map_reading import MapReading


@final
@dataclass(frozen=True)
class MapLayout:
    """What the components are: ``"locations"``, ``"tokens"`` or ``"channels"``.

    Attributes
    ----------
    components : str
    grid : pair of int, optional
        The user's grid, for maps that have the locations in one axis, such as image tokens.
    """

    components: str
    grid: tuple[int, int] | None = None

    def of_map(self, reading: MapReading | None, values: Tensor, rows: Any) -> ComponentLayout:
        """Return the layout of a feature map, or of the embeddings (n, T, C) of tokens."""
        if reading is None:
            return self.of(tuple(values.shape[1:2]), tuple(values.shape), rows)
        shape = tuple(reading.by_location(values).shape)
        return self.of(reading.grid(values), shape, rows, reading.fold)

    def of(
        self,
        sizes: tuple[int, ...],
        shape: tuple[int, ...],
        rows: Any,
        fold: tuple[int, int] | None = None,
    ) -> ComponentLayout:
        """Return the layout of a map with these location axes, as (n, L, C), of these rows.

        ``fold`` is the grid of locations in one axis, for images of the size of the background.
        """
        if self.components == "channels":
            return ChannelLayout(shape[2])
        if self.components == "tokens":
            return TokenLayout(shape[1])
        if len(sizes) == 2:
            return GridLayout(*sizes)
        if len(sizes) > 2:
            return GridLayout(math.prod(sizes[:-1]), sizes[-1])
        return GridLayout(*self._grid(shape[1], rows, fold))

    def _grid(self, length: int, rows: Any, fold: tuple[int, int] | None) -> tuple[int, int]:
        """Return the grid of locations in one axis: as given, or in the proportions of X."""
        if self.grid is not None:
            if self.grid[0] * self.grid[1] != length:
                raise ValueError(
                    f"grid={self.grid} has {self.grid[0] * self.grid[1]} places, but the feature "
                    f"map has {length} locations. Pass grid=(height, width) of that number."
                )
            return self.grid
        if fold is not None and 1 in fold:  # along one side of the image
            return (1, length) if fold[0] == 1 else (length, 1)
        if fold is not None and fold[0] * fold[1] == length:
            return fold
        image = image_size(rows)
        if image is not None:
            height = math.isqrt(length * image[0] // image[1])
            fits = height > 0 and length % height == 0
            if fits and height * image[1] == length // height * image[0]:
                return height, length // height
        return 1, length


def image_size(rows: Any) -> tuple[int, int] | None:
    """Return height and width of images (n, C, H, W) or (n, H, W, C); None for other rows."""
    part = next(iter(rows.values())) if isinstance(rows, Mapping) else rows
    shape = tuple(getattr(part, "shape", ()))
    if len(shape) != 4:
        return None
    channels_last = shape[3] in (1, 3, 4) and shape[1] not in (1, 3, 4)
    height, width = shape[1:3] if channels_last else shape[2:4]
    return int(height), int(width)
