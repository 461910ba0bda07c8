"""An image and the values of its locations in one picture: brightness here, colour there."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import Colormap, LinearSegmentedColormap
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates

from shafer._typing import FloatArray
from shafer.plots.drawing.style import AGAINST, COLORS, FOR

FOR_AND_AGAINST = LinearSegmentedColormap.from_list("evidence", [AGAINST, "#ffffff", FOR])
"""Orange against, blue for, white for no evidence: apart for colour-blind readers too."""

SILENT = LinearSegmentedColormap.from_list(
    "silent", [(0.0, "#00543d"), (0.45, "#4dbb9d"), (1.0, "#ffffff")]
)
"""White where there is no evidence, ever stronger where there is more."""

CONTRADICTED = LinearSegmentedColormap.from_list("contradicted", ["#ffffff", COLORS[3], "#7a2f57"])
"""White where a location agrees with the others, ever stronger where it contradicts them."""

_GHOST = 0.82  # brightness of the darkest pixel of the image under the colours
_FINEST, _COARSEST = 1200, 420  # pixels along the longer side of what is drawn


def canvas_size(image: tuple[int, int], cells: tuple[int, int]) -> tuple[int, int]:
    """Return height and width of the picture: enough pixels that cells end where they end."""
    times = float(-(-max(_COARSEST, *cells) // max(image)))
    if max(image) * times > _FINEST:
        times = _FINEST / max(image)
    return max(1, round(image[0] * times)), max(1, round(image[1] * times))


def stretched(array: NDArray[np.generic], size: tuple[int, int]) -> NDArray[np.generic]:
    """Return an array (h, w, ...) at another size; every pixel has the value of its cell."""
    rows, columns = (
        np.minimum((np.arange(n) + 0.5) * old / n, old - 1).astype(np.intp)
        for n, old in zip(size, array.shape[:2], strict=True)
    )
    found: NDArray[np.generic] = array[rows[:, None], columns]
    return found


def smoothed(values: FloatArray, size: tuple[int, int]) -> FloatArray:
    """Interpolate between the centres of the cells, linearly: nothing exceeds the cells' values."""
    rows, columns = (
        (np.arange(n) + 0.5) * old / n - 0.5 for n, old in zip(size, values.shape, strict=True)
    )
    grid = np.meshgrid(rows, columns, indexing="ij")
    found: FloatArray = map_coordinates(values, grid, order=1, mode="nearest")
    return found


def blended(
    grey: FloatArray, values: FloatArray, colors: Colormap, low: float, high: float
) -> FloatArray:
    """Return the picture, (H, W, 3): the colour of each value, over a pale ghost of the image.

    Colours must match the colour bar, so the image darkens them a little only. Pixels without a
    value (NaN) show the ghost alone.
    """
    span = max(high - low, np.finfo(np.float64).tiny)
    shares = np.clip((values - low) / span, 0.0, 1.0)
    hues = np.asarray(colors(np.where(np.isnan(values), 0.5, shares)))[..., :3]
    hues = np.where(np.isnan(values)[..., None], 1.0, hues)
    return np.asarray(hues * ghost(grey)[..., None])


def ghost(grey: FloatArray) -> FloatArray:
    """Return the image in pale greys, (H, W); a dark one as its negative.

    So most of the image is white, and only its object shades the colours.
    """
    light = 1.0 - grey if float(grey.mean()) < 0.5 else grey
    return np.asarray(_GHOST + (1.0 - _GHOST) * light)
