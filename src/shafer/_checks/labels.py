"""Class labels: which labels are the same, and the position of each among the classes.

Labels are compared by value. 0 and 0.0 are the same label, and so are NumPy's and Python's scalars.
A boolean is a label only where the classes are booleans themselves: otherwise ``True`` in a list of
labels is more likely part of a mask than the class 1. For boolean classes 0 and 1 mean False and
True. A string is never a number.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import array_api_compat
import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import float_array, to_numpy
from shafer._checks.frames import frame_of
from shafer._text import listed
from shafer._typing import Label

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

    ``y`` is read row by row; ``in_row_order`` compares its index with that of the rows. ``n`` is
    the number of rows that it must have; None allows any number.
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


# Tables with one column for each class, given as arrays or as data frames.


def class_columns(table: Any, labels: Any, name: str) -> tuple[Any, Any]:
    """Return a table whose columns follow ``labels``, and the labels of its columns.

    The columns of a data frame are read by their names, whatever their order; without ``labels``
    the names are the labels. The columns of an array, and of a frame whose columns are only
    numbered, follow the order of ``labels``.

    Returns
    -------
    table : array
        Arrays come back as they were given.
    labels : sequence of labels or None
        None if neither the caller nor the table names the columns.
    """
    try:
        frame = nw.from_native(table, pass_through=True, eager_only=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(
            f"{name} has several columns with the same name. Rename them. ({error})"
        ) from error
    if not isinstance(frame, nw.DataFrame):
        return table, labels
    columns: list[Any] = list(frame.columns)
    if columns in _without_names(len(columns)):
        _refuse_other_numbers(columns, labels, name)
        return frame.to_numpy(), labels
    if labels is None:
        return frame.to_numpy(), columns
    return frame.to_numpy()[:, _order_of(labels, columns, name)], labels


def _without_names(n: int) -> tuple[list[Any], ...]:
    """Return the names that pandas and polars give to columns without names."""
    return list(range(n)), [f"column_{k}" for k in range(n)]


def _refuse_other_numbers(columns: list[int], labels: Any, name: str) -> None:
    """Refuse labels that are the numbers of the columns in another order: either may be meant."""
    if labels is None or is_one_label(labels):
        return
    given = list(labels)
    if given != columns and len(given) == len(columns) and set(given) == set(columns):
        raise ValueError(
            f"The columns of {name} are numbered {columns}, but labels={given}. So it is not "
            f"clear which column belongs to which class. Pass {name} as an array in the order of "
            "labels."
        )


def _order_of(labels: Any, columns: list[Any], name: str) -> list[int]:
    """Return the position of the column of each label."""
    classes = class_labels(labels, len(columns)).tolist()
    order = order_by_label(columns, classes)
    if order is None:
        raise ValueError(
            f"{name} must have one column for each class; its columns are [{listed(columns)}] and "
            f"the classes are [{listed(classes)}]. Name the columns by the classes, or pass an "
            "array in the order of the classes."
        )
    return order


def order_by_label(names: Sequence[Any], classes: Sequence[Any]) -> list[int] | None:
    """Return the position of each class among the names, or None if they do not match one to one.

    Names are matched exactly. If that fails, they are matched as text, as a frame from a CSV file
    needs it, provided that no two of them read the same.
    """
    as_text = [str(name) for name in names], [str(label) for label in classes]
    for named, wanted in ((names, classes), as_text):
        position = {name: k for k, name in enumerate(named)}
        distinct = len(position) == len(named) and len(set(wanted)) == len(wanted)
        if distinct and set(position) == set(wanted):
            return [position[label] for label in wanted]
    return None


# True classes: the column that each row's label belongs to.


class TrueClasses(NamedTuple):
    """The column of each row's true class, and the label of each column."""

    positions: NDArray[np.intp]  # (n,), 0..K−1
    classes: NDArray[Any]  # (K,)


def true_classes(
    y: Any,
    classes: Any,
    n_classes: int,
    *,
    n: int | None = None,
    name: str = "y",
    option: str = "classes",
) -> TrueClasses:
    """Return the column of each true class, and the labels of the K columns.

    Bare arrays carry no class names, so the caller must give the classes. There is one exception:
    if ``y`` holds the numbers 0 to K−1, every one of them, then these are the labels. Anything
    else could be taken for the position of another class.

    Parameters
    ----------
    y : array of shape (n,)
        Class labels.
    classes : sequence of K labels, or None
    n_classes : int
    n : int, optional
        The number of rows that ``y`` must have.
    name, option : str
        What errors call ``y`` and ``classes``.
    """
    if classes is not None:
        labels = column_labels(classes, n_classes, option)
    elif n == 0:
        labels = np.arange(n_classes)
    else:
        labels = _complete_numbers(label_array(y, name), n_classes, name, option)
    return TrueClasses(label_positions(y, labels, n, name), labels)


