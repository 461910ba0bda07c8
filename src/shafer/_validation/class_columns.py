"""Tables with one column for each class, given as arrays or as data frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw

from shafer._text import listed
from shafer._validation.class_labels import class_labels, is_one_label


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
