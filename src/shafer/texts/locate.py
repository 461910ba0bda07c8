"""The terms that a text vectorizer finds in a text, and where they are in it.

The vectorizer's own analyzer is the judge: places count only if they give the same terms.
"""

from __future__ import annotations

import copy
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction import FeatureHasher

from shafer._typing import BoolArray, FloatArray

Places = NDArray[np.intp]
_SPACES = re.compile(r"\s\s+")  # a vectorizer of characters makes one space of them


@final
@dataclass(frozen=True, eq=False)
class PlacedTerms:
    """The terms of a text: words, n-grams of words, or n-grams of characters.

    Attributes
    ----------
    terms : list of T strings
        As the vectorizer looks them up, one for each occurrence.
    first, length : arrays of shape (T,), optional
        Each term is made of ``length`` units, from unit ``first`` on; None if not located.
    start, end : arrays of shape (U,)
        The units, words or characters, in the original text.
    joined : bool
        Whether units adjoin, as characters do.
    silent_start, silent_end, stop_word : arrays of shape (s,)
        Words that are not part of any term, and whether they are stop words.
    """

    terms: list[str]
    first: Places | None
    length: Places
    start: Places
    end: Places
    joined: bool
    silent_start: Places
    silent_end: Places
    stop_word: BoolArray

    def pieces(self) -> tuple[Places, Places, Places, FloatArray]:
        """Return pieces of the text: term, start, end, and the share of the occurrence.

        The characters of an n-gram are one piece, its words are a piece each.
        """
        if self.first is None:
            return _none(), _none(), _none(), np.zeros(0)
        if self.joined:
            last = self.first + self.length - 1
            every = np.arange(len(self.terms))
            return every, self.start[self.first], self.end[last], np.ones(len(every))
        term = np.repeat(np.arange(len(self.terms)), self.length)
        within = np.arange(len(term)) - np.repeat(np.cumsum(self.length) - self.length, self.length)
        unit = self.first[term] + within
        return term, self.start[unit], self.end[unit], 1.0 / self.length[term]


def locate_terms(vectorizer: Any, text: str) -> PlacedTerms:
    """Find the terms of a text with a vectorizer of scikit-learn."""
    reader = copy.copy(vectorizer)
    reader.input = "content"  # a text, also where the model reads files
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # stop words that look inconsistent: said in training
        terms = [str(term) for term in reader.build_analyzer()(text)]
    found = _found(reader, text, terms)
    if found is None or Counter(found.terms) != Counter(terms):
        empty = _none()
        return PlacedTerms(terms, None, empty, empty, empty, True, empty, empty, _false(0))
    return found


def _found(reader: Any, text: str, terms: list[str]) -> PlacedTerms | None:
    if callable(reader.analyzer):
        return _of_words(_in_order(text, terms), terms, (1, 1), None)
    source = aligned(reader.build_preprocessor(), text)
    if source is None:
        return None
    if reader.analyzer == "word":
        spans, words = _words(reader, source)
        return _of_words(spans, words, reader.ngram_range, reader.get_stop_words())
    if reader.analyzer == "char":
        return _of_characters(source, reader.ngram_range)
    return _inside_words(source, reader.ngram_range)


# -- words --------------------------------------------------------------------------------------


def _words(reader: Any, source: AlignedText) -> tuple[list[tuple[int, int]] | None, list[str]]:
    """Return the places of the words in the original text, and the words of the tokenizer."""
    if reader.tokenizer is None:
        pattern = re.compile(reader.token_pattern)
        group = min(pattern.groups, 1)
        matches = [
            (*match.span(group), match.group(group)) for match in pattern.finditer(source.text)
        ]
        inside: list[tuple[int, int]] | None = [(a, b) for a, b, _ in matches]
        words = [word for _, _, word in matches]
    else:
        words = [str(word) for word in reader.tokenizer(source.text)]
        inside = _in_order(source.text, words)
    if inside is None:
        return None, words
    return [_original(source, a, b) for a, b in inside], words


def _original(source: AlignedText, a: int, b: int) -> tuple[int, int]:
    if a == b:
        at = int(source.start[a]) if a < len(source.start) else 0
        return at, at
    return int(source.start[a]), int(source.end[b - 1])


def _in_order(text: str, words: Sequence[str]) -> list[tuple[int, int]] | None:
    """Find each word after the one before, between other letters; None if one is not there."""
    for searched in (text, text.lower()):
        if len(searched) == len(text):
            spans = list(_searched(searched, words))
            if len(spans) == len(words):
                return spans
    return None


def _searched(text: str, words: Sequence[str]) -> Iterator[tuple[int, int]]:
    at = 0
    for word in words:
        start = _next_whole(text, word, at)
        if start < 0:
            return
        at = start + len(word)
        yield start, at


