"""``HashedWords``: names for the columns of a ``HashingVectorizer``, which keeps no words."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._text import shortened
from shafer.models.inputs.texts.components_in_text import texts_of
from shafer.models.inputs.texts.located_terms import term_columns
from shafer.models.inputs.texts.text_parts import TextPart, kinds, text_parts

_MOST_WORDS = 3  # of one column, the most frequent
_LONGEST = 40  # characters of a word in a name


@final
class HashedWords:
    """The words that hashing vectorizers met in the background, by column of their output."""

    def __init__(self, encoders: Sequence[Any]) -> None:
        self._encoders = encoders
        hashing = [p for p in text_parts(encoders) if "HashingVectorizer" in kinds(p.vectorizer)]
        self._counts: list[tuple[TextPart, Counter[str]]] = [(p, Counter()) for p in hashing]

    def take_in(self, X: Any) -> None:
        """Count the words of some rows, as the model takes them."""
        for part, counts in self._counts:
            analyze = part.vectorizer.build_analyzer()
            for text in texts_of(X, part.column):
                counts.update(analyze(text))

    def merge(self, other: HashedWords) -> None:
        """Add the words of other rows of the same model."""
        for (_, counts), (_, more) in zip(self._counts, other._counts, strict=True):
            counts.update(more)

    def named(self) -> tuple[Any, ...]:
        """Return the transformers; those that hash can name their columns after words."""
        names = {
            id(part.vectorizer): _NamedColumns(_column_names(part.vectorizer, counts))
            for part, counts in self._counts
        }
        if not names:
            return tuple(self._encoders)
        return tuple(_replaced(encoder, names) for encoder in self._encoders)


@final
class _NamedColumns:
    """Stands for a vectorizer where only the names of its columns are asked for."""

    def __init__(self, names: NDArray[np.object_]) -> None:
        self._names = names

    def get_feature_names_out(self, _: Any = None) -> NDArray[np.object_]:
        return self._names


def _column_names(vectorizer: Any, counts: Counter[str]) -> NDArray[np.object_]:
    """Name a column after its words, the most frequent first; a number if none was met."""
    column_of = term_columns(vectorizer, list(counts))
    words: dict[int, list[str]] = {}
    for word, _ in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])):
        words.setdefault(column_of(word), []).append(word)
    names = np.array([f"bucket {j}" for j in range(vectorizer.n_features)], dtype=object)
    for column, inside in words.items():
        names[column] = _joined(inside)
    return names


def _joined(words: Sequence[str]) -> str:
    shown = " | ".join(shortened(word, _LONGEST) for word in words[:_MOST_WORDS])
    more = len(words) - _MOST_WORDS
    return shown if more <= 0 else f"{shown} | {more} more"


def _replaced(encoder: Any, names: dict[int, _NamedColumns]) -> Any:
    """Return a transformer with the vectorizers inside it replaced by their names."""
    if id(encoder) in names:
        return names[id(encoder)]
    lists = [a for a in ("steps", "transformer_list", "transformers_") if hasattr(encoder, a)]
    if not lists or isinstance(encoder, str):
        return encoder
    copied = copy.copy(encoder)
    for attribute in lists:
        inside = [
            (name, _replaced(p, names), *rest) for name, p, *rest in getattr(encoder, attribute)
        ]
        setattr(copied, attribute, inside)
    return copied
