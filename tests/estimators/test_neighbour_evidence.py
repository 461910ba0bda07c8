"""Evidential neighbours: by hand, by brute force, and as scikit-learn sees them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import log_softmax
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from shafer import Evidence, NeighbourEvidence, belief, combine


@parametrize_with_checks([NeighbourEvidence(), NeighbourEvidence(3, 1.0, 0.5, False)])
def test_scikit_learn_conventions(estimator: Any, check: Any) -> None:
    check(estimator)


def test_each_neighbour_is_a_simple_mass_function() -> None:
    X, y = load_iris(return_X_y=True)
    neighbours = NeighbourEvidence(4, gamma=0.7, scale=1.0, standardise=False).fit(X, y)
    point = X[[77]] + 0.05
    frame = belief.Frame([0, 1, 2])
    distance = np.linalg.norm(X - point, axis=1)
    parts = []
    for i in np.argsort(distance)[:4]:
        support = 0.95 * np.exp(-0.7 * (distance[i] / neighbours.mean_distance_) ** 2)
        parts.append(belief.MassFunction.simple(int(y[i]), frame, support=support))
    evidence = neighbours.evidence(point)
    assert_allclose(evidence.masses()[0], belief.dempster(*parts).masses, atol=1e-12)
    assert evidence.component_names == tuple(f"neighbour {r}" for r in (1, 2, 3, 4))
    assert (np.count_nonzero(evidence.weights, axis=2) == 1).all()
    assert_allclose(neighbours.predict_proba(point)[0], belief.dempster(*parts).probability)


def test_mean_distance_leaves_rows_out_of_their_own_neighbours() -> None:
    X = np.array([[0.0], [1.0], [3.0]])
    neighbours = NeighbourEvidence(1, 1.0, 1.0, standardise=False).fit(X, [0, 1, 0])
    assert neighbours.mean_distance_ == np.sqrt((1 + 1 + 4) / 3)


def test_far_away_nothing_is_known() -> None:
    X, y = load_wine(return_X_y=True)
    neighbours = NeighbourEvidence().fit(X, y)
    far = neighbours.evidence(X[:2] + 1e6)
    assert_array_equal(far.ignorance, 1.0)
    assert_allclose(far.probability, 1 / 3)
    assert neighbours.predict_set(X[:2] + 1e6).all()
    assert (neighbours.evidence(X).ignorance < 0.9).all()


def test_tuning_lowers_the_loss_of_rows_left_out() -> None:
    X, y = load_wine(return_X_y=True)
    tuned = cross_val_score(NeighbourEvidence(), X, y, scoring="neg_log_loss").mean()
    for fixed in (
        NeighbourEvidence(gamma=0.01, scale=3.0),
        NeighbourEvidence(gamma=30.0, scale=0.1),
    ):
        assert tuned > cross_val_score(fixed, X, y, scoring="neg_log_loss").mean()
    fitted = NeighbourEvidence(gamma=2.0).fit(X, y)
    assert fitted.gamma_ == 2.0
    assert 0.05 < fitted.scale_ < 20.0
    assert NeighbourEvidence(scale=0.0).fit(X, y).scale_ == 0.0
    assert_array_equal(NeighbourEvidence(scale=0.0).fit(X, y).evidence(X).ignorance, 1.0)


def test_tuned_beside_a_model() -> None:
    X, y = load_wine(return_X_y=True)
    X, T, y, t = train_test_split(X[:, :4], y, random_state=0, stratify=y)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    logits = cross_val_predict(model, X, y, method="predict_log_proba")
    beside = NeighbourEvidence().fit(X, y, beside=logits)
    wrong = np.where(np.eye(3)[y] > 0, 0.0, 20.0)  # a model that has to be overruled
    assert NeighbourEvidence(gamma=1.0).fit(X, y, beside=wrong).scale_ > beside.scale_
    by_evidence = Evidence.from_weights(logits[:, None, :], classes=[0, 1, 2])
    again = NeighbourEvidence().fit(X, y, beside=by_evidence)
    assert_allclose(again.scale_, beside.scale_, rtol=1e-6)
    said = model.fit(X, y).predict_log_proba(T)
    model_evidence = Evidence.from_weights(said[:, None, :], classes=[0, 1, 2])
    both = combine({"model": model_evidence, "neighbours": beside.evidence(T)})
    expected = log_softmax(said + beside.evidence(T).logits, axis=1)
    assert_allclose(both.probability, np.exp(expected))
    assert log_loss(t, both.probability) < log_loss(t, np.exp(said)) + 0.01


def test_duplicates_and_constant_columns() -> None:
    X = np.zeros((6, 2))
    y = np.array([0, 1, 0, 1, 0, 0])
    neighbours = NeighbourEvidence(k=20).fit(X, y)
    assert neighbours.mean_distance_ == 1.0
    evidence = neighbours.evidence(X[:1])
    assert evidence.n_components == 6
    assert np.isfinite(evidence.belief).all()
    assert neighbours.predict(X).tolist() == [0] * 6


def test_labels_of_any_kind() -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    neighbours = NeighbourEvidence().fit(X, names)
    assert set(neighbours.predict(X)) == set(names)
    assert neighbours.evidence(X[:1]).classes.tolist() == ["setosa", "versicolor", "virginica"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(k=0), "k must be a positive integer; got 0"),
        (dict(k=2.5), "k must be a positive integer; got 2.5"),
        (dict(gamma="guess"), "gamma must be 'tune' or a finite number ≥ 0; got 'guess'"),
        (dict(scale=-1.0), "scale must be 'tune' or a finite number ≥ 0; got -1.0"),
        (dict(scale=np.inf), "scale must be 'tune'"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], message: str) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        NeighbourEvidence(**arguments).fit(X, y)


def test_what_may_not_stand_beside() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"beside must have shape \(150, 3\).*\(150, 2\)"):
        NeighbourEvidence().fit(X, y, beside=np.zeros((150, 2)))
    other = Evidence.from_weights(np.zeros((150, 1, 3)), classes=list("abc"))
    with pytest.raises(ValueError, match="evidence on the classes of y"):
        NeighbourEvidence().fit(X, y, beside=other)
    with pytest.raises(ValueError, match="at least two classes"):
        NeighbourEvidence().fit(X, np.zeros(150))


@pytest.mark.parametrize("standardise", [True, False])
@pytest.mark.parametrize("far", [1e3, 1e8])
def test_columns_far_from_zero_keep_their_digits(far: float, standardise: bool) -> None:
    random = np.random.default_rng(0)
    X = np.round(random.normal(size=(60, 20)) * 1024) / 1024  # exact also after the shift
    y = random.integers(0, 3, 60)
    near = NeighbourEvidence(5, 0.7, 0.4, standardise).fit(X[:50], y[:50])
    away = NeighbourEvidence(5, 0.7, 0.4, standardise).fit(X[:50] + far, y[:50])
    assert_allclose(away.mean_distance_, near.mean_distance_, rtol=1e-7)
    said = away.evidence(X[50:] + far).logits
    assert_allclose(said, near.evidence(X[50:]).logits, rtol=1e-6)


def test_a_constant_column_says_nothing() -> None:
    X, y = load_iris(return_X_y=True)
    plain = NeighbourEvidence(5, 1.0, 1.0).fit(X, y)
    padded = NeighbourEvidence(5, 1.0, 1.0).fit(np.column_stack([X, np.full(len(X), 0.1)]), y)
    changed = np.column_stack([X, np.full(len(X), 0.1 + 1e-9)])
    assert_allclose(padded.evidence(changed).logits, plain.evidence(X).logits, rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_standardising_takes_any_unit(unit: float) -> None:
    X, y = load_iris(return_X_y=True)
    plain, scaled = (NeighbourEvidence(5, 1.0, 1.0).fit(u * X, y) for u in (1.0, unit))
    assert_allclose(scaled.evidence(unit * X).logits, plain.evidence(X).logits, rtol=1e-9)
