"""Losses with labels: data frames and mappings, read by class label and never by position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from shafer._text import listed
from shafer._typing import FloatArray, Label
from shafer._validation import float_array, labelled, order_by_label, to_numpy

ACT_COLUMN = "act"
"""The column of a data frame that names the acts."""


class LossTable(NamedTuple):
    """Names of the acts, and their losses (acts, K) in the order of the classes."""

    names: tuple[Label, ...]
    loss: FloatArray


def table_of_frame(value: Any, classes: NDArray[Any], name: str) -> LossTable | None:
    """Read a data frame of any library by its column labels; None for anything else."""
    try:
        frame = nw.from_native(value, pass_through=True, eager_only=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"{name} must have each class once: {error}") from error
    if not isinstance(frame, nw.DataFrame):
        return None
    labels = list(frame.columns)
    if len(frame) == 0:
        raise ValueError(f"{name} must have a row for at least one act; got an empty data frame.")
    acts: list[Label] = list(range(len(frame)))
    if ACT_COLUMN in labels and ACT_COLUMN not in classes.tolist():
        position = labels.index(ACT_COLUMN)
        labels.pop(position)
        acts = frame[:, position].to_list()
        frame = frame[:, [k for k in range(frame.shape[1]) if k != position]]
    elif frame.implementation.is_pandas_like():
        acts = value.index.tolist()
    if len(set(acts)) < len(acts):
        raise ValueError(f"{name} must name each act once; got acts {listed(acts)}.")
    table = to_numpy(float_array(frame.to_native(), name, ndim=(2,)))
    return LossTable(tuple(acts), table[:, positions_of_classes(labels, classes, name)])


def rows_by_act(value: Mapping[Label, Any], classes: NDArray[Any], name: str) -> LossTable:
    """Read a mapping of act names to one number for each class."""
    if not value:
        raise ValueError(f"{name} must name at least one act; got an empty mapping.")
    rows = [_row(row, classes, f"{name}[{act!r}]") for act, row in value.items()]
    return LossTable(tuple(value), np.array(rows))


def _row(row: Any, classes: NDArray[Any], name: str) -> FloatArray:
    """Read the numbers of one act, by label where there are labels."""
    row = labelled(row, classes.tolist())
    if isinstance(row, Mapping):
        numbers = to_numpy(float_array(list(row.values()), name, ndim=(1,)))
        return numbers[positions_of_classes(list(row), classes, name)]
    numbers = to_numpy(float_array(row, name, ndim=(1,)))
    if len(numbers) != len(classes):
        raise ValueError(
            f"{name} must hold one number for each of the {len(classes)} classes "
            f"[{listed(classes.tolist())}]; got {len(numbers)}."
        )
    return numbers


def positions_of_classes(
    labels: Sequence[Label], classes: NDArray[Any], name: str
) -> NDArray[np.intp]:
    """Return the position of each class among the labels of a loss."""
    known = classes.tolist()
    if len(set(labels)) < len(labels):
        raise ValueError(f"{name} must have each class once; got labels [{listed(labels)}].")
    order = order_by_label(labels, known)
    if order is None:
        raise ValueError(_wrong_labels(labels, known, name))
    return np.array(order, dtype=np.intp)


def _wrong_labels(labels: Sequence[Label], known: list[Label], name: str) -> str:
    unknown = [label for label in labels if label not in known]
    missing = [label for label in known if label not in labels]
    parts = []
    if unknown:
        parts.append(f"unknown labels [{listed(unknown)}]")
    if missing:
        parts.append(f"no value for [{listed(missing)}]")
    return (
        f"{name} must have one value for each class, by label; got {' and '.join(parts)}. "
        f"The classes are [{listed(known)}]."
    )
