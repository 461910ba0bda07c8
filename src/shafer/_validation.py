"""What every door checks: arrays, class labels, names. Errors name the argument and the value."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, cast

import array_api_compat
import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from shafer._text import listed
from shafer._typing import Array, Label


def to_numpy(x: Array) -> NDArray[Any]:
    """Bring any array to NumPy, from any device and out of any gradient graph."""
    if array_api_compat.is_torch_array(x):
        x = x.detach().cpu()
    elif array_api_compat.is_cupy_array(x):  # pragma: no cover - needs a GPU
        x = x.get()
    return np.asarray(x)


def frozen(array: Array) -> Array:
    """Guard a result against being written to, where the library can."""
    if isinstance(array, np.ndarray):
        array.flags.writeable = False
    return array


def float_array(
    value: Any, name: str, *, ndim: Sequence[int] | None = None, finite: bool = False
) -> Array:
    """Return a real floating array of the caller's library; anything else becomes NumPy.

    Integers and booleans become float64, half precision float32; data frames lose their names.
    ``finite`` says that the values are known to be finite.

    Raises
    ------
    ValueError
        If the values are not real numbers, are not all finite, or the rank is not in ``ndim``.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise ValueError(f"{name} must not be a masked array; fill it first, with .filled(value).")
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
        check_finite(array, name)
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


def check_finite(array: Array, name: str) -> None:
    """Refuse NaN and infinity, and say where the first one is."""
    xp = array_api_compat.array_namespace(array)
    with np.errstate(over="ignore", invalid="ignore"):
        if bool(xp.isfinite(xp.sum(array))):  # one pass, nothing allocated
            return
    finite = xp.isfinite(array)
    if bool(xp.all(finite)):
        return
    bad = ~to_numpy(finite)
    first = tuple(int(i) for i in np.argwhere(bad)[0])
    raise ValueError(
        f"{name} must be finite; got {int(bad.sum())} NaN or infinite value(s), "
        f"the first at index {first}."
    )


def frame_of(value: Any) -> nw.DataFrame[Any] | None:
    """Return a data frame of any library, with distinct strings as column names; else None."""
    try:
        frame = nw.from_native(value, pass_through=True, eager_only=True)
    except DuplicateError:
        return _renamed(value)
    if not isinstance(frame, nw.DataFrame):
        return None
    return frame if all(isinstance(name, str) for name in frame.columns) else _renamed(value)


def _renamed(frame: Any) -> nw.DataFrame[Any]:
    """Return the frame with distinct strings as column names."""
    if nw.dependencies.is_pandas_like_dataframe(frame):
        renamed = frame.set_axis(numbered([str(name) for name in frame.columns]), axis=1)
    else:  # an Arrow table
        renamed = frame.rename_columns(numbered(frame.column_names))
    distinct: nw.DataFrame[Any] = nw.from_native(renamed, eager_only=True)
    return distinct


def frame_columns(value: Any) -> tuple[str, ...] | None:
    """Return the column names of a data frame of any library as distinct strings, else None."""
    frame = frame_of(value)
    return None if frame is None else tuple(frame.columns)


