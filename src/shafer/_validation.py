"""What every door checks: arrays, class labels, names. Errors name the argument and the value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from shafer._typing import Array, Label


def to_numpy(x: Array) -> NDArray[Any]:
    """Bring any array to NumPy, from any device and out of any gradient graph."""
    if array_api_compat.is_torch_array(x):
        x = x.detach().cpu()
    elif array_api_compat.is_cupy_array(x):  # pragma: no cover - needs a GPU
        x = x.get()
    return np.asarray(x)


def float_array(value: Any, name: str, *, ndim: Sequence[int] | None = None) -> Array:
    """Return a real floating array of the caller's library; anything else becomes NumPy.

    Integers and booleans become float64, half precision float32.

    Raises
    ------
    ValueError
        If the values are not real numbers, are not all finite, or the rank is not in ``ndim``.
    """
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
    check_finite(array, name)
    return array


def _as_numpy(value: Any, name: str) -> NDArray[Any]:
    if value is None:
        raise ValueError(f"{name} must be an array of real numbers; got None.")
    try:
        array = np.asarray(value)
        return array.astype(np.float64) if array.dtype == object else array
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be an array of real numbers; got {type(value).__name__}: {error}"
        ) from error


def check_finite(array: Array, name: str) -> None:
    """Refuse NaN and infinity, and say where the first one is."""
    xp = array_api_compat.array_namespace(array)
    finite = xp.isfinite(array)
    if bool(xp.all(finite)):
        return
    bad = ~to_numpy(finite)
    first = tuple(int(i) for i in np.argwhere(bad)[0])
    raise ValueError(
        f"{name} must be finite; got {int(bad.sum())} NaN or infinite value(s), "
        f"the first at index {first}."
    )


def same_library(arrays: dict[str, Array]) -> Any:
    """Return the namespace all arrays belong to, or say which ones differ."""
    try:
        return array_api_compat.array_namespace(*arrays.values())
    except TypeError as error:
        kinds = ", ".join(f"{name}: {type(a).__module__}" for name, a in arrays.items())
        raise ValueError(f"All arrays must come from one library; got {kinds}.") from error


def class_labels(classes: Any, n_classes: int) -> NDArray[Any]:
    """Return K distinct labels as a 1-d array; 0..K−1 when none are given."""
    if n_classes < 2:
        raise ValueError(f"Evidence needs at least 2 classes; got {n_classes}.")
    if classes is None:
        return np.arange(n_classes)
    labels = _label_array(classes)
    if labels.shape != (n_classes,):
        raise ValueError(f"classes must hold {n_classes} labels; got shape {labels.shape}.")
    if len(set(labels.tolist())) != n_classes:
        raise ValueError(f"classes must be distinct; got {labels.tolist()}.")
    labels = labels.copy()
    labels.flags.writeable = False
    return labels


def _label_array(classes: Any) -> NDArray[Any]:
    if array_api_compat.is_array_api_obj(classes):
        return to_numpy(classes)
    labels = list(classes)
    # NumPy would turn a mix of numbers and strings into strings, and tuples into a second axis.
    if len({type(label) for label in labels}) == 1 and not isinstance(labels[0], tuple):
        return np.asarray(labels)
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def component_names(names: Iterable[Any] | None, n_components: int) -> tuple[str, ...]:
    """Return G distinct names; x0..x{G−1} when none are given."""
    if names is None:
        return tuple(f"x{g}" for g in range(n_components))
    result = tuple(str(name) for name in names)
    if len(result) != n_components:
        raise ValueError(f"names must hold {n_components} names; got {len(result)}.")
    if len(set(result)) != len(result):
        twice = sorted({name for name in result if result.count(name) > 1})
        raise ValueError(f"names must be distinct; given more than once: {twice}.")
    return result


def is_one_label(value: Any) -> bool:
    """Say whether ``value`` is a label by itself rather than a collection of labels."""
    return isinstance(value, str | bytes) or not isinstance(value, Iterable)


def positions_of(subset: Label | Iterable[Label], classes: NDArray[Any]) -> list[int]:
    """Return the sorted positions of the labels in ``subset``, each once."""
    known = {label: k for k, label in enumerate(classes.tolist())}
    try:
        single = is_one_label(subset) or subset in known
    except TypeError:  # an unhashable collection, such as a list or a set
        single = False
    labels = [subset] if single else list(cast("Iterable[Label]", subset))
    unknown = [label for label in labels if label not in known]
    if unknown:
        raise ValueError(f"Unknown class label(s) {unknown}; the classes are {classes.tolist()}.")
    return sorted({known[label] for label in labels})
