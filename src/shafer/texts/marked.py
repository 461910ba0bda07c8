"""``MarkedText``: a text, the weights of its words for a class, and the weights outside of it."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray, Label
from shafer.texts.spans import WordSpans

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
    class_ : class label
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
    class_: Label
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


# The segments of a text, and the weight of each: the sum of what lies on it.

PLAIN, MARKED, UNKNOWN, STOP = range(4)
"""Kinds of segments: outside of all words, with a component, not known to the model, stop word."""

_JOINER = "\u200d"
_ALWAYS_INSIDE = {_JOINER, *map(chr, range(0xFE00, 0xFE10)), *map(chr, range(0x1F3FB, 0x1F400))}


@final
@dataclass(frozen=True, eq=False)
class Segments:
    """A text in S segments without gaps.

    Attributes
    ----------
    text : str
    bounds : array of shape (S + 1,)
        Segment s is ``text[bounds[s]:bounds[s + 1]]``.
    marks : array of shape (S,) or (S, K)
        The weight of each segment.
    kinds : array of shape (S,)
        Whether it is plain, marked, unknown or a stop word.
    """

    text: str
    bounds: NDArray[np.intp]
    marks: FloatArray
    kinds: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.kinds)

    def total(self, first: int, last: int) -> FloatArray:
        """Return the weight of the segments ``first`` to ``last − 1``: a number, or (K,)."""
        return np.asarray(self.marks[first:last].sum(axis=0))

    def string(self, segment: int) -> str:
        """Return the characters of a segment."""
        return self.text[self.bounds[segment] : self.bounds[segment + 1]]


def segments_of(spans: WordSpans, weights: FloatArray) -> Segments:
    """Cut a text where words begin and end, and add up the weights on each segment.

    A piece that lies on several segments is shared among them by their lengths.

    Parameters
    ----------
    spans : WordSpans
    weights : array of shape (G,) or (G, K)
        Weights of the components.
    """
    text = spans.text
    ends = np.array([0, len(text)], dtype=np.intp)
    edges = [ends, spans.start, spans.end, spans.silent_start, spans.silent_end]
    bounds = np.unique(np.concatenate(edges))
    if not text.isascii():
        bounds = bounds[[not _is_inside(text, at) for at in bounds.tolist()]]
    size = np.diff(bounds)
    first = np.searchsorted(bounds, spans.start, side="right") - 1
    last = np.maximum(np.searchsorted(bounds, spans.end, side="left"), first + 1)
    count = last - first
    piece = np.repeat(np.arange(len(first)), count)
    segment = first[piece] + np.arange(len(piece)) - np.repeat(np.cumsum(count) - count, count)
    length = np.bincount(piece, size[segment], minlength=len(first))
    part = spans.share[piece] * size[segment] / length[piece]
    marks = np.zeros((len(size), *weights.shape[1:]))
    carried = weights[spans.component[piece]]
    np.add.at(marks, segment, (part * carried.T).T)
    return Segments(text, bounds, marks, _kinds(spans, bounds, segment))


def _kinds(
    spans: WordSpans, bounds: NDArray[np.intp], marked: NDArray[np.intp]
) -> NDArray[np.int8]:
    kinds = np.full(len(bounds) - 1, PLAIN, dtype=np.int8)
    first = np.searchsorted(bounds, spans.silent_start, side="right") - 1
    kinds[first] = np.where(spans.stop_word, STOP, UNKNOWN)
    kinds[marked] = MARKED
    return kinds


def _is_inside(text: str, at: int) -> bool:
    """Tell whether a cut here would part a letter from its marks, or an emoji."""
    if not 0 < at < len(text):
        return False
    letter = text[at]
    if letter < "\u0300" and text[at - 1] != _JOINER:  # no marks so far down
        return False
    combines = unicodedata.category(letter) in ("Mn", "Me", "Mc")
    return combines or letter in _ALWAYS_INSIDE or text[at - 1] == _JOINER


# Which parts of a long text are shown: the strongest words and what is around them.

_AROUND = 12  # segments before and after a strong word
_SHORTEST = 24  # segments that are left out together


@final
@dataclass(frozen=True)
class Stretch:
    """Consecutive segments, which are shown or left out.

    Attributes
    ----------
    first, last : int
        The segments ``first`` to ``last − 1``.
    shown : bool
    words : int
        The number of words.
    """

    first: int
    last: int
    shown: bool
    words: int


def stretches(segments: Segments, most: int) -> list[Stretch]:
    """Return the parts of a text, of which those with the strongest words are shown.

    Parameters
    ----------
    segments : Segments
    most : int
        About how many segments to show.
    """
    n = len(segments)
    shown = np.ones(n, dtype=bool)
    if n > most:
        shown = _near_strongest(segments, most)
    edges = [0, *(np.flatnonzero(np.diff(shown.astype(np.int8))) + 1).tolist(), n]
    return [
        Stretch(a, b, bool(shown[a]), int(np.sum(segments.kinds[a:b] != PLAIN)))
        for a, b in pairwise(edges)
        if b > a
    ]


def _near_strongest(segments: Segments, most: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    n = len(segments)
    shown = np.zeros(n, dtype=bool)
    shown[: 2 * _AROUND] = True
    strength = np.abs(segments.marks.reshape(n, -1)).max(axis=1)
    for s in np.argsort(-strength, kind="stable")[:most].tolist():
        if strength[s] == 0.0:
            break
        window = slice(max(0, s - _AROUND), s + _AROUND + 1)
        if int(shown.sum()) + int(np.sum(~shown[window])) > most:
            break
        shown[window] = True
    edges = np.flatnonzero(np.diff(np.concatenate([[1], shown.astype(np.int8), [1]])))
    for a, b in edges.reshape(-1, 2).tolist():
        if b - a < _SHORTEST:
            shown[a:b] = True
    return shown


# Characters that are not seen, or that change how others are read, written so that they are.

_TURNING = {
    *"\u061c\u200e\u200f",
    *map(chr, range(0x202A, 0x202F)),
    *map(chr, range(0x2066, 0x206A)),
}
"""Characters that turn the direction of the text, also of what comes after them."""


def visible(text: str, *, lines: bool = True) -> str:
    r"""Write control characters and changes of direction as their names.

    Parameters
    ----------
    text : str
    lines : bool
        Keep tabs and line breaks.

    Examples
    --------
    >>> print(visible("a\u202eb\x1bc"))
    a⟨U+202E⟩b⟨U+001B⟩c
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_letter(letter, lines) for letter in text)


def _letter(letter: str, lines: bool) -> str:
    if letter.isprintable() and letter not in _TURNING:
        return letter
    if letter in "\n\t":
        return letter if lines else " "
    if letter == "\r":
        return ""
    if letter.isspace():  # unusual spaces
        return " "
    if unicodedata.category(letter) == "Cf" and letter not in _TURNING:
        return letter  # joiners, which are part of scripts and of emoji
    return f"⟨U+{ord(letter):04X}⟩"
