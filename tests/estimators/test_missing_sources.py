"""Sources that are missing in some rows: left out of training, and vacuous or left out after."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from shafer import EvidentialVotingClassifier, combine
from shafer.fusion import FiniteEvidence


@pytest.mark.parametrize("granularity", ["sources", "components"])
def test_missing_sources_contribute_nothing(heart: Any, granularity: str) -> None:
    X, y = heart.data.copy(), heart.target
    columns = {"a": [0, 1, 2], "b": [5, 7, 8]}
    X[::4, columns["a"]] = np.nan
    X[1::4, columns["b"]] = np.nan
    X[3::8] = np.nan
    estimators = [(name, LogisticRegression(max_iter=5000), c) for name, c in columns.items()]
    clf = EvidentialVotingClassifier(estimators, granularity=granularity).fit(X, y)
    evidence = clf.evidence(X)
    whole = np.array([name.split(":")[0] for name in evidence.component_names])
    weights = np.abs(evidence.weights).sum(axis=2)
    assert not weights[::4][:, whole == "a"].any()
    assert not weights[1::4][:, whole == "b"].any()
    assert weights[2::4][:, whole == "a"].any()
    assert_allclose(evidence[3::8].probability, np.tile(clf.prior_, (len(X[3::8]), 1)))
    # A source is trained on the rows where it is there.
    there = ~np.isnan(X[:, columns["a"]]).all(axis=1)
    alone = LogisticRegression(max_iter=5000).fit(X[there][:, columns["a"]], y[there])
    assert_allclose(clf.sources_["a"].estimator.coef_, alone.coef_)
    nothing = clf.evidence(np.full((3, 9), np.nan))
    assert_allclose(nothing.probability, np.tile(clf.prior_, (3, 1)))
    assert nothing.component_names == evidence.component_names
    one_row = clf.evidence(X[4:5])
    assert one_row.probability.shape == (1, 2)


def test_any_missing_input_can_leave_a_source_out(heart: Any) -> None:
    X, y = heart.data.copy(), heart.target
    X[::3, 0] = np.nan
    estimators = [("a", LogisticRegression(max_iter=5000), [0, 1, 2]), ("b", GaussianNB(), [5, 8])]
    with pytest.raises(ValueError, match="NaN"):
        EvidentialVotingClassifier(estimators).fit(X, y)
    clf = EvidentialVotingClassifier(estimators, absent_if="any").fit(X, y)
    weights = clf.evidence(X).weights
    assert not weights[::3, 0].any()
    assert weights[1::3, 0].any()
    there = np.arange(len(y)) % 3 > 0
    alone = LogisticRegression(max_iter=5000).fit(X[there][:, :3], y[there])
    assert_allclose(clf.sources_["a"].estimator.coef_, alone.coef_)
    mixed = pd.DataFrame({"x": X[:, 1], "kind": np.where(y > 0, "u", None)})
    from shafer.estimators.sources import present_rows

    assert_array_equal(present_rows(mixed, len(y), absent_if="any"), y > 0)
    assert present_rows(mixed, len(y)).all()


@pytest.mark.parametrize("rule", ["disjunctive", "dubois_prade"])
def test_a_missing_source_is_left_out_where_a_vacuous_one_would_count(rule: str) -> None:
    X, y = load_iris(return_X_y=True)
    columns = {"a": [0, 1], "b": [2], "c": [3]}
    estimators = [(name, LogisticRegression(), own) for name, own in columns.items()]
    clf = EvidentialVotingClassifier(estimators, rule, tempering=None).fit(X, y)
    gaps = X.copy()
    gaps[1::3, columns["a"]] = np.nan
    gaps[2::3] = np.nan
    evidence = clf.evidence(gaps)
    assert isinstance(evidence, FiniteEvidence)
    assert_allclose(evidence[::3].masses(), clf.evidence(X[::3]).masses())
    others = {name: clf.sources_[name].evidence(X[1::3][:, columns[name]]) for name in "bc"}
    assert_allclose(evidence[1::3].masses(), combine(others, rule).masses(), atol=1e-12)
    assert evidence[1::3].ignorance.min() < 0.5
    assert_allclose(evidence[2::3].ignorance, 1.0)


@pytest.mark.parametrize("missing_text", [None, float("nan")])
@pytest.mark.parametrize("kind", [list, pd.Series])
def test_a_missing_text_is_a_missing_source(heart: Any, missing_text: Any, kind: Any) -> None:
    y = heart.target[:80]
    texts = [f"word{label} and{i % 3}" for i, label in enumerate(y)]
    texts[3] = missing_text
    X = {"text": kind(texts), "life": heart.data[:80, [0, 5]]}
    estimators = [
        ("text", make_pipeline(CountVectorizer(), LogisticRegression())),
        ("life", GaussianNB()),
    ]
    weights = EvidentialVotingClassifier(estimators).fit(X, y).evidence(X).weights
    assert not weights[3, 0].any()
    assert weights[[2, 4], 0].all()
