"""The class labels in a table: the target column, and its labels as a model writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._text import listed

_LARGEST_WHOLE = 2.0**53  # larger whole numbers are not told apart by floats


def read_labels(frame: Any, target: str, path: Path) -> NDArray[Any]:
    """Return the target column of a pandas frame, checked to hold classes."""
    if target not in frame.columns:
        raise ValueError(
            f"{path} has no column {target!r}; it has {listed(map(str, frame.columns))}."
        )
    column = frame[target]
    missing = int(column.isna().sum())
    if missing:
        first = int(column.isna().to_numpy().argmax())
        raise ValueError(
            f"The target {target!r} has {missing} missing value(s), the first in row {first} of "
            f"{path}. Remove those rows."
        )
    values = np.asarray(column)
    if values.dtype.kind == "f":
        broken = values[(values != np.round(values)) | (np.abs(values) > _LARGEST_WHOLE)]
        if len(broken):
            raise ValueError(
                f"The target {target!r} holds numbers such as {broken[0]}, not classes. "
                "Divide the numbers into classes first, for instance with pandas.cut."
            )
        values = values.astype(np.int64)
    return values if values.dtype.kind in "iub" else values.astype(str)


def _written(label: Any) -> str:
    """Write a label as a table would; 0, 0.0 and "0" are the same class."""
    whole = isinstance(label, float) and label.is_integer()
    return str(int(label)) if whole else str(label)


def known_labels(labels: NDArray[Any], classes: NDArray[Any], target: str) -> NDArray[Any]:
    """Return the labels of a table as the model writes them; 0, 0.0 and "0" are one class."""
    places = {_written(label): k for k, label in enumerate(classes.tolist())}
    written = [_written(label) for label in labels.tolist()]
    unknown = sorted(set(written) - set(places))
    if unknown:
        raise ValueError(
            f"The target {target!r} holds {listed(unknown)}, which the model does not know; "
            f"its classes are {listed(places)}. Use the labels of the training data."
        )
    return np.asarray(classes[[places[label] for label in written]])


def label_named(text: str, classes: NDArray[Any], option: str) -> Any:
    """Return the class that a user named on the command line; "1" names 1, 1.0 and "1"."""
    places = {_written(label): k for k, label in enumerate(classes.tolist())}
    if text not in places:
        raise ValueError(
            f"{option} names {text!r}, which the model does not know; its classes are "
            f"{listed(places)}. Use one of them."
        )
    return classes.tolist()[places[text]]
