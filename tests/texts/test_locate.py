"""Places of terms: segments and stretches of a text, in the characters of the original."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

from shafer.texts.locate import PlacedTerms, aligned, locate_terms, term_columns
from shafer.texts.marked import (
    MARKED,
    PLAIN,
    STOP,
    UNKNOWN,
    Segments,
    segments_of,
    stretches,
    visible,
)
from shafer.texts.spans import WordSpans
from text_models import HOSTILE, TEXTS, stem

# Places of terms: exactly the terms of the vectorizer, in the characters of the original.


VECTORIZERS: list[Any] = [
    CountVectorizer(),
    TfidfVectorizer(ngram_range=(1, 3), stop_words=["the", "a"]),
    CountVectorizer(token_pattern=r"(?i)[a-z]+|\d"),
    CountVectorizer(strip_accents="unicode", ngram_range=(2, 2)),
    CountVectorizer(strip_accents="ascii", lowercase=False),
    CountVectorizer(analyzer="char", ngram_range=(1, 4)),
    CountVectorizer(analyzer="char", ngram_range=(3, 3), strip_accents="unicode"),
    CountVectorizer(analyzer="char_wb", ngram_range=(2, 5)),
    HashingVectorizer(n_features=64, ngram_range=(1, 2)),
]


def check(vectorizer: Any, text: str) -> PlacedTerms:
    found = locate_terms(vectorizer, text)
    assert Counter(found.terms) == Counter(vectorizer.build_analyzer()(text))
    assert found.first is not None
    term, start, end, share = found.pieces()
    np.testing.assert_allclose(np.bincount(term, share, len(found.terms)), 1.0)
    assert np.all((start >= 0) & (start < end) & (end <= len(text)))
    return found


@pytest.mark.parametrize("vectorizer", VECTORIZERS)
def test_terms_are_those_of_the_vectorizer(vectorizer: Any) -> None:
    for text in [*TEXTS[:8], *HOSTILE]:
        check(vectorizer, text)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=40))
def test_terms_of_any_text(text: str) -> None:
    for vectorizer in VECTORIZERS:
        check(vectorizer, text)


@given(st.text(st.characters(max_codepoint=0x24F), max_size=30))
def test_words_are_found_where_they_are(text: str) -> None:
    found = check(CountVectorizer(lowercase=False), text)
    for term, a, b in zip(found.terms, found.start, found.end, strict=True):
        assert text[a:b] == term


def test_spaces_of_characters() -> None:
    found = check(CountVectorizer(analyzer="char", ngram_range=(2, 2)), "a \n b")
    term, start, end, _ = found.pieces()
    assert [(found.terms[t], a, b) for t, a, b in zip(term, start, end, strict=True)] == [
        ("a ", 0, 4),
        (" b", 1, 5),
    ]


# -- functions of the user's own ----------------------------------------------------------------


def test_own_functions_that_can_be_followed() -> None:
    own = CountVectorizer(preprocessor=str.upper, tokenizer=str.split, token_pattern=None)
    found = check(own, "straße Cat cat")
    assert [("straße Cat cat"[a:b]) for a, b in zip(found.start, found.end, strict=True)] == [
        "straße",
        "Cat",
        "cat",
    ]
    tokens = check(CountVectorizer(analyzer=str.split), "A b, b")
    assert tokens.terms == ["A", "b,", "b"]


@pytest.mark.parametrize(
    "own",
    [
        CountVectorizer(analyzer=stem),
        CountVectorizer(preprocessor=lambda text: " ".join(reversed(text.split()))),
        CountVectorizer(preprocessor=lambda text: text.strip().title().replace("Dogs", "Hounds x")),
        CountVectorizer(tokenizer=lambda text: ["dogs", "cats"], token_pattern=None),
        CountVectorizer(tokenizer=lambda text: ["og"], token_pattern=None),
        CountVectorizer(analyzer=lambda text: ["cats dogs", ""]),
    ],
)
def test_own_functions_that_cannot_be_followed(own: Any) -> None:
    found = locate_terms(own, " cats and dogs")
    assert found.first is None
    assert found.terms == own.build_analyzer()(" cats and dogs")
    assert all(len(part) == 0 for part in found.pieces())


def test_files_are_not_opened() -> None:
    vectorizer = CountVectorizer(input="filename")
    assert locate_terms(vectorizer, "no such file").terms == ["no", "such", "file"]
    assert vectorizer.input == "filename"


# -- columns and alignment ----------------------------------------------------------------------


def test_columns_of_terms() -> None:
    counted = CountVectorizer().fit(["a cat", "the dog"])
    column = term_columns(counted, ["cat", "zebra"])
    assert (column("cat"), column("zebra")) == (counted.vocabulary_["cat"], -1)
    hashed = HashingVectorizer(n_features=32)
    column = term_columns(hashed, ["cat", "dog", "cat"])
    for word in ("cat", "dog"):
        assert column(word) == int(hashed.transform([word]).indices[0])


def test_alignment() -> None:
    text = "İ ΟΔΟΣ ﬁn"
    found = aligned(str.lower, text)
    assert found is not None
    assert found.text == text.lower()
    assert [text[a:b] for a, b in zip(found.start, found.end, strict=True)] == [
        "İ", "İ", " ", "Ο", "Δ", "Ο", "Σ", " ", "ﬁ", "n",
    ]  # fmt: skip
    assert aligned(lambda text: text[::-1], "ab cd") is None
    assert aligned(lambda text: None, "ab") is None
    assert aligned(lambda text: {"ab cd": "AB CD"}[text], "ab cd") is None


# Segments.


def spans_of(text: str, pieces: list[tuple[int, int]], **more: object) -> WordSpans:
    start, end = (np.array([p[i] for p in pieces], dtype=np.intp) for i in (0, 1))
    silent = np.array(more.get("silent", []), dtype=np.intp).reshape(-1, 2)
    return WordSpans(
        text,
        start,
        end,
        np.arange(len(pieces)),
        np.ones(len(pieces)),
        silent[:, 0],
        silent[:, 1],
        np.array(more.get("stops", [False] * len(silent)), dtype=bool),
        (),
        np.arange(len(pieces)),
    )


def strings(segments: Segments) -> list[str]:
    return [segments.string(s) for s in range(len(segments))]


def test_overlapping_pieces_are_cut_and_shared_by_length() -> None:
    found = segments_of(spans_of("abcd", [(0, 4), (1, 2)]), np.array([4.0, 10.0]))
    assert strings(found) == ["a", "b", "cd"]
    np.testing.assert_allclose(found.marks, [1.0, 11.0, 2.0])


def test_kinds() -> None:
    spans = spans_of("the cat, zebra", [(4, 7)], silent=[(0, 3), (9, 14)], stops=[True, False])
    found = segments_of(spans, np.array([2.0]))
    assert strings(found) == ["the", " ", "cat", ", ", "zebra"]
    assert found.kinds.tolist() == [STOP, PLAIN, MARKED, PLAIN, UNKNOWN]
    assert found.total(0, 5) == 2.0


def test_marks_stay_with_their_letters() -> None:
    text = "cafe\u0301s 👍🏽👩\u200d👧!"
    pieces = [(0, 4), (7, 8), (9, 10), (11, 12)]  # they end inside letters and emoji
    found = segments_of(spans_of(text, pieces), np.ones(4))
    assert strings(found) == ["cafe\u0301s ", "👍🏽", "👩\u200d👧", "!"]
    np.testing.assert_allclose(found.marks, [1.0, 1.0, 2.0, 0.0])


def test_weights_of_all_classes() -> None:
    weights = np.array([[1.0, -1.0], [0.5, 2.0]])
    found = segments_of(spans_of("ab", [(0, 1), (0, 2)]), weights)
    np.testing.assert_allclose(found.marks, [[1.25, 0.0], [0.25, 1.0]])


@settings(max_examples=200, deadline=None)
@given(
    st.text(st.sampled_from("ab \u0301\u200d🫀é"), min_size=1, max_size=30).flatmap(
        lambda text: st.tuples(
            st.just(text),
            st.lists(
                st.tuples(
                    st.integers(0, len(text) - 1), st.integers(1, len(text)), st.floats(-9, 9)
                ),
                max_size=8,
            ),
        )
    )
)
def test_nothing_is_lost(given_: tuple[str, list[tuple[int, int, float]]]) -> None:
    text, drawn = given_
    pieces = [(a, min(len(text), a + n)) for a, n, _ in drawn]
    found = segments_of(spans_of(text, pieces), np.array([w for *_, w in drawn]))
    assert "".join(strings(found)) == text
    np.testing.assert_allclose(found.marks.sum(), sum(w for *_, w in drawn), atol=1e-9)
    assert np.all((found.marks == 0.0) | (found.kinds == MARKED))


# Stretches.


def _words(marks: np.ndarray) -> Segments:  # type: ignore[type-arg]
    n = len(marks)
    return Segments("x" * n, np.arange(n + 1), marks, np.full(n, MARKED, dtype=np.int8))


def test_a_short_text_is_shown_in_full() -> None:
    [whole] = stretches(_words(np.zeros(30)), 30)
    assert (whole.first, whole.last, whole.shown, whole.words) == (0, 30, True, 30)


def test_strong_words_and_their_neighbours_are_shown() -> None:
    marks = np.zeros(1000)
    marks[[300, 700]] = 1.0, -2.0
    found = stretches(_words(marks), 100)
    shown = [(part.first, part.last) for part in found if part.shown]
    assert shown == [(0, 24), (288, 313), (688, 713)]
    assert sum(part.words for part in found) == 1000
    assert [part.first for part in found[1:]] == [part.last for part in found[:-1]]


def test_weights_of_all_classes_count() -> None:
    marks = np.zeros((1000, 3))
    marks[500, 2] = -1.0
    assert any(
        part.shown and part.first <= 500 < part.last for part in stretches(_words(marks), 60)
    )


def test_short_gaps_are_not_worth_leaving_out() -> None:
    marks = np.zeros(400)
    marks[[100, 140]] = 1.0
    shown = [(part.first, part.last) for part in stretches(_words(marks), 120) if part.shown]
    assert shown == [(0, 24), (88, 153)]


# Visible text.


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("plain", "plain"),
        ("naïve 年 🫀", "naïve 年 🫀"),
        ("a\u202eb\u2066c\u200fd\u061ce", "a⟨U+202E⟩b⟨U+2066⟩c⟨U+200F⟩d⟨U+061C⟩e"),
        ("a\x00b\x1bc\x7fd\x9be", "a⟨U+0000⟩b⟨U+001B⟩c⟨U+007F⟩d⟨U+009B⟩e"),
        ("a\r\nb\tc", "a\nb\tc"),
        ("a\u2028b\u00a0c", "a b c"),
        ("👩\u200d👧", "👩\u200d👧"),
        ("half \ud800 pair", "half ⟨U+D800⟩ pair"),
    ],
)
def test_what_is_not_seen_is_written(given: str, shown: str) -> None:
    assert visible(given) == shown
    assert "\n" not in visible(given, lines=False)