def check_overflow(array: Array, what: str) -> None:
    """Refuse what finite input has made too large for its precision, sums of it included."""
    xp = array_api_compat.array_namespace(array)
    limit = xp.finfo(array.dtype).max / (4 * max(1, array.shape[-1]))
    if math.prod(array.shape) and not (xp.max(array) < limit and xp.min(array) > -limit):
        raise ValueError(
            f"The {what} overflow {array.dtype}: coefficients and features are too large together. "
            "Scale the features, or use float64."
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
    labels = np.arange(n_classes) if classes is None else _label_array(classes).copy()
    if labels.shape != (n_classes,):
        raise ValueError(f"classes must hold {n_classes} labels; got shape {labels.shape}.")
    if any(label != label for label in labels.tolist()):
        raise ValueError(f"classes must not hold NaN; got [{listed(labels.tolist())}].")
    if len(set(labels.tolist())) != n_classes:
        raise ValueError(f"classes must be distinct; got [{listed(labels.tolist())}].")
    labels.flags.writeable = False
    return labels


def _label_array(classes: Any) -> NDArray[Any]:
    if array_api_compat.is_array_api_obj(classes):
        return to_numpy(classes)
    if is_one_label(classes):
        raise ValueError(f"classes must be a sequence of labels; got {classes!r}.")
    labels = [_plain(label) for label in classes]
    # NumPy would turn a mix of numbers and strings into strings, and tuples into a second axis.
    if len({type(label) for label in labels}) == 1 and not isinstance(labels[0], tuple):
        array = np.asarray(labels)
        if array.tolist() == labels:  # not so for integers past 64 bits
            return array
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def component_names(names: Iterable[Any] | None, n_components: int) -> tuple[str, ...]:
    """Return G distinct names; x0..x{G−1} when none are given."""
    if names is None:
        return tuple(f"x{g}" for g in range(n_components))
    if is_one_label(names):
        raise ValueError(f"names must be a sequence of names; got {names!r}.")
    result = tuple(str(name) for name in names)
    if len(result) != n_components:
        raise ValueError(f"names must hold {n_components} names; got {len(result)}.")
    if len(set(result)) != len(result):
        twice = sorted({name for name in result if result.count(name) > 1})
        raise ValueError(f"names must be distinct; given more than once: {twice}.")
    return result


def numbered(names: Sequence[str]) -> list[str]:
    """Tell equal names apart by a number behind each of them."""
    counts = Counter(names)
    taken = {name for name in names if counts[name] == 1}
    used: Counter[str] = Counter()
    result = []
    for name in names:
        own = name
        while counts[name] > 1 and (own == name or own in taken):
            used[name] += 1
            own = f"{name} ({used[name]})"
        taken.add(own)
        result.append(own)
    return result


def is_one_label(value: Any) -> bool:
    """Say whether ``value`` is a label by itself rather than a collection of labels."""
    return isinstance(value, str | bytes) or not isinstance(value, Iterable)


def positions_of(subset: Label | Iterable[Label], classes: NDArray[Any]) -> list[int]:
    """Return the sorted positions of the labels in ``subset``, each once."""
    known = {label: k for k, label in enumerate(classes.tolist())}
    if array_api_compat.is_array_api_obj(subset):
        subset = to_numpy(subset).tolist()
    single = is_one_label(subset) or (_hashable(subset) and subset in known)
    labels = [_plain(label) for label in ([subset] if single else cast("Iterable[Any]", subset))]
    unknown = [label for label in labels if not (_hashable(label) and label in known)]
    if not unknown and _is_mask(labels, known):
        unknown = labels  # a boolean mask would read as the labels 0 and 1
    if unknown:
        raise ValueError(
            f"Unknown class label(s) [{listed(unknown)}]; the classes are [{listed(known)}]."
        )
    return sorted({known[label] for label in labels})


def label_positions(y: Any, classes: NDArray[Any], n: int) -> NDArray[np.intp]:
    """Return the position among the classes of each of n rows' true class."""
    values = to_numpy(y)
    if values.shape != (n,):
        raise ValueError(f"y must hold one label for each of {n} rows; got shape {values.shape}.")
    known = {label: k for k, label in enumerate(classes.tolist())}
    unknown = [value for value in values.tolist() if value not in known]
    if unknown:
        raise ValueError(
            f"y holds {unknown[0]!r}, which is not among the classes [{listed(known)}]."
        )
    return np.array([known[value] for value in values.tolist()], dtype=np.intp)


def _plain(label: Any) -> Any:
    """Take a NumPy scalar out of its type, as ``tolist`` does for the classes."""
    return label.item() if isinstance(label, np.generic) else label


def _hashable(value: Any) -> bool:
    return isinstance(value, Hashable) and not (
        isinstance(value, tuple) and not all(map(_hashable, value))
    )


def _is_mask(labels: list[Any], known: dict[Any, int]) -> bool:
    has_bool_classes = any(isinstance(label, bool) for label in known)
    return not has_bool_classes and any(isinstance(label, bool) for label in labels)


def row_weights(
    sample_weight: Any, n: int, *, allow_all_zero: bool = False
) -> NDArray[np.float64] | None:
    """Return one weight ≥ 0 for each of n rows, or None for equal weights.

    A single number counts for every row. Unless ``allow_all_zero``, some weight must be positive.
    """
    if sample_weight is None:
        return None
    given = to_numpy(float_array(sample_weight, "sample_weight", ndim=(0, 1))).astype(np.float64)
    weight = np.broadcast_to(given, (n,)) if given.ndim == 0 else given
    if weight.shape != (n,):
        raise ValueError(
            f"sample_weight must have one weight for each of the {n} rows; got {weight.shape[0]}."
        )
    if n and (weight.min() < 0 or (weight.max() == 0 and not allow_all_zero)):
        raise ValueError(
            "sample_weight must be nonnegative and not all zero; "
            f"got values from {weight.min()} to {weight.max()}."
        )
    return weight
