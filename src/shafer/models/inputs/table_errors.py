"""Clearer errors for tables that a library cannot take: dates, sparse columns, NaN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shafer._text import listed
from shafer._validation import frame_columns, frame_of
from shafer.models.inputs.encoded_columns import encoded_names
from shafer.models.inputs.nan_checks import refuse_nan
from shafer.models.inputs.row_access import values_of

# Words of NumPy, pandas and scikit-learn by which their errors are recognised.
_DATES = ("DateTime64", "TimeDelta64", "datetime64", "timedelta64", "Timestamp", "Timedelta")
_SPARSE = ("COO", "Sparse data", "sparse matri")
_AS_NUMBERS = "Convert them to numbers first, for instance to days since a fixed date."


def explain_table_error(error: Exception, X: Any, encoders: Sequence[Any]) -> None:
    """Raise a clearer error for X, if ``error`` is about dates, sparse columns or NaN."""
    text = str(error)
    if any(word in text for word in _DATES):
        refuse_dates(X, "the model")
    if any(word in text for word in _SPARSE):
        _refuse_sparse_columns(X)
    if "contains NaN" in text and ", column '" not in text:
        _name_the_column(X, encoders)


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


def _name_the_column(X: Any, encoders: Sequence[Any]) -> None:
    """Refuse NaN in the data frame where it stops a transformer or the model, by column name."""
    columns = frame_columns(X)
    if columns is None:
        return
    passed = 0
    for encoder in encoders:
        try:
            X = encoder.transform(X)
        except (ValueError, TypeError):
            break
        passed += 1
    names = encoded_names(encoders[:passed], columns) if passed else columns
    refuse_nan(values_of(X), "the model", names)
