"""Arrays of real numbers, of any array library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NoReturn

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from shafer._typing import Array
from shafer._validation.data_frames import frame_columns, frame_of
from shafer._validation.deferred_checks import check_later


def to_numpy(x: Array) -> NDArray[Any]:
    """Return the array as NumPy, from any device and without its gradient graph."""
    if array_api_compat.is_torch_array(x):
        x = x.detach().cpu()
    elif array_api_compat.is_cupy_array(x):  # pragma: no cover - needs a GPU
        x = x.get()
    return np.asarray(x)


def frozen(array: Array) -> Array:
    """Make a NumPy array read-only; arrays of other libraries are returned as they are."""
    if isinstance(array, np.ndarray):
        array.flags.writeable = False
    return array


def float_array(
    value: Any, name: str, *, ndim: Sequence[int] | None = None, finite: bool = False
) -> Array:
    """Return a real floating array of the caller's library; anything else becomes NumPy.

    Integers and booleans become float64, half precision becomes float32. Column names of data
    frames are dropped. ``finite=True`` skips the search for NaN and infinity.

    Raises
    ------
    ValueError
        If the values are not real numbers, are not all finite, or the rank is not in ``ndim``.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise ValueError(f"{name} must not be a masked array. Fill it first, with .filled(value).")
    array = value if array_api_compat.is_array_api_obj(value) else _as_numpy(value, name)
    xp = array_api_compat.array_namespace(array)
    if array_api_compat.is_numpy_array(array) and array.dtype == object:
        array = _as_numpy(array, name)
    if xp.isdtype(array.dtype, "real floating"):
        size = xp.finfo(array.dtype).bits
        array = xp.astype(array, {16: xp.float32, 32: xp.float32}.get(size, xp.float64), copy=False)
    elif xp.isdtype(array.dtype, ("bool", "integral")):
        array = xp.astype(array, xp.float64)
    else:
        raise ValueError(f"{name} must hold real numbers; got an array of {array.dtype}.")
    if ndim is not None and array.ndim not in ndim:
        wanted = " or ".join(str(n) for n in ndim)
        raise ValueError(f"{name} must have {wanted} dimension(s); got shape {tuple(array.shape)}.")
    if not finite:
        check_finite(array, name, frame_columns(value))
    return array


def _as_numpy(value: Any, name: str) -> NDArray[Any]:
    if value is None:
        raise ValueError(f"{name} must be an array of real numbers; got None.")
    frame = frame_of(value)
    try:
        array = np.asarray(value) if frame is None else frame.to_numpy()
        return array.astype(np.float64) if array.dtype == object else array
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be an array of real numbers; got {type(value).__name__}: {error}"
        ) from error


def check_finite(array: Array, name: str, columns: Sequence[Any] | None = None) -> None:
    """Refuse NaN and infinity; the error gives the place of the first one.

    ``columns`` are the names of the columns, where they are known.
    """
    xp = array_api_compat.array_namespace(array)
    with np.errstate(over="ignore", invalid="ignore"):
        if bool(xp.isfinite(xp.sum(array))):  # one pass, nothing allocated
            return
    finite = xp.isfinite(array)
    if bool(xp.all(finite)):
        return
    bad = ~to_numpy(finite)
    first = tuple(int(i) for i in np.argwhere(bad)[0])
    place = f"at index {first}"
    if columns is not None and len(first) == 2:
        place = f"in row {first[0]}, column {columns[first[1]]!r}"
    raise ValueError(
        f"{name} must be finite; got {int(bad.sum())} NaN or infinite value(s), the first {place}."
    )


def check_overflow(array: Array, what: str) -> None:
    """Refuse values so large that sums of them overflow the precision of the array."""
    check_overflows([array], what)


def check_overflows(arrays: Sequence[Array], what: str) -> None:
    """Do the same for several arrays of one library; a device is waited for only once."""
    if all(isinstance(array, np.ndarray) for array in arrays):
        _check_numpy_overflows(arrays, what)
        return
    xp = array_api_compat.array_namespace(*arrays)
    filled = [array for array in arrays if math.prod(array.shape)]
    on_device = filled and array_api_compat.is_torch_array(filled[0]) and filled[0].is_cuda
    if on_device and len({tuple(array.shape) for array in filled}) == 1:
        filled = [xp.stack(filled)]  # fewer steps to send to the device
    inside = [xp.all(xp.abs(array) < _largest(xp, array)) for array in filled]
    if inside:
        check_later(xp.all(xp.stack(inside)), partial(_overflows, what, filled[0].dtype))


def _check_numpy_overflows(arrays: Sequence[NDArray[Any]], what: str) -> None:
    """Compare the extremes alone: one pass over each array, nothing allocated."""
    for array in arrays:
        if array.size:
            largest = _largest(np, array)
            if not (-largest < array.min() and array.max() < largest):  # False for NaN too
                _overflows(what, array.dtype)


def _overflows(what: str, dtype: Any) -> NoReturn:
    if what.startswith("values of"):
        raise ValueError(f"The {what} are too large for {dtype}. Give smaller numbers.")
    raise ValueError(
        f"The {what} overflow {dtype}: coefficients and features are too large together. Scale "
        "the features, or use float64."
    )


def _largest(xp: Any, array: Array) -> float:
    largest: float = xp.finfo(array.dtype).max
    n_last: int = array.shape[-1]
    return largest / (4 * max(1, n_last))


def same_library(arrays: dict[str, Array]) -> Any:
    """Return the array namespace that all arrays share; the error names the ones that differ."""
    try:
        return array_api_compat.array_namespace(*arrays.values())
    except TypeError as error:
        kinds = ", ".join(f"{name}: {type(a).__module__}" for name, a in arrays.items())
        raise ValueError(
            f"All arrays must come from one library; got {kinds}. Convert them to NumPy arrays, or "
            "to tensors of one library."
        ) from error
