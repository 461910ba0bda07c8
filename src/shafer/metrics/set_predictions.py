"""What comes in at the door of every metric: true classes, decided sets, weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shafer._text import listed
from shafer._typing import BoolArray, FloatArray
from shafer._validation import class_labels, row_weights, to_numpy


class Truth(NamedTuple):
    """The true class of each row as a column, and what the columns are called."""

    positions: NDArray[np.intp]  # (n,), 0..K−1
    classes: NDArray[Any]  # (K,)


class SetPredictions(NamedTuple):
    """Decided sets with the true classes and the weights of the rows."""

    truth: NDArray[np.intp]  # (n,), 0..K−1
    classes: NDArray[Any]  # (K,)
    chosen: BoolArray  # (n, K)
    weight: FloatArray  # (n,), the largest is 1

    @property
    def hit(self) -> BoolArray:
        """Say where the set holds the true class, (n,)."""
        held: BoolArray = np.take_along_axis(self.chosen, self.truth[:, None], axis=1)[:, 0]
        return held

    @property
    def size(self) -> NDArray[np.intp]:
        """Return the number of classes in each set, (n,)."""
        return np.asarray(np.count_nonzero(self.chosen, axis=1))


def set_predictions(y_true: Any, y_set: Any, labels: Any, sample_weight: Any) -> SetPredictions:
    """Check sets, true classes and weights together."""
    chosen = set_array(y_set)
    truth = true_classes(y_true, chosen.shape[1], labels)
    same_length({"y_true": truth.positions, "y_set": chosen})
    return SetPredictions(*truth, chosen, relative_weights(sample_weight, len(chosen)))


def set_array(y_set: Any, name: str = "y_set") -> BoolArray:
    """Return sets as booleans (n, K); zeros and ones will do."""
    if isinstance(y_set, np.ma.MaskedArray):
        raise ValueError(f"{name} must not be a masked array; fill it first, with .filled(False).")
    array = to_numpy(y_set)
    if array.ndim != 2:
        raise ValueError(
            f"{name} must be boolean of shape (n, K), one column for each class, as predict_set "
            f"and decide return; got shape {array.shape}."
        )
    if array.shape[0] == 0:
        raise ValueError(f"{name} must have at least one row; got shape {array.shape}.")
    if array.shape[1] < 2:
        raise ValueError(f"{name} must have at least two classes; got shape {array.shape}.")
    if array.dtype != bool:
        array = _zeros_and_ones(array, name)
    return array


def _zeros_and_ones(array: NDArray[Any], name: str) -> BoolArray:
    numbers = array.dtype.kind in "iuf" or (array.dtype == object and _are_numbers(array))
    wrong = array != (array == 1) if numbers else np.ones(array.shape, dtype=bool)
    if np.any(wrong):
        value = array[tuple(np.argwhere(wrong)[0])]
        raise ValueError(
            f"{name} must hold booleans, or zeros and ones; got {value!r} in an array of "
            f"{array.dtype}. Scores become sets by a rule or a threshold, such as y_score >= 0.1."
        )
    return np.asarray(array == 1, dtype=bool)


def _are_numbers(array: NDArray[Any]) -> bool:
    return all(isinstance(value, int | float | np.number | np.bool_) for value in array.flat)


def true_classes(y_true: Any, n_classes: int, labels: Any) -> Truth:
    """Return the column of each true class, and the classes in the order of the columns.

    With ``labels`` given, y_true holds some of them. Otherwise numbers are positions 0..K−1, and
    anything else must show each of the K classes at least once, for its sorted values to be them.
    """
    array = label_vector(y_true, "y_true")
    if labels is not None:
        return _looked_up(array, _columns(labels, n_classes))
    if array.dtype.kind in "biuf" or (array.dtype == object and _are_numbers(array)):
        return Truth(_as_positions(array, n_classes), np.arange(n_classes))
    found = _distinct(array)
    if len(found) != n_classes:
        raise ValueError(
            f"y_true holds {len(found)} class(es), [{listed(found)}], where there are {n_classes} "
            "columns. Pass labels, the classes in the order of the columns, such as clf.classes_."
        )
    return _looked_up(array, _columns(found, n_classes))


def _columns(labels: Any, n_classes: int) -> NDArray[Any]:
    try:
        return class_labels(labels, n_classes)
    except ValueError as error:
        raise ValueError(f"labels must name the {n_classes} columns in order: {error}") from error


def label_vector(value: Any, name: str) -> NDArray[Any]:
    """Return labels as an array of one dimension."""
    array = to_numpy(value)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension; got shape {array.shape}.")
    return array


def _as_positions(array: NDArray[Any], n_classes: int) -> NDArray[np.intp]:
    wrong = [v for v in np.unique(array).tolist() if v not in range(n_classes)]
    if wrong:
        raise ValueError(
            f"Numbers in y_true are positions of columns, 0 to {n_classes - 1}; got "
            f"[{listed(wrong)}]. If they are labels, pass labels, the classes in the order of the "
            "columns, such as clf.classes_."
        )
    return array.astype(np.intp)


def _distinct(array: NDArray[Any]) -> list[Any]:
    try:
        return sorted(set(array.tolist()))
    except TypeError as error:  # None, or labels of several types
        raise ValueError(
            f"y_true must hold labels that can be sorted, none missing, unless labels is passed; "
            f"got [{listed(list(dict.fromkeys(map(str, array.tolist()))))}]."
        ) from error


def _looked_up(array: NDArray[Any], classes: NDArray[Any]) -> Truth:
    column = {label: k for k, label in enumerate(classes.tolist())}
    positions = np.array([column.get(label, -1) for label in array.tolist()], dtype=np.intp)
    if np.any(positions < 0):
        unknown = list(dict.fromkeys(array[positions < 0].tolist()))
        raise ValueError(
            f"Unknown class label(s) [{listed(unknown)}] in y_true; the classes are "
            f"[{listed(classes.tolist())}]."
        )
    return Truth(positions, classes)


def relative_weights(sample_weight: Any, n: int) -> FloatArray:
    """Return the weight of each row, the largest 1: sums neither overflow nor vanish."""
    weight = row_weights(sample_weight, n)
    return np.ones(n) if weight is None else np.asarray(weight / weight.max())


def same_length(arrays: dict[str, NDArray[Any]]) -> None:
    """Refuse arrays of different numbers of rows."""
    if len({len(array) for array in arrays.values()}) > 1:
        given = ", ".join(f"{name}: {len(array)}" for name, array in arrays.items())
        raise ValueError(f"All arrays must have the same number of rows; got {given}.")


def weighted_mean(values: NDArray[Any], weight: FloatArray) -> float:
    """Return the mean over rows."""
    return float(np.average(values, weights=weight))
