"""Rows that are texts: a list, a column or a frame of one column, with clear errors for gaps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from shafer._text import listed, shortened
from shafer._validation import frame_of
from shafer.models.inputs.row_access import n_rows
from shafer.models.inputs.texts.text_parts import is_vectorizer, kinds, text_parts


def text_rows(encoders: Sequence[Any], X: Any, name: str) -> Any:
    """Return rows as a text vectorizer takes them; X as it is if the model takes tables.

    A frame of one column gives its column: scikit-learn would read the name of the column as the
    only text.
    """
    vectorizer = first_vectorizer(encoders)
    if vectorizer is None:
        return X
    reads_texts = _reads_texts(vectorizer)
    if not reads_texts and frame_of(X) is None:
        return X  # an analyzer of the user's own may take rows of any kind
    texts = _one_column(X, name)
    if n_rows(texts) == 0:
        raise ValueError(f"{name} must hold at least one text; got none.")
    if reads_texts:
        check_texts(texts, f"{name} has no text in row {{row}}: got {{value}}.")
    return texts


def first_vectorizer(encoders: Sequence[Any]) -> Any:
    """Return the vectorizer that receives the rows of a model; None if the rows are a table."""
    if not encoders:
        return None
    first, names = encoders[0], kinds(encoders[0])
    if is_vectorizer(first):
        return first
    if "Pipeline" in names:
        return first_vectorizer([step for _, step in first.steps if step != "passthrough"])
    if "FeatureUnion" in names:
        inside = [part for _, part in first.transformer_list if part != "drop"]
        return first_vectorizer(inside)
    return None


def check_texts(texts: Iterable[Any], message: str) -> None:
    """Refuse the first row that is not a text; ``message`` names its ``row`` and ``value``."""
    rows = texts.to_list() if hasattr(texts, "to_list") else texts
    for row, given in enumerate(rows):
        if not isinstance(given, str | bytes):
            start = message.format(row=row, value=shortened(repr(given)))
            raise ValueError(f"{start} Fill it in, if only with an empty text '', or leave it out.")


def explain_text_error(X: Any, encoders: Sequence[Any]) -> None:
    """Raise a clearer error if a column of texts has a row without a text."""
    frame = frame_of(X)
    if frame is None:
        return
    for part in text_parts(encoders):
        named = isinstance(part.column, str) and part.column in frame.columns
        if named and _reads_texts(part.vectorizer):
            message = f"Column {part.column!r} has no text in row {{row}}: got {{value}}."
            check_texts(frame[part.column].to_list(), message)


def _reads_texts(vectorizer: Any) -> bool:
    """Tell whether a vectorizer takes strings; with the user's own functions it may take more."""
    own = callable(vectorizer.analyzer) or vectorizer.preprocessor is not None
    return vectorizer.input == "content" and not own


def _one_column(X: Any, name: str) -> Any:
    frame = frame_of(X)
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if frame is None and len(shape) < 2:
        return X
    if len(shape) == 2 and shape[1] == 1:
        return np.ravel(X) if frame is None else frame[frame.columns[0]].to_native()
    got = f"the columns {listed(frame.columns)}" if frame is not None else f"shape {tuple(shape)}"
    raise ValueError(
        f"{name} must hold one text for each row, because the model starts with a text vectorizer; "
        f"got {got}. Pass the column of texts."
    )
