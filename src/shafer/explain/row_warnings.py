"""What to know about a row before its answer is used: gaps, unknown values, unusual rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from shafer._checks.arrays import to_numpy
from shafer._checks.frames import frame_columns, frame_of, pandas_columns
from shafer._text import listed
from shafer._typing import Array, BoolArray
from shafer._values import shown_value
from shafer.rows.checks import gaps_in
from shafer.rows.schema import InputSchema

ATYPICAL = 0.01
"""Rows below this typicality are called unlike the training data."""
UNSEEN = "a category that training did not have"


def row_warnings(
    X: Any,
    columns: Sequence[str] | None,
    schema: InputSchema | None,
    unseen: BoolArray,
    typicality: Array | None,
) -> list[list[str]]:
    """Return sentences about each row, mostly none.

    Parameters
    ----------
    X : as the model takes it
        The n rows. A frame may have further columns.
    columns : sequence of strings, optional
        The columns of the model, if it knows them.
    schema : InputSchema, optional
        What they held in training.
    unseen : boolean array of shape (n,)
        Rows with a category that a one-hot encoder ignored.
    typicality : array of shape (n,), optional
    """
    found: list[list[str]] = [[] for _ in range(len(unseen))]
    given = frame_columns(X)
    names = given if given is not None else tuple(columns or ())
    known = set(columns or names)
    for row, lost in _gaps(X):
        shown = [names[j] if names else f"x{j}" for j in lost if not names or names[j] in known]
        found[row] += [f"missing: {listed(shown, written=str)}"] if shown else []
    if schema is not None and columns is not None and given is not None:
        for row, name, value in _unknown(X, columns, schema):
            found[row].append(f"{name} = {shown_value(value)} is {UNSEEN}")
    for row in np.flatnonzero(unseen).tolist():
        if not any(text.endswith(UNSEEN) for text in found[row]):
            found[row].append(UNSEEN)
    if typicality is not None:
        values = to_numpy(typicality)
        for row in np.flatnonzero(values < ATYPICAL).tolist():
            found[row].append(f"unlike the training data: its typicality is {values[row]:.3g}")
    return found


def _gaps(X: Any) -> Iterator[tuple[int, list[int]]]:
    """Give the rows with missing inputs, and their positions; of a frame or an array."""
    if pandas_columns(X) is not None:
        numbers = {kind.kind for kind in X.dtypes} <= set("iufb")
        values = X.to_numpy() if numbers else X.isna().to_numpy()
        bad = gaps_in(values) if numbers else values
    elif frame_of(X) is not None or (isinstance(X, np.ndarray) and X.ndim == 2):
        bad = gaps_in(X)
    else:
        return
    for row in np.flatnonzero(bad.any(axis=1)).tolist():
        yield row, np.flatnonzero(bad[row]).tolist()


def _unknown(X: Any, columns: Sequence[str], schema: InputSchema) -> Iterator[tuple[int, str, Any]]:
    """Give rows, columns and values that a column of categories did not have in training."""
    if "category" not in schema.kinds:
        return
    own = pandas_columns(X) is not None
    frame = None if own else frame_of(X)
    for name, column in zip(columns, schema.columns, strict=False):
        if column.kind != "category":
            continue
        if frame is not None and name in frame.columns:
            yield from ((row, name, value) for row, value in column.unknown(frame[name].to_list()))
        elif own and name in X.columns and not column.takes((values := X[name]).dtype):
            yield from ((row, name, value) for row, value in column.unknown(values.tolist()))
