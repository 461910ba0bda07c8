"""``labels_in_both``: the labels of two vectors of classes."""

from __future__ import annotations

from numbers import Number
from typing import Any

from numpy.typing import NDArray

from shafer._validation import is_missing, label_array


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
