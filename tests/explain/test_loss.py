"""Losses: every answer is the class of the least expected loss."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import shafer
from linear_worlds import draws, linear_world
from shafer.decision.policy import Cutoff, LeastLoss, answers, read_answer_rule
from shafer.errors import UnsupportedModelError

LOSS = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 5.0], [1.0, 1.0, 0.0]])
IRIS = load_iris()
X = IRIS.data + np.random.default_rng(0).normal(0, 0.6, IRIS.data.shape)
Y = IRIS.target_names[IRIS.target]
NAMES = IRIS.target_names.tolist()
MODEL = LogisticRegression(max_iter=1000).fit(X[::2], Y[::2])
BEST = np.asarray(NAMES)[(MODEL.predict_proba(X) @ LOSS.T).argmin(axis=1)]
BY_LABEL = {a: {k: LOSS[i, j] for j, k in enumerate(NAMES)} for i, a in enumerate(NAMES)}


@pytest.mark.parametrize("loss", [LOSS, BY_LABEL, pd.DataFrame(LOSS, NAMES, NAMES)])
def test_every_answer_has_the_least_expected_loss(loss: Any) -> None:
    explainer = shafer.Explainer(MODEL, X[::2], loss=loss)
    assert (MODEL.predict(X) != BEST).sum() > 5
    assert_array_equal(explainer.predict(X), BEST)
    assert_array_equal(explainer.decide(X), BEST)
    assert_array_equal(explainer.decide(X, loss), BEST)
    explainer.control_error(X[1::2], Y[1::2], error=0.4)
    assert_array_equal(explainer.predict_or_defer(X).labels, BEST)
    explainer.control_error(X[1::2], Y[1::2], mean_loss=1.0, loss=loss)
    assert_array_equal(explainer.predict_or_defer(X).labels, BEST)
    assert "least expected loss" in repr(explainer)
    # Reasons are for the answer.
    row = int(np.flatnonzero(MODEL.predict(X) != BEST)[0])
    assert explainer(X[[row]]).reasons(top=1)["class"].tolist() == [BEST[row]]


def test_classifiers() -> None:
    sources = [("a", LogisticRegression(max_iter=1000), [0, 1]), ("b", GaussianNB(), [2, 3])]
    for clf in (
        shafer.EvidentialClassifier(LogisticRegression(max_iter=1000), loss=LOSS),
        shafer.EvidentialClassifier(MODEL, loss=LOSS, moderate="laplace", temper=0.5),
        shafer.EvidentialClassifier(MODEL, loss=LOSS, guard=True),
        shafer.EvidentialVotingClassifier(sources, tempering=None, loss=BY_LABEL),
        shafer.EvidentialVotingClassifier(sources, combination="yager", tempering=None, loss=LOSS),
    ):
        clf = clone(clf).set_params(**clf.get_params(deep=False)).fit(X[::2], Y[::2])
        best = np.asarray(NAMES)[(clf.predict_proba(X) @ LOSS.T).argmin(axis=1)]
        assert_array_equal(clf.predict(X), best)
        clf.control_error(X[1::2], Y[1::2], error=0.45)
        assert_array_equal(clf.predict_or_defer(X).labels, best)
        assert "loss=" in repr(clf)
    wrapped = shafer.Explainer(
        shafer.EvidentialClassifier(MODEL, loss=LOSS).fit(X[::2], Y[::2]), X[::2]
    )
    assert_array_equal(wrapped.predict(X), BEST)


def test_a_voting_classifier_with_a_threshold(tmp_path: Path) -> None:
    two = Y != "setosa"
    sources = [("a", LogisticRegression(), [0, 1]), ("b", GaussianNB(), [2, 3])]
    clf = shafer.EvidentialVotingClassifier(sources, tempering=None, threshold={"virginica": 0.2})
    clf.fit(X[two], Y[two])
    own = np.where(clf.predict_proba(X)[:, 1] >= 0.2, "virginica", "versicolor")
    assert_array_equal(clf.predict(X), own)
    clf.save(tmp_path / "m.shafer")
    again = shafer.EvidentialVotingClassifier.load(tmp_path / "m.shafer")
    assert_array_equal(again.predict(X), own)
    assert again.policy == clf.policy


@pytest.mark.parametrize("loss", [LOSS, BY_LABEL])
def test_files_keep_losses(loss: Any, tmp_path: Path) -> None:
    for made in (
        shafer.Explainer(MODEL, X[::2], loss=loss),
        shafer.EvidentialClassifier(MODEL, loss=loss).fit(X[::2], Y[::2]),
    ):
        made.save(tmp_path / "m.shafer")
        again = type(made).load(tmp_path / "m.shafer")
        assert again.policy == made.policy
        assert_array_equal(again.predict(X), made.predict(X))


def test_losses_of_two_classes_are_a_threshold() -> None:
    labels = np.array(["no", "yes"])
    rule = read_answer_rule(None, [[0.5, 4.0], [1.5, 0.0]], labels)
    assert rule == Cutoff(0.8, 0)  # "no" from 4 / (4 + 1) on: a tie goes to the first class
    logits = np.random.default_rng(0).normal(size=(500, 2))
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    expected = (p @ np.array([[0.5, 4.0], [1.5, 0.0]]).T).argmin(axis=1)
    assert_array_equal(answers(logits, rule), expected)
    tie = np.log([[0.8, 0.2]])
    assert answers(tie, rule).tolist() == [0]
    assert read_answer_rule(None, None, labels) is None


def test_ties_and_extremes_of_losses() -> None:
    rule = LeastLoss(tuple(map(tuple, (1.0 - np.eye(3)).tolist())))
    logits = np.array([[0.0, 0.0, -1.0], [1e-16, 0.0, 0.0], [800.0, -900.0, 0.0], [0, 2.0, 1.0]])
    assert rule.positions(logits).tolist() == [0, 0, 0, 1]
    assert rule.positions(np.array([[-np.inf, 0.0, 1.0]])).tolist() == [2]
    shifted = LeastLoss(tuple(map(tuple, (1e3 + 1.0 - np.eye(3)).tolist())))
    assert_array_equal(shifted.positions(logits), rule.positions(logits))


@pytest.mark.parametrize("n_gone", [1, 4])
def test_overturn_and_next_inputs_follow_the_losses(n_gone: int) -> None:
    """Against simulation: the answer once the missing inputs are known."""
    told, data, random = linear_world(1, 3, slope=0.4, loss=LOSS, missing="conditional")
    rows = data[:8].copy()
    rows[:, 1 : 1 + n_gone] = np.nan
    simulated = [
        np.mean(told.predict(draws(told, row, random, 8000)) != answer)
        for row, answer in zip(rows, told.predict(rows).tolist(), strict=True)
    ]
    found = told.ask.overturn(rows)
    assert_allclose(found, simulated, atol=0.02)
    assert found.max() > 0.1
    if n_gone == 1:
        assert_allclose(told.ask.next_inputs(rows)["overturn"], found, atol=0.001)


def test_cells_and_the_guard_follow_the_losses() -> None:
    told, data, _ = linear_world(1, 3, loss=LOSS, missing="conditional")
    cells = told.ask.check_cells(data[:5])
    names = told.ask.model().names
    for row, name, expected, answer in cells[["row", "input", "expected", "answer"]].to_numpy():
        repaired = data[[row]].copy()
        repaired[0, names.index(name)] = expected
        assert told.predict(repaired) == [answer]
    guarded = told.ask.guard(data[:40])
    assert_array_equal(guarded.labels, told.classes[(guarded.probability @ LOSS.T).argmin(axis=1)])


@pytest.mark.parametrize("n_components", [4, 30])
def test_fragility_follows_the_losses(n_components: int) -> None:
    random = np.random.default_rng(2)
    weights = random.normal(size=(6, n_components, 3)) * (4 / n_components) ** 0.5
    weights -= weights.mean(axis=2, keepdims=True)
    ev = shafer.Evidence.from_weights(weights, classes=NAMES)
    rule = read_answer_rule(None, LOSS, np.asarray(NAMES))
    found, q = replace(ev, cutoff=rule).fragility(0.3), 0.3
    kept = random.random((40_000, n_components)) >= q
    for row in range(6):
        moved = answers(kept @ weights[row], rule) != answers(weights[row].sum(axis=0)[None], rule)
        assert_allclose(found[row], moved.mean(), atol=0.02)


def test_wrong_losses() -> None:
    def told(**options: Any) -> None:
        shafer.Explainer(MODEL, X[::2], **options)

    with pytest.raises(ValueError, match="Give threshold or loss, not both"):
        told(loss=LOSS, threshold=0.2)
    with pytest.raises(ValueError, match="threshold needs two classes; the model has 3"):
        told(threshold=0.2)
    with pytest.raises(ValueError, match="one column for each of the 3 classes"):
        told(loss=np.eye(2))
    with pytest.raises(ValueError, match="loss must have one row for each class"):
        told(loss=np.ones((2, 3)) - np.eye(3)[:2])
    with pytest.raises(ValueError, match="NaN|finite"):
        told(loss=np.where(np.eye(3) > 0, np.nan, 1.0))
    with pytest.raises(ValueError, match="unknown labels"):
        told(loss={**BY_LABEL, "setosa": {"rose": 1.0, "lily": 2.0, "oak": 3.0}})
    with pytest.raises(ValueError, match="loss must differ between answers"):
        told(loss=np.ones((3, 3)))
    with pytest.raises(ValueError, match="loss gives every row the answer 'setosa'"):
        told(loss=[[0, 0, 0], [1, 0, 1], [1, 1, 0]])
    with pytest.raises(ValueError, match="Give threshold or loss, not both"):
        shafer.EvidentialClassifier(MODEL, loss=LOSS, threshold=0.2).fit(X, Y)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (np.eye(2), "every right answer cost more than a wrong one"),
        ([[0.0, -1.0], [-1.0, 0.0]], "every right answer cost more than a wrong one"),
        ([[0.0, 1e300], [1e-300, 0.0]], "too far apart for a threshold"),
        ([[0.0, 1e-300], [1e300, 0.0]], "too far apart for a threshold"),
    ],
)
def test_losses_of_two_classes_that_are_no_threshold(loss: Any, message: str) -> None:
    model = LogisticRegression().fit(X, Y[0] == Y)
    with pytest.raises(ValueError, match=message):
        shafer.Explainer(model, X, loss=loss)


class _Careful(LogisticRegression):
    """Predicts by losses of its own, which no reader can know."""

    def predict(self, X: Any) -> Any:
        return self.classes_[(self.predict_proba(X) @ LOSS.T).argmin(axis=1)]


def test_predictions_that_are_no_argmax_are_refused() -> None:
    model = _Careful(max_iter=1000).fit(X[::2], Y[::2])
    with pytest.raises(UnsupportedModelError, match="State how it answers.*loss="):
        shafer.Explainer(model, X[::2])
    assert_array_equal(shafer.Explainer(model, X[::2], loss=LOSS).predict(X), model.predict(X))
    plain = shafer.Explainer(model, X[::2], check=False)
    assert_array_equal(plain.predict(X), MODEL.predict(X))
