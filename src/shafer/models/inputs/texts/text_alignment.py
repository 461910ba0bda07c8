"""Where the characters of a preprocessed text come from: lower case and accents change lengths."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

_WORD_OR_SPACE = re.compile(r"\S+|\s+")


@final
@dataclass(frozen=True, eq=False)
class AlignedText:
    """A preprocessed text, and for each of its characters the original ones.

    Attributes
    ----------
    text : str
        The preprocessed text.
    start, end : arrays of shape (number of characters,)
        Character i came from ``original[start[i]:end[i]]``.
    """

    text: str
    start: NDArray[np.intp]
    end: NDArray[np.intp]


def aligned(preprocess: Callable[[str], Any], original: str) -> AlignedText | None:
    """Preprocess a text and find where its characters come from; None if that cannot be found.

    A preprocessor is followed if it gives the same when it is called on the words one by one.
    """
    result = preprocess(original)
    if not isinstance(result, str):
        return None
    if result == original or (original.isascii() and result == original.lower()):
        start = np.arange(len(original))
        return AlignedText(result, start, start + 1)
    return _word_by_word(preprocess, original, result)


def _word_by_word(
    preprocess: Callable[[str], Any], original: str, result: str
) -> AlignedText | None:
    known: dict[str, tuple[str, list[tuple[int, int]]]] = {}
    parts: list[str] = []
    places: list[tuple[int, int]] = []
    for match in _WORD_OR_SPACE.finditer(original):
        word, begin = match.group(), match.start()
        if word not in known:
            found = _places(preprocess, word)
            if found is None:
                return None
            known[word] = found
        part, inside = known[word]
        parts.append(part)
        places += [(begin + a, begin + b) for a, b in inside]
    if "".join(parts) != result:
        return None
    table = np.array(places, dtype=np.intp).reshape(-1, 2)
    return AlignedText(result, table[:, 0], table[:, 1])


def _places(
    preprocess: Callable[[str], Any], word: str
) -> tuple[str, list[tuple[int, int]]] | None:
    """Return a word after preprocessing, and where in the word each of its characters was."""
    try:
        whole, letters = preprocess(word), [preprocess(letter) for letter in word]
    except Exception:  # the user's own function, which may take whole texts only
        return None
    if not isinstance(whole, str) or not all(isinstance(letter, str) for letter in letters):
        return None
    if "".join(letters) == whole:
        places = [(i, i + 1) for i, letter in enumerate(letters) for _ in letter]
    elif len(whole) == len(word):  # such as the final sigma, which depends on its place
        places = [(i, i + 1) for i in range(len(word))]
    else:
        places = [(0, len(word))] * len(whole)
    return whole, places
