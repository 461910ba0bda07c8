"""Where the components of evidence lie: on a grid of an image, in its regions, or along a text.

Displays read it from ``Evidence.layout``. Components that come after those of the layout, such as
the base rate, have no place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._files.codec import Limits, read
from shafer._typing import FloatArray


@dataclass(frozen=True, eq=False)
class ComponentLayout(ABC):
    """The places of the first components of an evidence, in their order.

    See Also
    --------
    GridLayout : Places on an image.
    RegionLayout : Regions of an image.
    ChannelLayout : Channels of a feature map.
    TokenLayout : Tokens of a text.

    Examples
    --------
    >>> from shafer.evidence import ComponentLayout, TokenLayout
    >>> layout = TokenLayout(2)
    >>> isinstance(layout, ComponentLayout), layout.names
    (True, ('token 0', 'token 1'))
    """

    @property
    @abstractmethod
    def n_components(self) -> int:
        """The number of components that have a place."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of these components."""

    @abstractmethod
    def spread(self, values: Any) -> FloatArray:
        """Put values of the components, (..., G), at their places; NumPy.

        Parameters
        ----------
        values : array of shape (..., G)
            One for each component.

        Returns
        -------
        NumPy array
            Of shape (..., H, W) for an image, (..., length) for a text.
        """

    def rows(self, positions: NDArray[np.intp]) -> ComponentLayout:
        """Keep some instances; most layouts are the same for all.

        Parameters
        ----------
        positions : integer array
            Positions of the instances to keep.

        Returns
        -------
        ComponentLayout
        """
        del positions
        return self

    @abstractmethod
    def plain(self) -> dict[str, Any]:
        """Return the layout as plain values, for ``read_layout``.

        Returns
        -------
        dict
        """

    def _placed(self, values: Any) -> FloatArray:
        array = np.asarray(to_numpy(values))
        if array.ndim == 0 or array.shape[-1] < self.n_components:
            raise ValueError(
                f"values must have one entry for each of the {self.n_components} components in "
                f"the last axis; got shape {array.shape}."
            )
        return array[..., : self.n_components]


@final
@dataclass(frozen=True, eq=False)
class GridLayout(ComponentLayout):
    """Components on a grid over an image, row by row from the top left.

    Attributes
    ----------
    height, width : int
        The number of rows and of columns of the grid.

    See Also
    --------
    RegionLayout : Regions of any form.
    shafer.plots.EvidenceMapDisplay : Draws the evidence on the image.

    Examples
    --------
    >>> from shafer.evidence import GridLayout
    >>> layout = GridLayout(2, 3)
    >>> layout.names[4]
    'row 1, column 1'
    >>> layout.spread([0.0, 0.1, 0.2, 1.0, 1.1, 1.2])
    array([[0. , 0.1, 0.2],
           [1. , 1.1, 1.2]])
    """

    height: Annotated[int, Limits(least=1)]
    width: Annotated[int, Limits(least=1)]

    @property
    def n_components(self) -> int:
        """The number of cells."""
        return self.height * self.width

    @property
    def names(self) -> tuple[str, ...]:
        """Names such as ``"row 0, column 2"``."""
        return tuple(
            f"row {row}, column {column}"
            for row in range(self.height)
            for column in range(self.width)
        )

    def spread(self, values: Any) -> FloatArray:
        """Return values of the components, (..., G), as images (..., height, width)."""
        placed = self._placed(values)
        return placed.reshape(*placed.shape[:-1], self.height, self.width)

    def plain(self) -> dict[str, Any]:
        """Return the size of the grid."""
        return {"kind": "grid", "height": self.height, "width": self.width}