def column_labels(classes: Any, n_classes: int, option: str = "classes") -> NDArray[Any]:
    """Return the labels of K columns."""
    try:
        return class_labels(classes, n_classes)
    except ValueError as error:
        raise ValueError(f"{option} must name the {n_classes} columns in order: {error}") from error


def _complete_numbers(y: NDArray[Any], n_classes: int, name: str, option: str) -> NDArray[Any]:
    found = list(dict.fromkeys(y.ravel().tolist()))
    if any(isinstance(label, bool) for label in found) or set(found) != set(range(n_classes)):
        raise ValueError(
            f"{name} holds the labels [{listed(_sorted(found))}], and it is not known which of the "
            f"{n_classes} columns belongs to which label. Pass {option}=, the classes in the order "
            f"of the columns, such as clf.classes_ or ev.classes. You may leave out {option}= only "
            f"if {name} contains each of the numbers 0 to {n_classes - 1} and nothing else."
        )
    return np.arange(n_classes)


def _sorted(labels: list[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:  # labels of several types
        return labels


# Labels of groups of rows: which groups there are, and the group of each row.


def group_labels(groups: NDArray[Any]) -> list[Any]:
    """Return the distinct groups, sorted where they can be."""
    found = list(dict.fromkeys(groups.tolist()))
    try:
        return sorted(found)
    except TypeError:  # labels of several types
        return found


def group_positions(groups: NDArray[Any], known: tuple[Any, ...]) -> NDArray[np.intp]:
    """Return the position of each row's group among the known ones, −1 for an unknown one."""
    place = {label: k for k, label in enumerate(known)}
    return np.array([place.get(label, -1) for label in groups.tolist()], dtype=np.intp)


# Names of components.


def component_names(names: Iterable[Any] | None, n_components: int) -> tuple[str, ...]:
    """Return G distinct names; x0..x{G−1} when ``names`` is None."""
    if names is None:
        return tuple(f"x{g}" for g in range(n_components))
    if is_one_label(names):
        raise ValueError(f"names must be a sequence of names; got {names!r}.")
    result = tuple(str(name) for name in names)
    if len(result) != n_components:
        raise ValueError(f"names must hold {n_components} names; got {len(result)}.")
    if len(set(result)) != len(result):
        twice = sorted(name for name, count in Counter(result).items() if count > 1)
        raise ValueError(f"names must be distinct; given more than once: [{listed(twice)}].")
    return result


# Values with labels, such as a prior by class or a reliability by source.


def labelled(values: Any, known: Collection[Any]) -> Any:
    """Return a pandas Series or the columns of a data frame as a mapping from their labels.

    They are read by label, never by position. Numbers 0, 1, ... that are not among the ``known``
    labels are only positions: such values come back as they are, as anything else does.
    """
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(values, pandas.Series):
        labels = values.index.tolist()
        if _are_positions(labels, known):
            return values
        if not values.index.is_unique:
            raise ValueError(f"The labels of a Series must differ; got {labels}. Name each once.")
        return dict(zip(labels, values.tolist(), strict=True))
    frame = frame_of(values)
    if frame is None or _are_positions([_number(name) for name in frame.columns], known):
        return values
    return {name: frame[name].to_numpy() for name in frame.columns}


def _are_positions(labels: list[Any], known: Collection[Any]) -> bool:
    numbers = list(range(len(labels)))
    return labels == numbers and not any(number in known for number in numbers)


def _number(name: str) -> int | str:
    return int(name) if name.isdecimal() else name


# Class priors, by label or in the order of the classes.


def log_prior(prior: Any, classes: list[Any]) -> NDArray[np.float64]:
    """Return the logarithms of a prior, centred over the classes, (K,)."""
    prior = labelled(prior, classes)
    if isinstance(prior, Mapping):
        missing = [label for label in classes if label not in prior]
        if missing:
            raise ValueError(f"prior must have a probability for every class; none for {missing}.")
        unknown = [label for label in prior if label not in classes]
        if unknown:
            raise ValueError(f"prior has unknown classes {unknown}; the classes are {classes}.")
        prior = [prior[label] for label in classes]
    values = to_numpy(float_array(prior, "prior", ndim=(1,))).astype(np.float64)
    if values.shape != (len(classes),):
        raise ValueError(
            f"prior must have one probability for each of the {len(classes)} classes; got shape "
            f"{values.shape}."
        )
    if not (values > 0).all():
        raise ValueError(
            f"prior must be above 0 for every class; got {values.min()}. A class with a prior of 0 "
            "cannot be chosen with any evidence. Give it a small positive number."
        )
    logs = np.log(values)
    centred: NDArray[np.float64] = logs - logs.mean()
    return centred
