"""True classes: the column that each label in ``y_true`` belongs to."""

from __future__ import annotations

from numbers import Number
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shafer._text import listed
from shafer._validation import class_labels, is_missing, label_array, label_positions


class TrueClasses(NamedTuple):
    """The column of each row's true class, and the label of each column."""

    positions: NDArray[np.intp]  # (n,), 0..K−1
    classes: NDArray[Any]  # (K,)


def true_classes(y_true: Any, n_classes: int, labels: Any) -> TrueClasses:
    """Return the column of each true class, and the labels of the columns.

    Bare arrays carry no class names, so ``labels`` is required. There is one exception: if
    ``y_true`` holds the numbers 0 to K−1, every one of them, then these are the labels.
    """
    if labels is None:
        classes = _complete_numbers(label_array(y_true, "y_true"), n_classes)
    else:
        classes = column_labels(labels, n_classes)
    return TrueClasses(label_positions(y_true, classes, name="y_true"), classes)


def _complete_numbers(y_true: NDArray[Any], n_classes: int) -> NDArray[Any]:
    found = list(dict.fromkeys(y_true.ravel().tolist()))
    if any(isinstance(label, bool) for label in found) or set(found) != set(range(n_classes)):
        raise ValueError(
            f"y_true holds the labels [{listed(_sorted(found))}], and nothing names the "
            f"{n_classes} columns. Pass labels=, the classes in the order of the columns, such as "
            f"clf.classes_ or ev.classes. Only the labels 0 to {n_classes - 1}, all of them, need "
            "no labels=."
        )
    return np.arange(n_classes)


def _sorted(labels: list[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:  # labels of several types
        return labels


def column_labels(labels: Any, n_classes: int) -> NDArray[Any]:
    """Return the labels of K columns."""
    try:
        return class_labels(labels, n_classes)
    except ValueError as error:
        raise ValueError(f"labels must name the {n_classes} columns in order: {error}") from error


def labels_in_both(y_true: NDArray[Any], y_pred: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct labels of two vectors, which must hold labels of the same kind."""
    true, predicted = (list(dict.fromkeys(y.tolist())) for y in (y_true, y_pred))
    kinds = {_kind(label) for label in true}, {_kind(label) for label in predicted}
    if not kinds[0] & kinds[1]:
        raise ValueError(
            "y_true and y_pred must hold the same kind of labels; got "
            f"{' and '.join(sorted(kinds[0]))} in y_true, {' and '.join(sorted(kinds[1]))} in "
            "y_pred. Convert one of the two."
        )
    present = [label for label in dict.fromkeys(true + predicted) if not is_missing(label)]
    return label_array(present, "y_true")


def _kind(label: Any) -> str:
    if isinstance(label, bool):  # a bool is a Number, but True is not the label 1
        return "booleans"
    if isinstance(label, Number):
        return "numbers"
    return "strings" if isinstance(label, str) else type(label).__name__
