"""Text models of every kind, and texts that are hard to read, for several folders of tests."""

from __future__ import annotations

from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC

TEXTS = [
    "The cat sat on the mat",
    "A dog barked at the cat",
    "Dogs are great friends",
    "cats purr and sleep",
    "my dog runs fast",
    "Kitten and cat play",
    "the dog ate the bone",
    "cat naps all day; the CAFÉ cat",
    "dog walks",
    "naïve cat",
    "bird",
    "a bird sings a song",
] * 2
KINDS = ["cat", "dog", "dog", "cat", "dog", "cat", "dog", "cat", "dog", "cat", "bird", "bird"] * 2
IS_CAT = ["cat" if kind == "cat" else "other" for kind in KINDS]

HOSTILE = [
    "",
    " \n\t ",
    "<script>window.hacked=1</script><img src=x onerror=window.hacked=1> cat",
    "\"cat\" & 'dog' </div><b>bold</b> {{ 7 * 7 }} ${window.hacked=1}",
    "cat \u202edog\u202c שלום cat العربية dog",
    "🫀👩‍👩‍👧 cat 👍🏽 dog",
    "cafe\u0301 CAFÉ na\u0308ıve cat",
    "İstanbul ΟΔΟΣ straße ﬁne ﬂy cat",
    "cat\x00dog\x1b[2Jcat\r\ndog\u2028bird\ufeff",
    "cat" * 5000,
    "$x$ % \\ cat_dog cat.dog",
]


def stem(text: str) -> list[str]:
    """Return words without a last s: their places can be found only if there is none."""
    return [word.rstrip("s") for word in text.lower().split()]


def words(**options: Any) -> Any:
    return make_pipeline(TfidfVectorizer(**options), LogisticRegression())


MODELS = {
    "tf-idf": words(),
    "n-grams": words(ngram_range=(1, 3), stop_words=["the", "a", "and"]),
    "bigrams": words(ngram_range=(2, 2), token_pattern=r"\w+"),
    "a group in the pattern": words(token_pattern=r"(\w+)s?\b"),
    "accents": words(strip_accents="unicode"),
    "ascii": words(strip_accents="ascii", lowercase=False),
    "split": words(tokenizer=str.split, token_pattern=None),
    "stemmed": words(analyzer=stem),
    "preprocessed": words(preprocessor=lambda text: text.upper()),
    "naive Bayes": make_pipeline(CountVectorizer(max_features=12), MultinomialNB()),
    "complement": make_pipeline(CountVectorizer(), ComplementNB()),
    "present or not": make_pipeline(CountVectorizer(binary=True), BernoulliNB()),
    "characters": make_pipeline(
        CountVectorizer(analyzer="char", ngram_range=(1, 3)), LogisticRegression()
    ),
    "inside words": words(analyzer="char_wb", ngram_range=(2, 5)),
    "hashed": make_pipeline(HashingVectorizer(n_features=16), LogisticRegression()),
    "hashed pairs": make_pipeline(
        HashingVectorizer(n_features=256, ngram_range=(1, 2)),
        TfidfTransformer(),
        CalibratedClassifierCV(LinearSVC(), ensemble=False, cv=2),
    ),
    "selected": make_pipeline(
        TfidfVectorizer(), SelectKBest(k=9), MaxAbsScaler(), LogisticRegression()
    ),
    "union": make_pipeline(
        FeatureUnion(
            [
                ("words", TfidfVectorizer(ngram_range=(1, 2))),
                ("letters", CountVectorizer(analyzer="char_wb", ngram_range=(2, 3))),
                ("hashed", HashingVectorizer(n_features=32)),
            ]
        ),
        LogisticRegression(),
    ),
}
