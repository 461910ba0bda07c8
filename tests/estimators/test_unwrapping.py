"""The classifier inside pipelines and searches, and the sample weights on their way to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from shafer.estimators.fitting import fit_weights, gives_evidence, innermost, own_evidence

X, Y = load_iris(return_X_y=True)
WEIGHT = np.random.default_rng(0).random(150)


def _search(inner: Any) -> GridSearchCV:
    return GridSearchCV(inner, {}, cv=3)


NESTED = {
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "search": _search(LogisticRegression(max_iter=1000)),
    "search of a pipeline": _search(make_pipeline(StandardScaler(), LogisticRegression())),
    "pipeline of a search": make_pipeline(StandardScaler(), _search(LogisticRegression())),
    "pipeline of a pipeline": make_pipeline(
        StandardScaler(), make_pipeline(StandardScaler(), LogisticRegression())
    ),
}


@pytest.mark.parametrize("estimator", NESTED.values(), ids=NESTED)
def test_sample_weights_reach_the_classifier_in_both(estimator: Any) -> None:
    voting = shafer.EvidentialVotingClassifier([("a", estimator)], tempering=None, prior="each")
    voting.fit(X, Y, sample_weight=WEIGHT)
    alone = shafer.EvidentialClassifier(estimator).fit(X, Y, sample_weight=WEIGHT)
    inside = innermost(alone)
    assert isinstance(inside, LogisticRegression)
    assert_allclose(innermost(voting.sources_["a"].estimator).coef_, inside.coef_)
    assert_allclose(voting.predict_proba(X), alone.predict_proba(X), atol=1e-12)
    without = innermost(shafer.EvidentialClassifier(estimator).fit(X, Y))
    assert np.abs(without.coef_ - inside.coef_).max() > 1e-3


def test_estimators_without_weights_are_named() -> None:
    model = make_pipeline(StandardScaler(), _search(shafer.NeighbourEvidence()))
    with pytest.raises(ValueError, match=r"NeighbourEvidence\.fit does not accept it"):
        fit_weights(model, WEIGHT)
    assert fit_weights(model, None) == {}


@pytest.mark.parametrize("wrap", [lambda inner: inner, _search])
def test_own_evidence_behind_pipelines_and_searches(wrap: Any) -> None:
    model = make_pipeline(StandardScaler(), wrap(shafer.NeighbourEvidence(k=3))).fit(X, Y)
    rows = StandardScaler().fit_transform(X)
    expected = shafer.NeighbourEvidence(k=3).fit(rows, Y).evidence(rows)
    assert gives_evidence(model)
    assert_array_equal(own_evidence(model, X).weights, expected.weights)
    voting = shafer.EvidentialVotingClassifier(
        [("a", model)], tempering=None, granularity="components"
    ).fit(X, Y)
    assert_allclose(voting.predict_proba(X), expected.probability, atol=0.2)
    assert voting.evidence(X).component_names[0] == "a: neighbour 1"


def test_others_give_no_evidence() -> None:
    assert not gives_evidence(GaussianNB().fit(X, Y))
    assert not gives_evidence(make_pipeline(StandardScaler(), GaussianNB()).fit(X, Y))
