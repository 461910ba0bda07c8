"""NaN in the user's X: where it is, and the error for models that cannot take it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse

from shafer._typing import Array, BoolArray
from shafer._validation import frame_of, to_numpy


def refuse_nan(values: Any, reader: str, names: Sequence[str] | None) -> None:
    """Raise an error that names the column of the first NaN, if there is one."""
    data = values.data if sparse.issparse(values) else values
    if array_api_compat.is_array_api_obj(data) and _sum_is_finite(data):
        return  # one pass, nothing allocated; the rest is for finding the place
    if sparse.issparse(values):
        held = sparse.coo_array(values)
        bad = np.isnan(held.data) if held.dtype.kind == "f" else np.zeros(0, dtype=bool)
        where = [(int(held.row[i]), int(held.col[i])) for i in np.flatnonzero(bad)[:1]]
    else:
        where = _first_nan(values)
    if not where:
        return
    row, column = where[0]
    name = repr(str(names[column])) if names is not None else column
    raise ValueError(
        f"X contains NaN, the first in row {row}, column {name}; {reader} cannot take NaN. Impute "
        "it, best in a pipeline in front of the model. For a linear model, "
        "Explainer(..., missing='conditional') is another way."
    )


def gaps_in(X: Any) -> BoolArray:
    """Return where X, an array or a data frame of shape (n, J), holds NaN or no value."""
    frame = frame_of(X)
    if frame is None:
        values = to_numpy(X)
        return values != values if values.dtype.kind in "fO" else np.zeros(values.shape, dtype=bool)
    columns = list(frame.iter_columns())
    found = [np.asarray(column.is_null().to_numpy()).astype(bool) for column in columns]
    for j, column in enumerate(columns):
        if column.dtype.is_float():  # only some libraries count NaN as null
            found[j] = found[j] | column.is_nan().fill_null(False).to_numpy().astype(bool)
    return np.stack(found, axis=1)


def _sum_is_finite(values: Array) -> bool:
    xp = array_api_compat.array_namespace(values)
    if not xp.isdtype(values.dtype, "real floating"):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(xp.isfinite(xp.sum(values)))


def _first_nan(values: Any) -> list[tuple[int, int]]:
    if not array_api_compat.is_array_api_obj(values) or values.ndim != 2:
        return []
    xp = array_api_compat.array_namespace(values)
    if not xp.isdtype(values.dtype, "real floating") or not bool(xp.any(xp.isnan(values))):
        return []
    row, column = np.argwhere(np.isnan(to_numpy(values)))[0]
    return [(int(row), int(column))]
