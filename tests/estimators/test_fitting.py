"""Folds, refits, and classifiers inside pipelines and searches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from shafer.estimators.fitting import (
    check_fold_count,
    fit_weights,
    gives_evidence,
    innermost,
    own_evidence,
    read_splits,
    stratified_folds,
)
from shafer.models import bootstrap_refits

# Folds and splits, the same for both classifiers.


SPECIES = np.repeat(["a", "b", "c"], [50, 48, 2])


def test_two_rows_of_a_class_are_in_different_folds() -> None:
    where = stratified_folds(SPECIES, 5, "this", "do that")
    assert set(where) == set(range(5))
    assert len(set(where[-2:])) == 2
    for fold in range(5):
        assert set(SPECIES[where != fold]) == {"a", "b", "c"}
    assert np.bincount(where).min() >= 18


def test_fewer_folds_if_no_class_has_that_many_rows() -> None:
    assert set(stratified_folds([0, 0, 0, 1, 1], 10, "this", "do that")) == {0, 1, 2}


def test_a_class_of_one_row() -> None:
    with pytest.raises(
        ValueError, match="this needs at least 2 rows of every class; class 'c' has 1 .* or do that"
    ):
        stratified_folds(SPECIES[:-1], 5, "this", "do that")


def test_splits_are_the_folds() -> None:
    where = stratified_folds(SPECIES, 4, "this", "do that", random_state=3)
    splits = read_splits(4, SPECIES, "this", "do that", 3)
    for fold, (train, held_out) in enumerate(splits):
        np.testing.assert_array_equal(held_out, np.flatnonzero(where == fold))
        np.testing.assert_array_equal(train, np.flatnonzero(where != fold))


def test_splits_of_the_users_own() -> None:
    given = [(np.arange(50), np.arange(50, 100))]
    for cv in (given, iter(given)):
        ((train, held_out),) = read_splits(cv, SPECIES, "this", "do that", None)
        assert train.tolist() == list(range(50))
        assert held_out.tolist() == list(range(50, 100))
    assert len(read_splits(KFold(3), SPECIES, "this", "do that", None)) == 3


@pytest.mark.parametrize("cv", [True, 1, 0, -3, 2.0, "5", None])
def test_wrong_numbers_of_folds(cv: Any) -> None:
    with pytest.raises(ValueError, match="cv must be a whole number of folds ≥ 2"):
        check_fold_count(cv)
    with pytest.raises(ValueError, match="cv must be a whole number of folds ≥ 2"):
        read_splits(cv, SPECIES, "this", "do that", None)


# Copies of a classifier on rows drawn again.


X, Y = load_iris(return_X_y=True)
MODEL = LogisticRegression(max_iter=1000)


def test_copies_of_the_model_on_other_rows() -> None:
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(C=0.3)).fit(X, Y)
    before = pipeline[-1].coef_.copy()
    refits = bootstrap_refits(pipeline, X, Y, 5)
    assert len(refits) == 5
    np.testing.assert_array_equal(pipeline[-1].coef_, before)
    means = np.array([refit[0].mean_ for refit in refits])
    assert (means.std(axis=0) > 0).all()  # the scaler is trained again too
    assert all(refit[-1].C == 0.3 for refit in refits)
    again = bootstrap_refits(pipeline, X, Y, 5)
    np.testing.assert_array_equal(refits[3][-1].coef_, again[3][-1].coef_)
    other = bootstrap_refits(pipeline, X, Y, 5, random_state=1)
    assert not np.array_equal(refits[3][-1].coef_, other[3][-1].coef_)


def test_the_spread_is_that_of_the_mean() -> None:
    """The mean of n rows has the standard error σ/√n."""
    refits = bootstrap_refits(StandardScalerThenModel(), X, Y, 300)
    found = np.std([refit.mean_ for refit in refits], axis=0)
    np.testing.assert_allclose(found, X.std(axis=0) / np.sqrt(150), rtol=0.15)


class StandardScalerThenModel(LogisticRegression):
    """Remembers the mean of the rows."""

    def fit(self, X: Any, y: Any) -> Any:
        self.mean_ = X.mean(axis=0)
        return self


def test_rare_classes_are_in_every_sample() -> None:
    y = np.where(np.arange(150) < 2, "rare", "usual")
    refits = bootstrap_refits(MODEL, X, y, 20)
    assert all(refit.classes_.tolist() == ["rare", "usual"] for refit in refits)
    many = np.arange(150)  # each class once: no sample has them all
    with pytest.raises(ValueError, match=r"held every class .* smallest of the 150 classes has 1"):
        bootstrap_refits(MODEL, X, many, 2)


def test_frames_and_weights() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(150) + 7)
    series = pd.Series(Y, index=frame.index)
    refits = bootstrap_refits(MODEL, frame, series, 2)
    assert refits[0].feature_names_in_.tolist() == list("abcd")
    np.testing.assert_allclose(
        refits[1].coef_, bootstrap_refits(MODEL, X, Y, 2)[1].coef_, rtol=1e-9
    )
    weight = np.where(Y == 1, 10.0, 1.0)
    weighted = bootstrap_refits(MODEL, X, Y, 2, sample_weight=weight)
    assert weighted[0].predict_proba(X)[:, 1].mean() > refits[0].predict_proba(frame)[:, 1].mean()


@pytest.mark.parametrize("n", [0, 1, -3, 2.5, True, "5", None])
def test_numbers_of_refits(n: Any) -> None:
    with pytest.raises(ValueError, match="n must be a whole number of refits ≥ 2; got"):
        bootstrap_refits(MODEL, X, Y, n)


# The classifier inside pipelines and searches, and the sample weights on their way to it.


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
