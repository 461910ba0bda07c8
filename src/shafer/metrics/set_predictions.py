"""Arguments that all metrics share: true classes, prediction sets, sample weights."""

from __future__ import annotations

from numbers import Number
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import float_array, row_weights, to_numpy
from shafer._checks.frames import in_row_order
from shafer._checks.labels import TrueClasses, class_columns, is_missing, label_array, true_classes
from shafer._typing import BoolArray, FloatArray


class SetPredictions(NamedTuple):
    """Prediction sets with the true classes and the weights of the rows."""

    truth: NDArray[np.intp]  # (n,), 0..K−1
    classes: NDArray[Any]  # (K,)
    chosen: BoolArray  # (n, K)
    weight: FloatArray  # (n,), the largest is 1

    @property
    def hit(self) -> BoolArray:
        """True where the set holds the true class, (n,)."""
        held: BoolArray = np.take_along_axis(self.chosen, self.truth[:, None], axis=1)[:, 0]
        return held

    @property
    def size(self) -> NDArray[np.intp]:
        """The number of classes in each set, (n,)."""
        return np.asarray(np.count_nonzero(self.chosen, axis=1))


def set_predictions(y_true: Any, y_set: Any, labels: Any, sample_weight: Any) -> SetPredictions:
    """Return checked sets, true classes and weights."""
    y_true = in_row_order(y_true, y_set, "y_true", "y_set")
    sample_weight = in_row_order(sample_weight, y_set, "sample_weight", "y_set")
    table, labels = class_columns(y_set, labels, "y_set")
    chosen = set_array(table)
    truth = true_classes(y_true, labels, chosen.shape[1], name="y_true", option="labels")
    same_length({"y_true": truth.positions, "y_set": chosen})
    return SetPredictions(*truth, chosen, relative_weights(sample_weight, len(chosen)))


def class_scores(
    y_true: Any, scores: Any, labels: Any, name: str
) -> tuple[TrueClasses, FloatArray]:
    """Return true classes, and numbers (n, K) in the order of the classes."""
    table, labels = class_columns(scores, labels, name)
    array: FloatArray = to_numpy(float_array(table, name, ndim=(2,)))
    if array.shape[0] == 0 or array.shape[1] < 2:
        raise ValueError(
            f"{name} must have at least one row and two classes; got shape {array.shape}."
        )
    truth = true_classes(y_true, labels, array.shape[1], name="y_true", option="labels")
    same_length({"y_true": truth.positions, name: array})
    return truth, array


def set_array(y_set: Any, name: str = "y_set") -> BoolArray:
    """Return sets as booleans (n, K); zeros and ones are accepted."""
    if isinstance(y_set, np.ma.MaskedArray):
        raise ValueError(f"{name} must not be a masked array. Fill it first, with .filled(False).")
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
            f"{array.dtype}. To make sets from scores, use a decision rule or a threshold, such as "
            "y_score >= 0.1."
        )
    return np.asarray(array == 1, dtype=bool)


def _are_numbers(array: NDArray[Any]) -> bool:
    return all(isinstance(value, int | float | np.number | np.bool_) for value in array.flat)


def relative_weights(sample_weight: Any, n: int) -> FloatArray:
    """Return the weight of each row divided by the largest, so that sums do not overflow."""
    weight = row_weights(sample_weight, n)
    return np.ones(n) if weight is None else np.asarray(weight / weight.max())


def same_length(arrays: dict[str, NDArray[Any]]) -> None:
    """Refuse arrays with different numbers of rows."""
    if len({len(array) for array in arrays.values()}) > 1:
        given = ", ".join(f"{name}: {len(array)}" for name, array in arrays.items())
        raise ValueError(f"All arrays must have the same number of rows; got {given}.")


def weighted_mean(values: NDArray[Any], weight: FloatArray) -> float:
    """Return the mean over rows."""
    return float(np.average(values, weights=weight))


# The labels of two vectors of classes.


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
