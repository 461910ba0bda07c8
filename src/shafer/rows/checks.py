"""Checks of the user's X: that it holds rows, and the columns that the model was trained on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import array_api_compat
import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from shafer._checks.arrays import to_numpy
from shafer._checks.frames import frame_columns, frame_of
from shafer._text import listed, shortened
from shafer._typing import Array, BoolArray
from shafer.errors import BadRowsError, UnsupportedModelError
from shafer.rows.access import by_position, is_several_inputs, values_of
from shafer.rows.columns import encoded_sources
from shafer.rows.schema import selected_columns


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


# Clearer errors for tables that a library cannot take: dates, sparse columns, NaN.

# Words of NumPy, pandas and scikit-learn by which their errors are recognised.
_DATES = ("DateTime64", "TimeDelta64", "datetime64", "timedelta64", "Timestamp", "Timedelta")
_SPARSE = ("COO", "Sparse data", "sparse matri")
_CELLS = ("contains NaN", "infinity", "unknown categories")
_AS_NUMBERS = "Convert them to numbers first, for instance to days since a fixed date."


def explain_table_error(error: Exception, X: Any, encoders: Sequence[Any]) -> None:
    """Raise a clearer error for X, if ``error`` is about dates, sparse columns or single cells."""
    text = str(error)
    if any(word in text for word in _DATES):
        refuse_dates(X, "the model")
    if any(word in text for word in _SPARSE):
        _refuse_sparse_columns(X)
    wrong = [found for found in _CELLS if found in text]
    columns = frame_columns(X)
    named = isinstance(error, BadRowsError) and (columns is None or error.column in columns)
    if wrong and not named:
        _blame(wrong[0], X, encoders, None if columns is None else list(columns))


def refuse_dates(X: Any, reader: str) -> None:
    """Refuse columns of dates, times or durations, which are not numbers."""
    frame = frame_of(X)
    if frame is None:
        if getattr(getattr(X, "dtype", None), "kind", "") in ("m", "M"):
            raise ValueError(f"X must hold real numbers; got an array of {X.dtype}. {_AS_NUMBERS}")
        return
    dates = [name for name, dtype in frame.schema.items() if dtype.is_temporal()]
    if dates:
        raise ValueError(
            f"X holds dates, times or durations in the columns {listed(dates)}; {reader} takes "
            f"numbers. {_AS_NUMBERS}"
        )


def _refuse_sparse_columns(X: Any) -> None:
    types = getattr(X, "dtypes", ())
    if any(type(dtype).__name__ == "SparseDtype" for dtype in types):
        raise ValueError(
            "X is a data frame with sparse columns, which the model cannot take. Pass "
            "X.sparse.to_dense()."
        )


def _blame(wrong: str, X: Any, encoders: Sequence[Any], names: list[str] | None) -> None:
    """Refuse the cells where they stop a transformer or the model, by the user's column.

    ``names`` are the user's columns behind the columns of X; None if they are not known.
    """
    passed = 0
    for encoder in encoders:
        try:
            encoded = encoder.transform(X)
        except (ValueError, TypeError):
            break
        names = _sources(encoder, names)
        X, passed = encoded, passed + 1
    stopped = encoders[passed] if passed < len(encoders) else None
    parts = getattr(stopped, "transformers_", None)
    if parts is not None:
        if hasattr(X, "iloc") and names is not None:
            _blame_parts(wrong, X, parts, names)
    elif stopped is not None and hasattr(stopped, "steps"):
        _blame(wrong, X, [step for _, step in stopped.steps if hasattr(step, "transform")], names)
    elif stopped is not None and hasattr(stopped, "categories_") and names is not None:
        _refuse_unknown(X, stopped, names)
    else:
        reader = "the model" if stopped is None else type(stopped).__name__
        refuse_not_finite(values_of(X), reader, names, nan=wrong == _CELLS[0])


def _blame_parts(wrong: str, X: Any, parts: Sequence[Any], names: list[str]) -> None:
    """Look into the parts of a ``ColumnTransformer``."""
    for _, part, selected in parts:
        if part is None or isinstance(part, str):  # "passthrough", "drop"
            continue
        places = selected_columns(selected, range(len(names)), list(X.columns))
        _blame(wrong, X.iloc[:, places], [part], [names[place] for place in places])


def _sources(encoder: Any, names: list[str] | None) -> list[str] | None:
    """Return the user's columns behind the outputs of a transformer."""
    if names is None:
        return None
    try:
        order, sources = encoded_sources([encoder], None, len(names), [])
    except (UnsupportedModelError, ValueError, TypeError):
        return None
    if len(order) != len(names):
        return None
    user = dict(zip(order, names, strict=True))
    return [
        " and ".join(sorted({user[name] for name in found if name in user})) for found in sources
    ]


