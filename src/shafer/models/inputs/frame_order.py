"""Data frames are read by their column names, whatever their order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import narwhals as nw

from shafer._text import listed
from shafer._validation import frame_columns

# Where a model keeps the column names of its training data: scikit-learn and libraries that follow
# it, CatBoost, and bare boosters of XGBoost and LightGBM.
_NAMES = ("feature_names_in_", "feature_names_", "feature_names", "feature_name")


def trained_columns(model: Any) -> tuple[str, ...] | None:
    """Return the column names that a model was trained with; None if it does not know them."""
    for attribute in _NAMES:
        names = getattr(model, attribute, None)
        if names is not None:
            return tuple(str(name) for name in (names() if callable(names) else names))
    return None


def column_order(model: Any, background: Any) -> tuple[str, ...] | None:
    """Return the order that frames are brought to; None if neither model nor background has names.

    It is the order of training. Some libraries read the columns of a frame by position, so the
    order of the background counts only for a model that does not know the names.
    """
    trained, given = trained_columns(model), frame_columns(background)
    if trained is None or given is None:
        return given if trained is None else trained
    for spelled in (given, without_blanks(given)):
        name_of = dict(zip(spelled, given, strict=True))
        if len(set(given)) == len(given) and set(trained) <= set(name_of):
            return tuple(name_of[name] for name in trained)
    return given


def without_blanks(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return column names as LightGBM keeps them."""
    return tuple(name.replace(" ", "_") for name in columns)


def in_order(X: Any, columns: tuple[str, ...] | None) -> Any:
    """Return a frame with these columns in this order; other input as it is.

    Further columns, such as an identifier or the true class, are left out. A frame that lacks a
    column comes back as it is: the model's own check refuses it.
    """
    given = frame_columns(X)
    if columns is None or given is None or given == columns:
        return X
    if not set(columns) <= set(given) or len(set(given)) < len(given):
        return X
    place = {name: k for k, name in enumerate(given)}
    order = [place[name] for name in columns]
    return nw.from_native(X, eager_only=True)[:, order].to_native()


@contextmanager
def missing_columns_named(X: Any, columns: tuple[str, ...] | None, name: str) -> Iterator[None]:
    """Name the columns that a frame lacks, if the model cannot take it.

    Columns that a model ignores may be missing, so this is known only after the model has refused.
    Each library refuses in its own words, some of them with an unrelated error.
    """
    try:
        yield
    except Exception as error:
        given = frame_columns(X)
        known = () if given is None else (*given, *without_blanks(given))
        missing = [] if given is None else [c for c in columns or () if c not in known]
        if not missing:
            raise
        source = "the background" if name == "X" else "the training data"
        raise ValueError(
            f"{name} must have the columns of {source}; got [{listed(given or ())}], without "
            f"{listed(missing)}. Name the columns as in training."
        ) from error
