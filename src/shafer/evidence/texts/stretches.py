"""Which parts of a long text are shown: the strongest words and what is around them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np

from shafer.evidence.texts.segments import PLAIN, Segments

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
