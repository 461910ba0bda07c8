"""Arrays and values of a saved monitor, checked when they are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._array_file import Arrays, Header
from shafer._typing import BoolArray, FloatArray


def floats(arrays: Arrays, name: str, shape: Sequence[int | None]) -> FloatArray:
    """Return a finite float array of a shape; None stands for any length."""
    array = _shaped(arrays, name, shape)
    if array.dtype != np.float64 or not np.isfinite(array).all():
        raise ValueError(f"its array {name!r} must hold finite float64 numbers")
    return array


def booleans(arrays: Arrays, name: str, shape: Sequence[int | None]) -> BoolArray:
    """Return a boolean array of a shape."""
    array = _shaped(arrays, name, shape)
    if array.dtype != np.bool_:
        raise ValueError(f"its array {name!r} must hold truth values")
    return array


def whole_numbers(
    arrays: Arrays, name: str, shape: Sequence[int | None], least: int
) -> NDArray[np.int64]:
    """Return an array of whole numbers of at least ``least``."""
    array = _shaped(arrays, name, shape)
    if array.dtype != np.int64 or (array < least).any():
        raise ValueError(f"its array {name!r} must hold whole numbers of at least {least}")
    return array


def _shaped(arrays: Arrays, name: str, shape: Sequence[int | None]) -> NDArray[Any]:
    if name not in arrays:
        raise ValueError(f"it has no array {name!r}")
    array = arrays[name]
    wrong = len(shape) != array.ndim or any(
        wanted is not None and wanted != given
        for wanted, given in zip(shape, array.shape, strict=True)
    )
    if wrong:
        raise ValueError(f"its array {name!r} has shape {array.shape}, not {tuple(shape)}")
    return array


def texts(header: Header, key: str) -> tuple[str, ...]:
    """Return a list of distinct strings of the header."""
    found = header.get(key)
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise ValueError(f"its {key!r} must be a list of strings")
    if len(set(found)) != len(found):
        raise ValueError(f"its {key!r} must be distinct")
    return tuple(found)


def plain_labels(labels: Sequence[Any], wrong: str) -> list[Any]:
    """Return class labels that JSON can hold; ``wrong`` begins the error for others."""
    for label in labels:
        if not isinstance(label, str | int | float | bool):
            raise ValueError(
                f"{wrong} strings, numbers or truth values; got {label!r} of type "
                f"{type(label).__name__}. Rename the classes before training."
            )
    return list(labels)
