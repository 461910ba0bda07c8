"""Groups of rows: a column of the frame, or labels given beside it."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from shafer._checks.frames import frame_columns, frame_of, in_row_order
from shafer._checks.labels import (
    group_labels,
    group_positions,
    is_missing,
    is_one_label,
    label_array,
)
from shafer._text import listed
from shafer.rows.access import n_rows


class GroupedRows(NamedTuple):
    """Rows as the model takes them, the group of each, and the column the groups came from."""

    X: Any
    by: NDArray[Any] | None  # (n,)
    column: str | None


def grouped_rows(X: Any, by: Any, columns: tuple[str, ...] | None) -> GroupedRows:
    """Return the rows and their groups.

    Parameters
    ----------
    X : as the model takes it
        A frame may have the column of the groups in addition; it is then taken out.
    by : str, array of shape (n,) or None
        A column of X, or one label for each row.
    columns : tuple of strings or None
        The columns of the model, if it knows them.
    """
    if by is None:
        return GroupedRows(X, None, None)
    if not is_one_label(by):
        by = in_row_order(by, X, "by")
        return GroupedRows(X, _checked(label_array(by, "by"), n_rows(X)), None)
    known = frame_columns(X)
    if not isinstance(by, str) or known is None or by not in known:
        has = "X has no column names" if known is None else f"the columns are [{listed(known)}]"
        raise ValueError(
            f"by must be a column of X or one label for each row; got {by!r}, and {has}."
        )
    frame = frame_of(X)
    assert frame is not None
    labels = _checked(np.asarray(frame[by].to_numpy()), len(frame))
    if columns is None or by in columns:
        return GroupedRows(X, labels, by)
    rest = X.drop(columns=[by]) if hasattr(X, "iloc") else frame.drop(by).to_native()
    return GroupedRows(rest, labels, by)


class Calibrated(Protocol):
    """What a calibration knows about groups."""

    @property
    def by(self) -> tuple[Any, ...] | None:
        """The groups of the calibration rows."""

    @property
    def column(self) -> str | None:
        """The column that they came from."""


def rows_of_known_groups(
    X: Any, by: Any, calibration: Calibrated | None, columns: tuple[str, ...] | None
) -> GroupedRows:
    """Return new rows and their groups, given how the calibration rows were grouped."""
    if calibration is None or calibration.by is None:
        if by is not None:
            raise ValueError(
                "by was given, but there is no calibration by group to use it with. Leave it "
                "out, or calibrate with by= first."
            )
        return GroupedRows(X, None, None)
    column = calibration.column
    if by is None and column is None:
        raise ValueError(
            "The calibration was made by group, from labels given beside the rows. Pass by=, "
            "one label for each row."
        )
    if by is None and frame_columns(X) is None:
        raise ValueError(
            f"The calibration was made by group, from the column {column!r}, and X has no column "
            "names. Pass a data frame with this column, or by=, one label for each row."
        )
    known = frame_columns(X)
    if by is None and known is not None and column not in known:
        raise ValueError(
            f"The calibration was made by group, from the column {column!r}, which X lacks; it has "
            f"[{listed(known)}]. Add this column to X, or pass by=, one label for each row."
        )
    return grouped_rows(X, column if by is None else by, columns)


KEEPS_ALL = "Their sets hold all classes"
"""What a calibration of sets does for rows of an unknown group."""


def warn_of_unknown_groups(
    labels: NDArray[Any] | None, known: tuple[Any, ...] | None, method: str, done: str
) -> None:
    """Warn of rows in groups that no calibration row was in, with what is done for them.

    Parameters
    ----------
    labels : array of shape (n,) or None
        The group of each row.
    known : tuple of labels or None
        The groups of the calibration rows.
    method : str
        What calibrated.
    done : str
        What happens to such rows, in words.
    """
    if labels is None or known is None:
        return
    unknown = labels[group_positions(labels, known) < 0]
    if len(unknown):
        message = (
            f"{len(unknown)} of {len(labels)} rows are in group(s) that {method} was not given: "
            f"[{listed(group_labels(unknown))}]; its groups are [{listed(known)}]. {done}. "
            "Check the labels and their type, or calibrate with rows of these groups."
        )
        # From here through the method of shafer to whoever called it.
        warnings.warn(message, UserWarning, stacklevel=4)


def _checked(labels: NDArray[Any], n: int) -> NDArray[Any]:
    if labels.shape != (n,):
        raise ValueError(f"by must hold one label for each of {n} rows; got shape {labels.shape}.")
    values = labels.tolist()
    missing = sum(map(is_missing, values))
    if missing:
        raise ValueError(
            f"by must not be missing; got {missing} missing of {n}. Give these rows a group of "
            "their own, such as 'unknown'."
        )
    plain = (str, bool, int, float)
    kinds = {type(value).__name__ for value in values if not isinstance(value, plain)}
    if kinds:
        raise ValueError(
            f"by must be texts, numbers or booleans; got {listed(sorted(kinds))}. Convert them "
            "to text, such as with .astype(str)."
        )
    return labels
