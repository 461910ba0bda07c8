"""``MarkedText``: a text, the weights of its words for a class, and the weights outside of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from shafer._typing import Label
from shafer.evidence.texts.segments import MARKED, Segments

NamedWeight = tuple[str, float]


@final
@dataclass(frozen=True, eq=False)
class MarkedText:
    """What each word of a text adds to the log-odds of a class over another, or to its weight.

    ``total`` is the sum of ``base_rate``, ``inside``, ``absent`` and ``others``.

    Attributes
    ----------
    segments : Segments
        The text, with the weight of each word.
    label : class label
    over : class label, optional
        None if the weights are those of evidence for the class by itself.
    base_rate : float
        The log-odds when every component has its mean.
    absent : float
        Total weight of words that are not in the text.
    n_absent : int
        Their number.
    others : float, optional
        Total weight of components that are not words of this text; None if there are none.
    unlocated : tuple of (word, weight)
        Words of the text whose place was not found.
    strongest_absent : tuple of (word, weight)
        The words with the largest weights that are not in the text.
    probability, over_probability : float, optional
        Of the two classes.
    tokens : bool
        Whether the text is a list of tokens, all of which the model reads.
    """

    segments: Segments
    label: Label
    over: Label | None
    base_rate: float
    absent: float = 0.0
    n_absent: int = 0
    others: float | None = None
    unlocated: tuple[NamedWeight, ...] = ()
    strongest_absent: tuple[NamedWeight, ...] = ()
    probability: float | None = None
    over_probability: float | None = None
    tokens: bool = False

    @property
    def inside(self) -> float:
        """Total weight of the words in the text."""
        found = float(np.sum(self.segments.marks)) + sum(w for _, w in self.unlocated)
        return float(found)

    @property
    def total(self) -> float:
        """The log-odds of the class over the other, or its total weight of evidence."""
        return self.base_rate + self.inside + self.absent + (self.others or 0.0)

    @property
    def largest(self) -> float:
        """The size of the largest weight of a word."""
        return float(np.max(np.abs(self.segments.marks), initial=0.0))

    @cached_property
    def by_word(self) -> tuple[tuple[str, float, int], ...]:
        """Words in lower case with their total weight and count, the largest weight first.

        Segments without a gap are one word, as the characters of a vectorizer of characters.
        """
        found: dict[str, list[float]] = {}
        for word, weight in [*self._joined(), *self.unlocated]:
            found.setdefault(word.lower(), []).append(weight)
        words = [(word, float(sum(weights)), len(weights)) for word, weights in found.items()]
        return tuple(sorted(words, key=lambda entry: -abs(entry[1])))

    def _joined(self) -> list[NamedWeight]:
        words: list[NamedWeight] = []
        word, weight, before = "", 0.0, -1
        for s in np.flatnonzero(self.segments.kinds == MARKED).tolist():
            piece = self.segments.string(s)
            if word and (s != before + 1 or piece.isspace()):
                words.append((word, weight))
                word, weight = "", 0.0
            if not piece.isspace():
                word, weight = word + piece, weight + float(self.segments.marks[s])
            before = s
        return [*words, (word, weight)] if word else words
