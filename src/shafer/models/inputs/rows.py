"""The user's X: its columns, its rows, and the NaN that a model cannot read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import array_api_compat
import narwhals as nw
import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from shafer._typing import Array, BoolArray
from shafer._validation import frame_columns, to_numpy


def check_rows(X: Any, name: str) -> None:
    """Refuse what no model takes as its rows, before a library says so in its own words."""
    if X is None:
        raise ValueError(
            f"{name} must hold rows, as the model takes them: an array, a data frame or a sparse "
            "matrix; got None."
        )
    if isinstance(X, Iterator):
        raise ValueError(
            f"{name} must hold rows, as the model takes them; got {type(X).__name__}. The evidence "
            "of batches comes one by one: explainer.stream(batches)."
        )
    if isinstance(X, str | bytes):
        raise ValueError(
            f"{name} must hold rows, as the model takes them; got the string {X!r}. Read a file "
            "first; one text is a list of one."
        )
    if isinstance(X, list) and _is_no_list_of_rows([getattr(part, "shape", ()) for part in X[:2]]):
        shapes = ", ".join(str(tuple(getattr(part, "shape", ()))) for part in X[:4])
        raise ValueError(
            f"{name} is a list of {len(X)} {type(X[0]).__name__}s, of shape {shapes}"
            f"{', …' if len(X) > 4 else ''}, which are no rows. Concatenate batches, or give them "
            "one by one: iter([...]) as background, explainer.stream([...]) for evidence. Several "
            "inputs of a torch module are a tuple; rows of two dimensions are np.stack([...])."
        )


def _is_no_list_of_rows(shapes: list[Any]) -> bool:
    ranks = {len(shape) for shape in shapes}
    return 2 in ranks or len(ranks) > 1


def check_single(X: Any, reader: str) -> None:
    """Refuse a tuple or mapping of several inputs where the model has one."""
    if isinstance(X, tuple) and _several(X):
        raise ValueError(
            f"{reader} takes one table; background is a tuple of {len(X)}, the first of shape "
            f"{tuple(X[0].shape)}. Concatenate them, or give an iterator of batches, iter([...])."
        )


def check_table(X: Any, n_columns: int, reader: str) -> None:
    """Refuse another shape, for libraries that notice it late or in words of their own."""
    _refuse_mapping(X, reader)
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    if len(shape) != 2 or shape[0] == 0 or shape[1] != n_columns:
        raise ValueError(
            f"X must have at least one row, and {n_columns} columns as {reader} was trained on; "
            f"got shape {tuple(shape)}."
        )


def _refuse_mapping(X: Any, reader: str) -> None:
    if isinstance(X, Mapping) and not hasattr(X, "shape"):
        raise ValueError(
            f"X must be a table, as {reader} takes it; got {type(X).__name__}. "
            "Make a data frame or an array of it, also of a single row."
        )


def check_columns(columns: tuple[str, ...] | None, X: Any) -> None:
    """Refuse a data frame whose columns are not those of the background, in their order."""
    given = frame_columns(X)
    if columns is not None and given is not None and given != columns:
        raise ValueError(
            f"X must have the columns of the background, {list(columns)}, in that order; "
            f"got {list(given)}."
        )


def by_hand(
    columns: tuple[str, ...] | None, n_columns: int | None, X: Any, *, gaps: bool = False
) -> Any:
    """Check X as the features of a linear head: the columns of the background, and no NaN.

    With ``gaps`` NaN is accepted.
    """
    check_columns(columns, X)
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if n_columns is not None and len(shape) == 2 and shape[1] != n_columns:
        raise ValueError(
            f"X must have {n_columns} columns, one for each coefficient; got shape {tuple(shape)}."
        )
    if not gaps:
        refuse_nan(values_of(X), "a linear head", frame_columns(X))
    return X


def values_of(X: Any) -> Any:
    """Take a data frame's values; leave anything else as it is."""
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    return frame.to_numpy() if isinstance(frame, nw.DataFrame) else X


