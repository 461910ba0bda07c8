"""What each source of ``EvidentialVotingClassifier`` reads: columns, mappings, texts, frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from shafer import EvidentialVotingClassifier

from .examples import two


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
    assert names == ("blood: ldl", "blood: sbp", "life: age", "life: tobacco", "prior: prior")
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
