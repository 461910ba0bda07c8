"""``lightgbm_rows``: a table as LightGBM holds it, in double precision."""

from __future__ import annotations

import re
import sys
from typing import Any

import lightgbm
import numpy as np
from scipy import sparse

from shafer._typing import FloatArray
from shafer._validation import frame_columns
from shafer.models.readers.boosting.known_categories import with_known_categories

_CATEGORY_COLUMNS = re.compile(r"^\[categorical_feature: ([\d,]+)\]$", re.MULTILINE)


def lightgbm_rows(model: Any, X: Any) -> FloatArray | None:
    """Return the numbers that the trees compare; None for a table of another kind."""
    if sparse.issparse(X):
        return np.asarray(X.toarray(), dtype=np.float64)
    if isinstance(X, np.ndarray):
        return X.astype(np.float64) if X.ndim == 2 and X.dtype.kind in "biuf" else None
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(X, pandas.DataFrame):
        return None
    return _frame_rows(model, X)


def with_lightgbm_categories(model: Any, X: Any) -> Any:
    """Give the columns of a frame their categories of training."""
    booster = model if isinstance(model, lightgbm.Booster) else model.booster_
    if frame_columns(X) is None or not booster.pandas_categorical:
        return X
    typed = hasattr(X, "iloc") and sum(kind.name == "category" for kind in X.dtypes)
    if typed == len(booster.pandas_categorical):
        return X  # as in training
    # Categories are listed without the names of their columns. There are more of them than columns
    # if some are ordered: LightGBM takes those as numbers, and which they were is not known.
    coded = _category_columns(booster)
    known: list[list[Any] | None] = [None] * len(coded)
    if sum(coded) == len(booster.pandas_categorical):
        for j, categories in zip(np.flatnonzero(coded), booster.pandas_categorical, strict=True):
            known[j] = list(categories)
    return with_known_categories(X, known, coded, "the LightGBM model")


def _category_columns(booster: Any) -> list[bool]:
    """Return whether each column has categories."""
    text = booster.model_to_string(num_iteration=1)
    found = _CATEGORY_COLUMNS.search(text)
    places = {int(place) for place in found[1].split(",")} if found else set()
    return [j in places for j in range(booster.num_feature())]


def _frame_rows(model: Any, frame: Any) -> FloatArray | None:
    """Write categories as their codes in training; one that training did not have is NaN."""
    booster = model if isinstance(model, lightgbm.Booster) else model.booster_
    trained = iter(booster.pandas_categorical or [])
    columns = []
    for j in range(frame.shape[1]):
        column = frame.iloc[:, j]
        if column.dtype.name == "category":
            codes = column.cat.set_categories(next(trained, [])).cat.codes.to_numpy(np.float64)
            columns.append(np.where(codes < 0, np.nan, codes))
        elif column.dtype.kind in "biuf":
            columns.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
        else:
            return None
    return np.stack(columns, axis=1)