def checked(model: Any, X: Any, **options: Any) -> Array:
    """Check X as a fitted scikit-learn model would, but say more of a NaN.

    ``options`` go to scikit-learn's ``validate_data``.
    """
    options = {"dtype": [np.float64, np.float32], "reset": False, **options}
    _refuse_mapping(X, type(model).__name__)
    try:
        return validate_data(model, X, **options)
    except ValueError:  # whatever it was, if it was a NaN there is more to say
        if options.get("ensure_all_finite") == "allow-nan":  # then it was no NaN
            raise
        values = validate_data(model, X, ensure_all_finite="allow-nan", **options)
        refuse_nan(values, type(model).__name__, getattr(model, "feature_names_in_", None))
        raise


def refuse_nan(values: Any, reader: str, names: Sequence[str] | None) -> None:
    """Say which column holds the first NaN, and where its treatment is chosen."""
    data = values.data if sparse.issparse(values) else values
    if array_api_compat.is_array_api_obj(data) and _sum_is_finite(data):
        return  # one pass, nothing allocated; the rest is for finding the culprit
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
        f"X contains NaN, the first in row {row}, column {name}; {reader} cannot read it "
        "(missing='error'). Impute it, best in a pipeline in front of the model, or tell the "
        "explainer of a linear model missing='conditional'."
    )


def gaps_in(X: Any) -> BoolArray:
    """Say where X, an array or a data frame of shape (n, J), holds NaN or nothing."""
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    if not isinstance(frame, nw.DataFrame):
        values = to_numpy(X)
        return values != values if values.dtype.kind in "fO" else np.zeros(values.shape, dtype=bool)
    columns = list(frame.iter_columns())  # not by name: a whole number would be a row
    found = [column.is_null().to_numpy().astype(bool) for column in columns]
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


def n_rows(X: Any) -> int:
    """Count the rows of an array, a frame, a sparse matrix, a list, or several inputs of them."""
    if hasattr(X, "shape"):  # before all else: one kind of sparse matrix is a mapping as well
        if len(X.shape) == 0:
            raise ValueError(f"X must hold rows; got a single value, {X!r}.")
        return int(X.shape[0])
    if isinstance(X, Mapping):
        return _same_length(X)
    return _same_length(dict(enumerate(X))) if _several(X) else len(_rows(X))


def _same_length(inputs: Mapping[Any, Any]) -> int:
    lengths = {name: n_rows(part) for name, part in inputs.items()}
    if len(set(lengths.values())) != 1:
        found = ", ".join(f"{length} in {name!r}" for name, length in list(lengths.items())[:8])
        raise ValueError(f"All inputs must have the same number of rows; got {found or 'none'}.")
    return next(iter(lengths.values()))


def take_rows(X: Any, rows: slice | list[int]) -> Any:
    """Take rows of the same; tuples and mappings hold one array for each input."""
    if sparse.issparse(X):
        return X.tocsr()[rows]
    if isinstance(X, Mapping):
        return {name: take_rows(part, rows) for name, part in X.items()}
    if _several(X):
        return tuple(take_rows(part, rows) for part in X)
    native = nw.from_native(X, pass_through=True, eager_only=True, allow_series=True)
    if isinstance(native, nw.DataFrame | nw.Series):
        return native[rows].to_native()
    values = _rows(X)
    if isinstance(rows, list) and isinstance(values, list | tuple):
        return [values[row] for row in rows]
    return values[rows]


def _several(X: Any) -> bool:
    """Tell a tuple of inputs, each with all rows, from a tuple of rows."""
    if not isinstance(X, tuple) or not all(hasattr(part, "shape") for part in X):
        return False
    return any(len(part.shape) > 1 or array_api_compat.is_torch_array(part) for part in X)


def _rows(X: Any) -> Any:
    """Give what can only become an array, as scikit-learn accepts, the form of one."""
    if hasattr(X, "__getitem__") and hasattr(X, "__len__"):
        return X
    array = np.asarray(X)
    if array.ndim == 0:  # such as a DMatrix or a Pool, which cannot be taken apart
        raise ValueError(
            f"X must hold rows, in an array, a data frame or a sparse matrix; got "
            f"{type(X).__name__}. Give the data that it was made from."
        )
    return array
