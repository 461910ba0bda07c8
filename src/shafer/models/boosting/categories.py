"""``with_known_categories``: texts and numbers as the categories that a model was trained on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from shafer._checks.frames import frame_of
from shafer._text import listed
from shafer._typing import FloatArray

_NUMBERS = "biuf"


def with_known_categories(
    X: Any, known: Sequence[Sequence[Any] | None], coded: Sequence[bool], model: str
) -> Any:
    """Return a frame whose columns have the categories of training; other input as it is.

    A file keeps no categories, so its columns hold texts or numbers. They are matched with the
    categories of training by name: 10, 10.0 and "10" are the same category.

    Parameters
    ----------
    X : as the model takes it
        A frame has its columns in the order of training.
    known : sequence of length J
        The categories of each column of training; None if it had none, or if they have no names.
    coded : sequence of length J
        Whether a column has categories, with or without names.
    model : str
        The model, for messages.

    Raises
    ------
    ValueError
        If a value is not among the categories, or if texts cannot be matched.
    """
    frame = frame_of(X)
    if frame is None or len(frame.columns) != len(known):
        return X
    given = X if hasattr(X, "iloc") else frame.to_pandas()
    changed = {}
    for j, (categories, has_codes) in enumerate(zip(known, coded, strict=True)):
        column = given.iloc[:, j]
        kind = getattr(column.dtype, "kind", "O")
        is_category = column.dtype.name == "category"
        if categories is not None and not is_category:
            changed[j] = _matched(column, categories, model)
        elif categories is None and not is_category and kind not in _NUMBERS:
            _refuse_texts(column, has_codes, model)
    if not changed:
        return X
    import pandas

    columns = [changed.get(j, given.iloc[:, j]) for j in range(len(known))]
    return pandas.concat(columns, axis=1).set_axis(given.columns, axis=1)


def with_exact_numbers(rounded: FloatArray, X: Any) -> FloatArray:
    """Replace the columns of numbers in rows that a library has rounded by those of the frame."""
    exact = rounded.copy()
    for j in range(X.shape[1] if hasattr(X, "iloc") else 0):
        column = X.iloc[:, j]
        if getattr(column.dtype, "kind", "O") in _NUMBERS:
            exact[:, j] = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return exact


def refuse_unknown(X: Any, known: Sequence[Sequence[Any] | None], model: str) -> None:
    """Refuse a value of a pandas category column that training did not have."""
    if not hasattr(X, "iloc") or X.shape[1] != len(known):
        return
    for j, categories in enumerate(known):
        column = X.iloc[:, j]
        if categories is not None and column.dtype.name == "category":
            used = column.cat.categories[np.unique(column.cat.codes[column.notna()])]
            _places(used, column.name, categories, model)


def _matched(column: Any, categories: Sequence[Any], model: str) -> Any:
    import pandas

    values = column.astype(object)
    place = _places(values.dropna().unique(), column.name, categories, model)
    codes = values.map(place).fillna(-1).astype(int)
    typed = pandas.Categorical.from_codes(codes, categories=pandas.Index(list(categories)))
    return pandas.Series(typed, index=column.index, name=column.name)


def _places(
    values: Iterable[Any], name: Any, categories: Sequence[Any], model: str
) -> dict[Any, int]:
    """Return the position of each value among the categories."""
    by_text = {_text(category): code for code, category in enumerate(categories)}
    place = {}
    for value in values:
        if _text(value) not in by_text:
            raise ValueError(
                f"Column {name!r} has the value {_text(value)!r}, which {model} was not trained "
                f"on; its categories are [{listed(map(_text, categories))}]. Correct the value, or "
                "leave it empty if it is not known."
            )
        place[value] = by_text[_text(value)]
    return place


def _text(value: Any) -> str:
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else str(value)


def _refuse_texts(column: Any, has_codes: bool, model: str) -> None:
    present = column.dropna()
    if not len(present) or not isinstance(present.iloc[0], str):
        return  # such as numbers held as objects: the library decides
    was = (
        "was trained on codes of categories and does not know their names"
        if has_codes
        else "has no categories for this column"
    )
    name = column.name
    raise ValueError(
        f"Column {name!r} holds texts, such as {present.iloc[0]!r}, but {model} {was}. Pass the "
        "numbers used in training. If it was a category column, name all its categories in the "
        f"order of training: frame.astype({{{name!r}: pandas.CategoricalDtype([...])}})."
    )
