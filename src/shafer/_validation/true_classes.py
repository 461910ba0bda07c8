"""True classes: the column that each row's label belongs to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shafer._text import listed
from shafer._validation.class_labels import class_labels, label_array, label_positions


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
