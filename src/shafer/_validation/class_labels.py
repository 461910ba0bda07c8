"""Class labels: which labels are the same, and the position of each among the classes.

Labels are compared by value. 0 and 0.0 are the same label, and so are NumPy's and Python's scalars.
A boolean is a label only where the classes are booleans themselves: otherwise ``True`` in a list of
labels is more likely part of a mask than the class 1. For boolean classes 0 and 1 mean False and
True. A string is never a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import array_api_compat
import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from shafer._text import listed
from shafer._typing import Label
from shafer._validation.arrays import to_numpy

_CHUNK = 1 << 16  # rows looked up at a time: a few MB of Python objects


def class_labels(classes: Any, n_classes: int) -> NDArray[Any]:
    """Return K distinct labels as a 1-d array; 0..K−1 when ``classes`` is None."""
    if n_classes < 2:
        raise ValueError(f"Evidence needs at least 2 classes; got {n_classes}.")
    labels = np.arange(n_classes) if classes is None else label_array(classes, "classes").copy()
    if labels.shape != (n_classes,):
        raise ValueError(f"classes must hold {n_classes} labels; got shape {labels.shape}.")
    if any(map(_is_nan, labels.tolist())):
        raise ValueError(f"classes must not hold NaN; got [{listed(labels.tolist())}].")
    if len(set(labels.tolist())) != n_classes:
        raise ValueError(f"classes must be distinct; got [{listed(labels.tolist())}].")
    labels.flags.writeable = False
    return labels


def label_array(values: Any, name: str) -> NDArray[Any]:
    """Return labels of any kind as a NumPy array, each label as it was given.

    Accepts arrays of any library, Series of any data frame library (categorical and nullable ones
    included) and sequences. A sequence of several types becomes an array of objects.
    """
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(f"{name} must not be a masked array. Fill it first, with .filled(value).")
    if array_api_compat.is_array_api_obj(values):
        return to_numpy(values)
    series = nw.from_native(values, pass_through=True, allow_series=True, eager_only=True)
    if isinstance(series, nw.Series):
        return np.asarray(series.to_numpy())
    if isinstance(series, nw.DataFrame):
        raise ValueError(
            f"{name} must be one column of labels; got a data frame of shape {series.shape}. "
            "Select the column by its name."
        )
    if is_one_label(values):
        raise ValueError(f"{name} must be a sequence of labels; got {values!r}.")
    return _kept_apart([_plain(label) for label in values])


def _kept_apart(labels: list[Any]) -> NDArray[Any]:
    # NumPy would turn a mix of numbers and strings into strings, and tuples into a second axis.
    if len({type(label) for label in labels}) == 1 and not isinstance(labels[0], tuple):
        array = np.asarray(labels, dtype=object if isinstance(labels[0], list) else None)
        if array.tolist() == labels:  # not so for integers past 64 bits
            return array
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def is_one_label(value: Any) -> bool:
    """Return True if ``value`` is one label, False if it is a collection of labels."""
    return isinstance(value, str | bytes) or not isinstance(value, Iterable)


def positions_of(
    subset: Label | Iterable[Label], classes: NDArray[Any] | Sequence[Label]
) -> list[int]:
    """Return the sorted positions of the labels in ``subset``, each once.

    A known label is read as itself, even if it is a tuple. A string or any other scalar is always
    one label; anything else is a collection of labels.
    """
    listing = classes.tolist() if isinstance(classes, np.ndarray) else classes
    known = {label: k for k, label in enumerate(listing)}
    if array_api_compat.is_array_api_obj(subset):
        subset = to_numpy(subset).tolist()
    single = is_one_label(subset) or (_is_hashable(subset) and subset in known)
    labels = [_plain(label) for label in ([subset] if single else cast("Iterable[Any]", subset))]
    found = _looked_up(labels, known, _has_booleans(known))
    unknown = [label for label, k in zip(labels, found, strict=True) if k < 0]
    if unknown:
        raise ValueError(_unknown_labels(unknown, known))
    return sorted(set(found))


def one_position(
    label: Label, classes: NDArray[Any] | Sequence[Label], name: str = "class_"
) -> int:
    """Return the position of one class label; ``name`` is the argument that holds it."""
    positions = positions_of(label, classes)
    if len(positions) != 1:
        raise ValueError(f"{name} must be one class label; got {label!r}.")
    return positions[0]


def label_positions(
    y: Any, classes: NDArray[Any], n: int | None = None, name: str = "y"
) -> NDArray[np.intp]:
    """Return the position among the classes of each row's true class.

    ``y`` is read row by row: the index of a pandas Series plays no part. ``n`` is the number of
    rows that it must have; None allows any number.
    """
    values = label_array(y, name)
    if values.ndim != 1 or (n is not None and len(values) != n):
        rows = "each row" if n is None else f"each of {n} rows"
        raise ValueError(f"{name} must hold one label for {rows}; got shape {values.shape}.")
    known = {label: k for k, label in enumerate(classes.tolist())}
    booleans = _has_booleans(known)
    positions = np.empty(len(values), dtype=np.intp)
    for start in range(0, len(values), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        positions[chunk] = _looked_up(values[chunk].tolist(), known, booleans)
    if np.any(positions < 0):
        raise ValueError(_unknown_labels(values[positions < 0].tolist(), known, name))
    return positions


def _looked_up(labels: list[Any], known: dict[Any, int], booleans: bool) -> list[int]:
    """Return the position of each label, −1 for an unknown one."""
    try:
        found = [known.get(label, -1) for label in labels]
    except TypeError:  # a list, or another label that cannot be hashed
        found = [known.get(label, -1) if _is_hashable(label) else -1 for label in labels]
    if booleans:
        return found
    return [-1 if isinstance(label, bool) else k for label, k in zip(labels, found, strict=True)]


def _unknown_labels(unknown: list[Any], known: dict[Any, int], name: str | None = None) -> str:
    """Return the text of an error: the labels, the classes, and what to do."""
    distinct = list({repr(label): label for label in unknown}.values())
    where = "" if name is None else f" in {name}"
    otherwise = "Use these labels." if name is None else "Pass the labels used in training."
    if all(map(is_missing, distinct)):
        return (
            f"Missing class label(s) [{listed(distinct)}]{where}, {len(unknown)} in all. "
            "Remove these rows first."
        )
    return (
        f"Unknown class label(s) [{listed(distinct)}]{where}; the classes are [{listed(known)}]. "
        f"{_advice(distinct, known, otherwise)}"
    )


def _advice(unknown: list[Any], known: dict[Any, int], otherwise: str) -> str:
    if all(isinstance(label, bool) for label in unknown):
        return "Booleans are not the numbers 0 and 1. Pass labels, not a mask, or use .astype(int)."
    if {str(label) for label in unknown} <= {str(label) for label in known}:
        return "A string is not a number. Convert one of the two, for instance with .astype(str)."
    return otherwise


def _plain(label: Any) -> Any:
    """Turn a NumPy scalar into a Python one, as ``tolist`` does for the classes."""
    return label.item() if isinstance(label, np.generic) else label


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _has_booleans(known: dict[Any, int]) -> bool:
    return any(isinstance(label, bool) for label in known)


def _is_nan(label: Any) -> bool:
    try:
        return bool(label != label)
    except TypeError:  # the comparison of NA is NA, which is neither true nor false
        return True


def is_missing(label: Any) -> bool:
    """Return True for None, NaN, NaT and pandas' NA."""
    return label is None or _is_nan(label)
