"""Factors and views of sources."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits, make_classification
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shafer import EvidentialVotingClassifier, Explainer, combine
from shafer.datasets import load_heart

from .examples import two

# Tempering and reliability of the sources: learnt by cross-validation, or given.


def test_tempering_is_learnt() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    random = np.random.default_rng(0)
    noise = random.normal(size=(len(X), 5))
    views = {"good": X, "noise": noise}
    estimators = [
        ("good", make_pipeline(StandardScaler(), LogisticRegression(C=0.1))),
        ("noise", GaussianNB()),
    ]
    clf = EvidentialVotingClassifier(estimators, cv=3).fit(views, y)
    assert clf.tempering_[0] > 0.5
    assert clf.tempering_[1] < clf.tempering_[0] / 2
    cautious = EvidentialVotingClassifier(estimators, "cautious", cv=3).fit(views, y)
    assert cautious.tempering_[0] > cautious.tempering_[1]


def test_overconfident_copies_are_held_back() -> None:
    X, y = load_heart(return_X_y=True)
    X, T, y, t = train_test_split(X, y, random_state=0)
    copies = [(f"copy {i}", GaussianNB()) for i in range(5)]
    learnt = EvidentialVotingClassifier(copies).fit(X, y)
    plain = EvidentialVotingClassifier(copies, tempering=None).fit(X, y)
    assert learnt.tempering_.sum() < 1.0  # naive Bayes is overconfident as it is
    assert log_loss(t, learnt.predict_proba(T)) < log_loss(t, plain.predict_proba(T))


def test_a_source_counts_for_more_when_the_others_are_missing() -> None:
    X, y = load_heart(return_X_y=True)
    copies = [(f"copy {i}", make_pipeline(StandardScaler(), LogisticRegression())) for i in (1, 2)]
    views = {"copy 1": X, "copy 2": X}
    clf = EvidentialVotingClassifier(copies).fit(views, y)
    assert_allclose(clf.tempering_[0], clf.tempering_[1], rtol=1e-3)
    both = clf.evidence(views)
    alone = clf.evidence({"copy 1": X, "copy 2": None})
    assert_allclose(alone.probability, both.probability, atol=0.02)
    assert_allclose(alone.weights[:, 0], 2 * both.weights[:, 0], rtol=0.1)
    # With many sources only all of them together are looked at.
    many = [(f"copy {i}", GaussianNB(), [i]) for i in range(7)]
    clf = EvidentialVotingClassifier(many, cv=2).fit(X, y)
    holed = X.copy()
    holed[:, 0] = np.nan
    assert_allclose(clf.evidence(holed).weights[:, 1:7], clf.evidence(X).weights[:, 1:7])


def test_each_set_of_sources_is_learnt_on_the_rows_that_have_it() -> None:
    X, y = make_classification(1500, 4, n_informative=4, n_redundant=0, random_state=0)
    random = np.random.default_rng(0)
    twice = np.column_stack([X, X])  # two sources that say the same
    for columns in (slice(0, 4), slice(4, 8)):
        gone = random.random(len(X)) < 0.5
        twice[gone, columns] = np.nan
    estimators = [
        ("a", LogisticRegression(), slice(0, 4)),
        ("b", LogisticRegression(), slice(4, 8)),
    ]
    clf = EvidentialVotingClassifier(estimators).fit(twice, y)
    both = ~np.isnan(twice).any(axis=1)
    seen = EvidentialVotingClassifier(estimators).fit(twice[both], y[both])
    assert clf.tempering_.sum() == pytest.approx(seen.tempering_.sum(), abs=0.15)
    assert clf.tempering_.sum() < 1.15  # not 2: together they count once


def test_many_sources_that_never_meet_are_learnt_all_the_same(heart: Any) -> None:
    X, y = heart.data.copy(), heart.target
    X[np.arange(len(X)), np.arange(len(X)) % 9] = np.nan  # one of nine is missing in every row
    estimators = [(f"column {j}", GaussianNB(), [j]) for j in range(9)]
    clf = EvidentialVotingClassifier(estimators).fit(X, y)
    assert clf.tempering_.std() > 0.05  # not all at 1/9, where few data would leave them
    assert log_loss(y, clf.predict_proba(X)) < log_loss(y, np.tile(clf.prior_, (len(y), 1))) - 0.05


def test_reliability_discounts_the_sources(heart: Any) -> None:
    X, y = heart.data[:150], heart.target[:150]
    options = dict(tempering=[0.5, 0.7], prior="each")
    doubted = EvidentialVotingClassifier(two(), reliability={"bayes": 0.6}, **options).fit(X, y)
    sources = {
        "logistic": LogisticRegression(max_iter=2000).fit(X, y),
        "bayes": GaussianNB().fit(X, y),
    }
    evidences = {name: Explainer(model, X, "one")(X) for name, model in sources.items()}
    expected = combine(evidences, tempering=[0.5, 0.7], reliability=[1.0, 0.6])
    assert_allclose(doubted.evidence(X).belief, expected.belief, atol=1e-12)
    assert doubted.reliability_.tolist() == [1.0, 0.6]
    assert doubted.tempering_.tolist() == [0.5, 0.7]
    trusted = EvidentialVotingClassifier(two(), **options).fit(X, y)
    assert (doubted.evidence(X).ignorance > trusted.evidence(X).ignorance).all()
    for wrong, message in (
        ("cv", "use tempering='cv'"),
        ([1.0, 1.5], "a number in .0, 1. for each of the 2 sources"),
        ({"c": 0.5}, "reliability names unknown sources"),
    ):
        with pytest.raises(ValueError, match=message):
            EvidentialVotingClassifier(two(), reliability=wrong).fit(X, y)


def test_reliability_of_present_sources_only(heart: Any) -> None:
    X, y = heart.data[:100].copy(), heart.target[:100]
    sources = [("a", LogisticRegression(max_iter=5000), [0, 1]), ("b", GaussianNB(), [5, 7, 8])]
    clf = EvidentialVotingClassifier(
        sources, "disjunctive", tempering=None, reliability=[0.5, 0.9]
    ).fit(X, y)
    X[:, [0, 1]] = np.nan
    alone = clf.sources_["b"].evidence(X[:, [5, 7, 8]], whole=True)
    assert_allclose(clf.evidence(X).belief, alone.discounted(0.9).belief, atol=1e-12)


# What each source of ``EvidentialVotingClassifier`` reads: columns, mappings, texts, frames.


def test_views_as_a_mapping(heart: Any) -> None:
    X, y = heart.data, heart.target
    estimators = [("a", LogisticRegression(max_iter=5000)), ("b", GaussianNB())]
    by_columns = [("a", estimators[0][1], [0, 1, 2]), ("b", estimators[1][1], [5, 8])]
    views = {"a": X[:, [0, 1, 2]], "b": pd.DataFrame(X[:, [5, 8]])}
    clf = EvidentialVotingClassifier(estimators).fit(views, y)
    same = EvidentialVotingClassifier(by_columns).fit(X, y)
    assert_allclose(clf.predict_proba(views), same.predict_proba(X), rtol=1e-10)
    without = {"a": views["a"], "b": None}
    holed = X.copy()
    holed[:, [5, 8]] = np.nan
    assert_allclose(clf.predict_proba(without), same.predict_proba(holed), rtol=1e-10)
    assert_allclose(clf.predict_proba({"a": views["a"]}), clf.predict_proba(without))
    with pytest.raises(ValueError, match="the input of at least one source"):
        clf.predict({"a": None})
    with pytest.raises(ValueError, match=r"same number of rows; got \[2, 462\]"):
        clf.predict({"a": views["a"], "b": X[:2, [5, 8]]})
    with pytest.raises(ValueError, match="one label for each of the 462 rows of X; got 3"):
        clf.fit(views, [0, 1, 0])


def test_text_beside_numbers() -> None:
    texts = np.array(["good film", "bad film", "good", "bad", "nice", "awful"] * 5, dtype=object)
    y = np.array([1, 0, 1, 0, 1, 0] * 5)
    views = {"text": texts, "numbers": np.random.default_rng(0).normal(size=(30, 2)) + y[:, None]}
    estimators = [
        ("text", make_pipeline(TfidfVectorizer(), LogisticRegression())),
        ("numbers", GaussianNB()),
    ]
    clf = EvidentialVotingClassifier(estimators, granularity="components").fit(views, y)
    assert clf.predict(views).tolist() == y.tolist()
    assert "text: film" in clf.evidence(views).component_names


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames(heart: Any, make: Any) -> None:
    frame = make(dict(zip(heart.feature_names, heart.data.T, strict=True)))
    estimators = [
        ("blood", LogisticRegression(max_iter=5000), ["ldl", "sbp"]),
        ("life", GaussianNB(), ["age", "tobacco"]),
    ]
    clf = EvidentialVotingClassifier(estimators, granularity="components").fit(frame, heart.target)
    names = clf.evidence(frame).component_names
    blood, life = ("ldl", "sbp", "base rate"), ("age", "tobacco", "base rate")
    assert names[:-1] == (
        *(f"blood: {name}" for name in blood),
        *(f"life: {name}" for name in life),
    )
    assert names[-1] == "base rate: base rate"
    assert list(clf.feature_names_in_) == heart.feature_names


def test_views_of_unknown_sources_are_refused(heart: Any) -> None:
    X, y = heart.data[:, :4], heart.target
    clf = EvidentialVotingClassifier(two()).fit({"logistic": X, "bayes": X}, y)
    with pytest.raises(
        ValueError, match=r"unknown sources \['bays'\]; the sources are \['logistic'"
    ):
        clf.predict({"logistic": X, "bays": X})


def test_frames_whose_columns_are_numbered(heart: Any) -> None:
    X = pd.DataFrame(heart.data)
    clf = EvidentialVotingClassifier(two()).fit(X, heart.target)
    assert_allclose(
        clf.predict_proba(X),
        EvidentialVotingClassifier(two()).fit(heart.data, heart.target).predict_proba(heart.data),
    )


@pytest.mark.parametrize(
    ("frame", "columns", "message"),
    [
        (True, ["zz"], "Source 'a' uses the columns 'zz', but X has the columns 'age', 'ldl'"),
        (True, ["age", "zz"], "uses the columns 'zz', but"),
        (False, ["age"], "uses the columns 'age', but X has no column names"),
        (False, [0, 77], "uses the columns 77, but X has 2 columns"),
        (False, [-3], "uses the columns -3, but X has 2 columns"),
        (True, [2], "uses the columns 2, but X has 2 columns"),
    ],
)
def test_unknown_columns_name_the_source(
    heart: Any, frame: bool, columns: Any, message: str
) -> None:
    X = heart.data[:, [heart.feature_names.index(name) for name in ("age", "ldl")]]
    given = pd.DataFrame(X, columns=["age", "ldl"]) if frame else X
    clf = EvidentialVotingClassifier([("a", LogisticRegression(), columns)])
    with pytest.raises(ValueError, match=message):
        clf.fit(given, heart.target)