def _refuse_unknown(X: Any, encoder: Any, names: list[str]) -> None:
    """Refuse categories that an encoder did not learn."""
    columns = X if hasattr(X, "iloc") else None
    for j, known in enumerate(encoder.categories_ if columns is not None else ()):
        values = X.iloc[:, j]
        wrong = ~values.isin(known.tolist()).to_numpy()
        if any(value is None or value != value for value in known.tolist()):
            wrong &= ~values.isna().to_numpy()
        rows = np.flatnonzero(wrong).tolist()
        if rows:
            gap = values.isna().to_numpy()
            held = values.astype(object).tolist()  # Python's own numbers
            reasons = [
                f"Column {names[j]!r} is missing, which {type(encoder).__name__} does not know."
                if gap[row]
                else f"Column {names[j]!r} has the category {shortened(repr(held[row]))}, "
                "which the model does not know."
                for row in rows
            ]
            raise BadRowsError(
                f"Row {rows[0]}: {reasons[0]} Its categories are {listed(known.tolist())}. Use one "
                "of them, or train with OneHotEncoder(handle_unknown='ignore').",
                rows,
                reasons,
                names[j],
            )


# NaN in the user's X: where it is, and the error for models that cannot take it.


def refuse_nan(values: Any, reader: str, names: Sequence[str] | None) -> None:
    """Raise an error that names the column of the first NaN, if there is one."""
    refuse_not_finite(values, reader, names, nan=True)


def refuse_not_finite(values: Any, reader: str, names: Sequence[str] | None, *, nan: bool) -> None:
    """Raise an error that names the column of the first NaN, or the first infinity."""
    data = values.data if sparse.issparse(values) else values
    if array_api_compat.is_array_api_obj(data) and _sum_is_finite(data):
        return  # one pass, nothing allocated; the rest is for finding the place
    rows, columns = _not_finite(values, nan=nan)
    if not len(rows):
        return

    def called(column: int) -> str:
        return repr(str(names[column])) if names is not None else str(column)

    what = "is missing (NaN)" if nan else "is infinite"
    must = f"and {reader} cannot take {'NaN' if nan else 'infinity'}."
    reasons = [f"Column {called(column)} {what}, {must}" for column in columns.tolist()]
    first, column = int(rows[0]), int(columns[0])
    if nan:
        message = (
            f"X contains NaN, the first in row {first}, column {called(column)}; {reader} cannot "
            "take NaN. Impute it, best in a pipeline in front of the model. For a linear model, "
            "Explainer(..., missing='conditional') is another way."
        )
    else:
        message = (
            f"X contains infinity, the first in row {first}, column {called(column)}; {reader} "
            "cannot take it. Correct the value, or replace it by NaN if the model takes NaN."
        )
    column_name = str(column) if names is None else str(names[column])
    raise BadRowsError(message, rows.tolist(), reasons, column_name)


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


def _not_finite(values: Any, *, nan: bool) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows with NaN, or with infinity, and the first such column of each."""
    find = np.isnan if nan else np.isinf
    nothing = np.zeros(0, dtype=np.intp)
    if sparse.issparse(values):
        held = sparse.coo_array(values)
        bad = find(held.data) if held.dtype.kind == "f" else np.zeros(0, dtype=bool)
        order = np.lexsort((held.col[bad], held.row[bad]))
        rows, first = np.unique(held.row[bad][order], return_index=True)
        return rows.astype(np.intp), held.col[bad][order][first].astype(np.intp)
    if not array_api_compat.is_array_api_obj(values) or values.ndim != 2:
        return nothing, nothing
    if isinstance(values, np.ndarray) and values.dtype == object:
        gap = np.frompyfunc(lambda value: value is None or value != value, 1, 1)
        infinite = np.isin(values, (np.inf, -np.inf))
        found = gap(values).astype(bool) if nan else infinite
    elif array_api_compat.array_namespace(values).isdtype(values.dtype, "real floating"):
        found = find(to_numpy(values))
    else:
        return nothing, nothing
    rows = np.flatnonzero(found.any(axis=1))
    return rows, found[rows].argmax(axis=1)
