"""The segments of a text, and the weight of each: the sum of what lies on it."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer.evidence.word_spans import WordSpans

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
