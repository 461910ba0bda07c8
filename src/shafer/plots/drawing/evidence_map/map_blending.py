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

NOTHING = LinearSegmentedColormap.from_list("nothing", ["#ffffff", COLORS[2], "#00543d"])
"""Ever stronger where there is no evidence."""

DISPUTED = LinearSegmentedColormap.from_list("disputed", ["#ffffff", COLORS[3], "#7a2f57"])
"""Ever stronger where a location contradicts the others."""

_DARKEST = 0.75  # brightness of a black pixel under the colours
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
    """Return the picture, (H, W, 3): the colour of each value, darkened where the image is dark.

    Hue and saturation come from the values alone, so they can be read off the colour bar. Pixels
    without a value (NaN) show the image.
    """
    span = max(high - low, np.finfo(np.float64).tiny)
    shares = np.clip((values - low) / span, 0.0, 1.0)
    hues = np.asarray(colors(np.where(np.isnan(values), 0.5, shares)))[..., :3]
    hues = np.where(np.isnan(values)[..., None], 1.0, hues)
    shade = _DARKEST + (1.0 - _DARKEST) * grey
    return np.asarray(hues * shade[..., None])