@final
@dataclass(frozen=True, eq=False)
class RegionLayout(ComponentLayout):
    """Components that are regions of an image: the parts of a segmentation.

    Attributes
    ----------
    label_map : integer array of shape (H, W), or (n, H, W)
        The component of each pixel; for a segmentation of each image, one map for each.
    region_names : tuple of strings

    See Also
    --------
    GridLayout : Cells of equal size.
    shafer.plots.EvidenceMapDisplay : Draws the evidence on the image.

    Examples
    --------
    >>> import numpy as np
    >>> from shafer.evidence import RegionLayout
    >>> layout = RegionLayout(np.array([[0, 0, 1], [0, 1, 1]]), ("sky", "ground"))
    >>> layout.spread([0.5, -1.0])
    array([[ 0.5,  0.5, -1. ],
           [ 0.5, -1. , -1. ]])
    """

    label_map: Annotated[NDArray[np.intp], "h w", "n h w", Limits(least=0)]
    region_names: tuple[str, ...]

    @property
    def n_components(self) -> int:
        """The number of regions."""
        return len(self.region_names)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the regions."""
        return self.region_names

    def spread(self, values: Any) -> FloatArray:
        """Return the value of each pixel's region: (..., H, W); (n, ..., H, W) for n maps."""
        placed = self._placed(values)
        if self.label_map.ndim == 2:
            return placed[..., self.label_map]
        if placed.ndim < 2 or len(placed) != len(self.label_map):
            raise ValueError(
                f"values must have one row for each of the {len(self.label_map)} label maps; got "
                f"shape {placed.shape}."
            )
        return np.stack([row[..., m] for row, m in zip(placed, self.label_map, strict=True)])

    def rows(self, positions: NDArray[np.intp]) -> RegionLayout:
        """Keep the maps of some instances."""
        if self.label_map.ndim == 2:
            return self
        return RegionLayout(self.label_map[positions], self.region_names)

    def plain(self) -> dict[str, Any]:
        """Return the label map and the names."""
        return {"kind": "regions", "labels": self.label_map, "names": list(self.region_names)}


@final
@dataclass(frozen=True, eq=False)
class TokenLayout(ComponentLayout):
    """Components along a text: token after token.

    Attributes
    ----------
    length : int
        The number of tokens, padding included.

    See Also
    --------
    GridLayout : Components of an image.
    shafer.plots.TextDisplay : Draws the evidence of words.

    Examples
    --------
    >>> from shafer.evidence import TokenLayout
    >>> TokenLayout(3).names
    ('token 0', 'token 1', 'token 2')
    """

    length: Annotated[int, Limits(least=1)]

    @property
    def n_components(self) -> int:
        """The number of tokens."""
        return self.length

    @property
    def names(self) -> tuple[str, ...]:
        """Names such as ``"token 0"``."""
        return tuple(f"token {t}" for t in range(self.length))

    def spread(self, values: Any) -> FloatArray:
        """Return the values of the tokens, (..., length)."""
        return self._placed(values)

    def plain(self) -> dict[str, Any]:
        """Return the number of tokens."""
        return {"kind": "tokens", "length": self.length}


@final
@dataclass(frozen=True, eq=False)
class ChannelLayout(ComponentLayout):
    """Components that are the channels of a feature map.

    Attributes
    ----------
    n_channels : int

    See Also
    --------
    GridLayout : Components that are places, not channels.

    Examples
    --------
    >>> from shafer.evidence import ChannelLayout
    >>> ChannelLayout(2).names
    ('channel 0', 'channel 1')
    """

    n_channels: int

    @property
    def n_components(self) -> int:
        """The number of channels."""
        return self.n_channels

    @property
    def names(self) -> tuple[str, ...]:
        """Names such as ``"channel 0"``."""
        return tuple(f"channel {c}" for c in range(self.n_channels))

    def spread(self, values: Any) -> FloatArray:
        """Return the values of the channels, (..., n_channels)."""
        return self._placed(values)

    def plain(self) -> dict[str, Any]:
        """Return the number of channels."""
        return {"kind": "channels", "length": self.n_channels}


def read_layout(given: Mapping[str, Any] | None) -> ComponentLayout | None:
    """Make a layout from what ``plain`` gave; None stays None.

    Raises
    ------
    ValueError
        If it is not a layout.
    """
    if given is None:
        return None
    sizes = dict(given)
    kind = sizes.pop("kind", None)
    try:
        if kind == "grid":
            return read(GridLayout, sizes)
        if kind == "tokens":
            return read(TokenLayout, sizes)
        if kind == "channels":
            return ChannelLayout(read(TokenLayout, sizes).length)
        if kind == "regions":
            return _regions(sizes)
    except ValueError as error:
        raise ValueError(f"its layout is damaged: {error}") from error
    raise ValueError(f"its layout must be a grid, regions, tokens or channels; it is {kind!r}")


def _regions(given: dict[str, Any]) -> RegionLayout:
    named = {"labels": "label_map", "names": "region_names"}
    found = read(RegionLayout, {named.get(name, name): part for name, part in given.items()})
    labels, n_names = found.label_map, len(found.region_names)
    if not labels.size or int(labels.max()) >= n_names:
        raise ValueError(f"labels must hold whole numbers from 0 to {n_names - 1}")
    return found


# Segmentations of images: which region each pixel belongs to, and its share of each grid cell.


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
