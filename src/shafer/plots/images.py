"""The user's image as numbers to draw, from the many forms in which images come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from array_api_compat import is_torch_array
from matplotlib.colors import Colormap, LinearSegmentedColormap
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates

from shafer._checks.arrays import to_numpy
from shafer._typing import FloatArray
from shafer.plots.style import AGAINST, COLORS, FOR

RESCALED = "brightness of the image rescaled"
_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
_DEPTHS = (1, 3, 4)  # grey, RGB, RGBA
_BYTE_LIKE = 127.0  # numbers up to 255: a photograph has some light pixel


@final
@dataclass(frozen=True, eq=False)
class ShownImage:
    """An image with red, green and blue from 0 to 1, (H, W, 3); and a note on how it was read."""

    colours: FloatArray
    note: str = ""

    @property
    def grey(self) -> FloatArray:
        """Brightness of the pixels, (H, W), from 0 to 1."""
        return np.asarray(self.colours @ _LUMINANCE)

    @property
    def size(self) -> tuple[int, int]:
        """Height and width, in pixels."""
        return self.colours.shape[0], self.colours.shape[1]


def read_image(
    image: Any, *, channels: str | None = None, normalised: Any | None = None
) -> ShownImage:
    """Return an image to draw.

    Parameters
    ----------
    image : array of shape (H, W), (H, W, C) or (C, H, W)
        C is 1, 3 (RGB) or 4 (RGBA). Bytes, floats from 0 to 1, numbers from 0 to 255, booleans;
        other numbers are rescaled from the darkest to the lightest value, with a note.
    channels : {"first", "last"}, optional
        Where the channels are; needed only if the shape leaves it open.
    normalised : pair (mean, std), optional
        Numbers, or one for each channel, that the image was normalised with; this is undone.
    """
    pixels = _channels_last(_as_array(image), channels)
    if normalised is not None:
        pixels, note = np.clip(_unnormalised(pixels, normalised), 0.0, 1.0), ""
    else:
        pixels, note = _from_zero_to_one(pixels)
    return ShownImage(_as_rgb(pixels), note)


def _as_array(image: Any) -> NDArray[Any]:
    if is_torch_array(image) and image.is_floating_point():
        image = image.detach().float()  # NumPy has no bfloat16
    try:
        array = to_numpy(image)
    except (TypeError, ValueError, RuntimeError):
        array = np.asarray(None)
    if array.dtype.kind not in "buif":
        raise ValueError(
            "image must be an array or a tensor of numbers; got "
            f"{type(image).__name__}. For a file, read it first: matplotlib.pyplot.imread(path)."
        )
    if array.ndim == 4 and array.shape[0] == 1:
        array = array[0]
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(
            f"image must be finite; got {int((~np.isfinite(array)).sum())} NaN or infinite "
            "value(s). Replace them first."
        )
    return array


def _channels_last(array: NDArray[Any], channels: str | None) -> NDArray[Any]:
    """Return the image as (H, W, C)."""
    if channels not in (None, "first", "last"):
        raise ValueError(f"channels must be 'first' or 'last'; got {channels!r}.")
    if array.ndim not in (2, 3) or 0 in array.shape:
        raise ValueError(_shape_advice(array.shape))
    if array.ndim == 2:
        return array[:, :, None]
    first, last = array.shape[0] in _DEPTHS, array.shape[2] in _DEPTHS
    if channels is None and first and last and array.shape[0] != 1:
        # (3, 5, 3) could be either; (1, 1, 3) and (1, 5, 1) are not worth a question.
        raise ValueError(
            f"The shape {array.shape} of image leaves open where the channels are. Pass "
            "channels='first' or channels='last'."
        )
    where = channels or ("last" if last else "first")
    if not (first if where == "first" else last):
        raise ValueError(_shape_advice(array.shape))
    return np.moveaxis(array, 0, 2) if where == "first" else array


def _shape_advice(shape: tuple[int, ...]) -> str:
    wanted = "image must have the shape (H, W), (H, W, C) or (C, H, W), with 1, 3 or 4 channels C"
    if len(shape) == 4:
        advice = "Pass one image of the batch, as in images[row]."
    elif len(shape) == 1:
        advice = "Reshape it to its height and width."
    elif len(shape) == 3 and shape[1] in _DEPTHS:
        advice = "The channels seem to be in the middle: use numpy.moveaxis(image, 1, 2)."
    else:
        advice = "Choose three channels, or average them."
    return f"{wanted}; got {shape}. {advice}"


def _from_zero_to_one(pixels: NDArray[Any]) -> tuple[FloatArray, str]:
    """Bring brightness to 0..1, by type and range."""
    values = pixels.astype(np.float64)
    low, high = float(values.min()), float(values.max())
    if pixels.dtype.kind == "b" or (pixels.dtype.kind == "f" and low >= 0.0 and high <= 1.0 + 1e-6):
        return np.clip(values, 0.0, 1.0), ""
    if pixels.dtype == np.uint8 or (low >= 0.0 and _BYTE_LIKE < high <= 255.0):
        return values / 255.0, ""
    if pixels.dtype == np.uint16:
        return values / 65535.0, ""
    return (values - low) / max(high - low, np.finfo(np.float64).tiny), RESCALED


def _unnormalised(pixels: NDArray[Any], normalised: Any) -> FloatArray:
    try:
        mean, std = (np.asarray(part, dtype=np.float64) for part in normalised)
        values = np.asarray(pixels * std + mean, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape != pixels.shape:
        raise ValueError(
            "normalised must be a pair (mean, std) of numbers, or of one number for each of the "
            f"{pixels.shape[2]} channel(s); got {normalised!r}."
        )
    return values


def _as_rgb(pixels: FloatArray) -> FloatArray:
    if pixels.shape[2] == 1:
        return np.repeat(pixels, 3, axis=2)
    if pixels.shape[2] == 4:  # transparent parts become white
        opacity = pixels[:, :, 3:]
        return pixels[:, :, :3] * opacity + (1.0 - opacity)
    return pixels


# An image and the values of its locations in one picture: brightness here, colour there.

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
