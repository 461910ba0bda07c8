"""Places of terms: exactly the terms of the vectorizer, in the characters of the original."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

from shafer.texts.locate import LocatedTerms, aligned, locate_terms, term_columns
from text_models import HOSTILE, TEXTS, stem

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


def check(vectorizer: Any, text: str) -> LocatedTerms:
    found = locate_terms(vectorizer, text)
    assert Counter(found.terms) == Counter(vectorizer.build_analyzer()(text))
    assert found.first is not None
    term, start, end, share = found.pieces()
    np.testing.assert_allclose(np.bincount(term, share, len(found.terms)), 1.0)
    assert np.all((start >= 0) & (start < end) & (end <= len(text)))
    return found


@pytest.mark.parametrize("vectorizer", VECTORIZERS)
@pytest.mark.parametrize("text", [*TEXTS[:8], *HOSTILE])
def test_terms_are_those_of_the_vectorizer(vectorizer: Any, text: str) -> None:
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