def _next_whole(text: str, word: str, at: int) -> int:
    """Return the next place of a word that is not inside a longer one; −1 if there is none."""
    if not word:
        return -1
    start = text.find(word, at)
    while start >= 0:
        end = start + len(word)
        before = start > 0 and text[start - 1].isalnum() and word[0].isalnum()
        after = end < len(text) and text[end].isalnum() and word[-1].isalnum()
        if not before and not after:
            return start
        start = text.find(word, start + 1)
    return -1


def _of_words(
    spans: list[tuple[int, int]] | None,
    words: Sequence[str],
    ngram_range: tuple[int, int],
    stop_words: frozenset[str] | set[str] | None,
) -> PlacedTerms | None:
    """Join words to n-grams, after the stop words were taken out, as vectorizers do."""
    if spans is None:
        return None
    stop = np.array([stop_words is not None and word in stop_words for word in words], dtype=bool)
    kept = [word for word, is_stop in zip(words, stop.tolist(), strict=True) if not is_stop]
    terms: list[str] = []
    first, length = [], []
    for n in range(ngram_range[0], min(ngram_range[1], len(kept)) + 1):
        count = len(kept) - n + 1
        terms += kept if n == 1 else [" ".join(kept[i : i + n]) for i in range(count)]
        first.append(np.arange(count))
        length.append(np.full(count, n))
    table = np.array(spans, dtype=np.intp).reshape(-1, 2)
    return PlacedTerms(
        terms,
        np.concatenate([_none(), *first]),
        np.concatenate([_none(), *length]),
        table[~stop, 0],
        table[~stop, 1],
        False,
        table[stop, 0],
        table[stop, 1],
        _false(int(stop.sum())) | True,
    )


# -- characters ---------------------------------------------------------------------------------


def _of_characters(source: AlignedText, ngram_range: tuple[int, int]) -> PlacedTerms:
    text, start, end = source.text, source.start, source.end
    runs = [match.span() for match in _SPACES.finditer(text)]
    if runs:
        drop = np.zeros(len(text), dtype=bool)
        letters = list(text)
        end = end.copy()
        for a, b in runs:
            letters[a], end[a] = " ", end[b - 1]
            drop[a + 1 : b] = True
        text = "".join(letter for letter, out in zip(letters, drop, strict=True) if not out)
        start, end = start[~drop], end[~drop]
    terms: list[str] = []
    first, length = [], []
    for n in range(ngram_range[0], min(ngram_range[1], len(text)) + 1):
        count = len(text) - n + 1
        terms += [text[i : i + n] for i in range(count)]
        first.append(np.arange(count))
        length.append(np.full(count, n))
    return _units(
        terms, np.concatenate([_none(), *first]), np.concatenate([_none(), *length]), start, end
    )


def _inside_words(source: AlignedText, ngram_range: tuple[int, int]) -> PlacedTerms:
    """Find n-grams inside words with a space on either side; the spaces have no place."""
    terms: list[str] = []
    first: list[int] = []
    length: list[int] = []
    for match in re.finditer(r"\S+", source.text):
        begin, stop = match.span()
        padded = f" {match.group()} "
        for n in range(ngram_range[0], ngram_range[1] + 1):
            last = max(0, len(padded) - n)
            for offset in range(last + 1):
                terms.append(padded[offset : offset + n])
                low = max(begin, begin + offset - 1)
                high = min(stop, begin + offset - 1 + n)
                first.append(min(low, stop - 1))
                length.append(max(1, high - low))
            if last == 0:
                break  # a word shorter than n counts once
    return _units(
        terms,
        np.array(first, dtype=np.intp),
        np.array(length, dtype=np.intp),
        source.start,
        source.end,
    )


def _units(
    terms: list[str], first: Places, length: Places, start: Places, end: Places
) -> PlacedTerms:
    return PlacedTerms(terms, first, length, start, end, True, _none(), _none(), _false(0))


def _none() -> Places:
    return np.zeros(0, dtype=np.intp)


def _false(count: int) -> BoolArray:
    return np.zeros(count, dtype=bool)


def term_columns(vectorizer: Any, terms: Sequence[str]) -> Callable[[str], int]:
    """Return a function from a term to its column of the vectorizer's output; −1 if it has none."""
    if hasattr(vectorizer, "vocabulary_"):
        vocabulary = vectorizer.vocabulary_
        return lambda term: int(vocabulary.get(term, -1))
    distinct = list(dict.fromkeys(terms))
    if not distinct:
        return lambda _: -1
    hasher = FeatureHasher(vectorizer.n_features, input_type="string")
    hashed = hasher.transform([[term] for term in distinct]).tocsr()
    # One term in each row, so one entry.
    column = dict(zip(distinct, hashed.indices.tolist(), strict=True))
    return lambda term: column.get(term, -1)


# Where the characters of a preprocessed text come from: lower case and accents change lengths.

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
