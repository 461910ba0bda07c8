"""Checks of the user's X: that it holds rows, and the columns that the model was trained on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils.validation import validate_data

from shafer._text import listed
from shafer._typing import Array
from shafer._validation import frame_columns
from shafer.models.inputs.nan_checks import refuse_nan
from shafer.models.inputs.row_access import by_position, is_several_inputs, values_of
from shafer.models.inputs.table_errors import refuse_dates


def check_rows(X: Any, name: str) -> None:
    """Refuse values that no model takes as its rows."""
    if X is None:
        raise ValueError(
            f"{name} must hold rows, as the model takes them: an array, a data frame or a sparse "
            "matrix; got None."
        )
    if isinstance(X, Iterator):
        raise ValueError(
            f"{name} must hold rows, as the model takes them; got {type(X).__name__}. For the "
            "evidence of batches use explainer.stream(batches)."
        )
    if getattr(getattr(X, "dtype", None), "names", None):
        raise ValueError(
            f"{name} is a structured array with the fields {listed(X.dtype.names)}; a model takes "
            "one number format for all columns. Pass pandas.DataFrame(X)."
        )
    if nw.dependencies.is_polars_lazyframe(X):
        raise ValueError(f"{name} is a LazyFrame, which holds no rows yet. Pass {name}.collect().")
    if isinstance(X, str | bytes):
        raise ValueError(
            f"{name} must hold rows, as the model takes them; got the string {X!r}. If it is the "
            "name of a file, read the file first. If it is a text, pass a list with one text."
        )
    if isinstance(X, list) and _is_no_list_of_rows([getattr(part, "shape", ()) for part in X[:2]]):
        shapes = ", ".join(str(tuple(getattr(part, "shape", ()))) for part in X[:4])
        raise ValueError(
            f"{name} is a list of {len(X)} {type(X[0]).__name__}s, of shape {shapes}"
            f"{', …' if len(X) > 4 else ''}; these are not rows. If they are batches, concatenate "
            "them, or pass iter([...]) as background and use explainer.stream([...]) for evidence. "
            "If they are the inputs of a torch module, pass a tuple. If each is one row, pass "
            "np.stack([...])."
        )


def _is_no_list_of_rows(shapes: list[Any]) -> bool:
    ranks = {len(shape) for shape in shapes}
    return 2 in ranks or len(ranks) > 1


def check_single(X: Any, reader: str) -> None:
    """Refuse a tuple of several inputs for a model that takes one table."""
    if is_several_inputs(X):
        raise ValueError(
            f"{reader} takes one table; background is a tuple of {len(X)}, the first of shape "
            f"{tuple(X[0].shape)}. Concatenate them, or pass an iterator of batches, iter([...])."
        )


def check_table(X: Any, n_columns: int, reader: str) -> None:
    """Refuse a table of another shape or with dates, for libraries with unclear errors of these."""
    _refuse_mapping(X, reader)
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    if len(shape) != 2 or shape[0] == 0 or shape[1] != n_columns:
        raise ValueError(
            f"X must have at least one row, and {n_columns} columns as {reader} was trained on; "
            f"got shape {tuple(shape)}."
        )
    refuse_dates(X, reader)


def _refuse_mapping(X: Any, reader: str) -> None:
    if isinstance(X, Mapping) and not hasattr(X, "shape"):
        raise ValueError(
            f"X must be a table, as {reader} takes it; got {type(X).__name__}. "
            "Convert it to a data frame or a 2-D array; a single row is a table of one row."
        )


def check_columns(columns: tuple[str, ...] | None, X: Any) -> None:
    """Refuse a data frame whose columns are not those of the background, in their order."""
    given = frame_columns(X)
    if columns is not None and given is not None and given != columns:
        raise ValueError(
            f"X must have the columns of the background, [{listed(columns)}], in that order; "
            f"got [{listed(given)}]."
        )


def features_of_head(
    columns: tuple[str, ...] | None, n_columns: int | None, X: Any, *, gaps: bool = False
) -> Any:
    """Return the features of a linear head: the columns of the background, without NaN.

    With ``gaps`` NaN is accepted.
    """
    check_columns(columns, X)
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if n_columns is not None and len(shape) == 2 and shape[1] != n_columns:
        raise ValueError(
            f"X must have {n_columns} columns, one for each coefficient; got shape {tuple(shape)}."
        )
    refuse_dates(X, "a linear head")
    values = values_of(X)
    if not gaps:
        refuse_nan(values, "a linear head", frame_columns(X))
    return values


def checked(model: Any, X: Any, **options: Any) -> Array:
    """Return X after the checks of a fitted scikit-learn model, with clearer errors.

    ``options`` go to scikit-learn's ``validate_data``.
    """
    options = {"dtype": [np.float64, np.float32], "reset": False, **options}
    reader = type(model).__name__
    _refuse_mapping(X, reader)
    if isinstance(X, np.ndarray):  # scikit-learn would read dates as a count of seconds or days
        refuse_dates(X, reader)
    try:
        return validate_data(model, by_position(X), **options)
    except ValueError:
        if options.get("ensure_all_finite") == "allow-nan":  # NaN was not the reason
            raise
        values = validate_data(model, by_position(X), ensure_all_finite="allow-nan", **options)
        names = frame_columns(X) or getattr(model, "feature_names_in_", None)
        refuse_nan(values, reader, names)
        raise
