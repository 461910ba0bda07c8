"""The guard: its mixture against rows with NaN, and what wrong inputs do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from linear_worlds import linear_world, with_gaps

TAU = 5.0


def by_hand(explainer: shafer.Explainer, read: shafer.Explainer, row: Any) -> Any:
    """Mix the probabilities of a row with those of the row without each input."""
    cells = explainer.ask.check_cells(row[None, :], top=None)
    n_inputs = len(row)
    odds, parts = [1.0], [read(row[None, :]).probability[0]]
    for name, surprise in zip(cells["input"], cells["surprise"], strict=True):
        factor = np.exp(0.5 * surprise**2 * TAU**2 / (1 + TAU**2)) / np.sqrt(1 + TAU**2)
        odds.append(0.2 / n_inputs / 0.8 * factor)
        without = with_gaps(row, [int(name[1:])])
        parts.append(read(without[None, :]).probability[0])
    share = np.array(odds) / np.sum(odds)
    return share, share @ np.array(parts)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("temper", [1.0, 0.6])
def test_the_mixture(n_classes: int, temper: float) -> None:
    explainer, X, _ = linear_world(1, n_classes, temper=temper)
    read = shafer.Explainer(explainer.model, X, missing="conditional", temper=temper)
    rows = np.concatenate([X[:15], with_gaps(X[15:20], [0, 3])])
    found = explainer.ask.guard(rows)
    assert not found.repaired.any()
    for i, row in enumerate(rows):
        share, p = by_hand(explainer, read, row)
        assert_allclose(found.probability[i], p, rtol=1e-8)
        assert_allclose(found.alarm[i], 1 - share[0], rtol=1e-8)


def test_repairs() -> None:
    explainer, X, _ = linear_world(2, 3)
    read = shafer.Explainer(explainer.model, X, missing="conditional")
    bad = X[:10].copy()
    bad[:, 1] += 200.0
    bad[:5, 4] -= 300.0
    found = explainer.ask.guard(bad)
    assert found.repaired[:, 1].all()
    assert_array_equal(np.flatnonzero(found.repaired[:, 4]), range(5))
    assert found.repaired.sum() == 15
    assert (found.alarm > 0.999).all()
    # A repaired input counts as missing: what it was plays no part.
    assert_allclose(
        found.probability[:5], explainer.ask.guard(with_gaps(X[:5], [1, 4])).probability, rtol=1e-6
    )
    cells = found.to_frame()
    assert list(cells.columns) == ["row", "input", "value", "expected"]
    assert len(cells) == 15
    second = cells[(cells["row"] == 7)].iloc[0]
    assert second["input"] == "x1"
    assert_allclose(second["value"], bad[7, 1])
    filled = read.weighed.missing.complete(read.weighed.model, with_gaps(X[7], [1])[None, :])
    assert_allclose(second["expected"], filled.rows.terms[0, 1])
    assert "15 cells repaired in 10 rows" in repr(found)


def test_at_most_four_repairs() -> None:
    explainer, X, rng = linear_world(2, 2, n_inputs=8)
    bad = X[:5] + 1e4 * rng.choice([-1.0, 1.0], size=(5, 8))
    found = explainer.ask.guard(bad)
    assert (found.repaired.sum(axis=1) <= 4).all()
    assert np.isfinite(found.probability).all()


def test_certain_rows_stay_probabilities() -> None:
    for seed in range(5):
        explainer, X, _ = linear_world(seed, 4, slope=20.0)
        found = explainer.ask.guard(X).probability
        assert found.max() <= 1.0
        assert found.min() >= 0.0


def test_the_result() -> None:
    explainer, X, _ = linear_world(2, 3, classes=["u", "v", "w"])
    frame = pd.DataFrame(X[:6], columns=[f"x{j}" for j in range(6)], index=list("abcdef"))
    frame.iloc[2, 0] = 1e4
    found = explainer.ask.guard(frame)
    assert len(found) == 6
    assert found.input_names == tuple(frame.columns)
    cells = found.to_frame()
    assert list(cells.columns) == ["row", "input", "value", "expected", "index"]
    assert (cells["row"].tolist(), cells["index"].tolist()) == ([2], ["c"])
    assert_allclose(found.evidence.probability, found.probability, atol=1e-12)
    assert found.evidence.classes.tolist() == ["u", "v", "w"]
    assert found.evidence.index.tolist() == list("abcdef")
    assert_allclose(found.probability.sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="read-only"):
        found.probability[0] = 0.0


def test_wrong_inputs_cost_less() -> None:
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(0)
    clf = shafer.EvidentialClassifier(
        make_pipeline(StandardScaler(), LogisticRegression()), guard=True
    ).fit(X[::2], y[::2])
    plain = clone(clf).set_params(guard=False).fit(X[::2], y[::2])
    test, labels = X[1::2].copy(), y[1::2]
    clean = log_loss(labels, clf.predict_proba(test))
    assert clean < log_loss(labels, plain.predict_proba(test)) + 0.02
    wrong = rng.random(test.shape) < 0.05
    bad = np.where(wrong, test * 10, test)
    guarded = log_loss(labels, clf.predict_proba(bad))
    assert guarded < 0.3 * log_loss(labels, plain.predict_proba(bad))
    assert (clf.predict(bad) == labels).mean() > (plain.predict(bad) == labels).mean()
    assert_array_equal(clf.predict(bad), clf.classes_[clf.predict_proba(bad).argmax(axis=1)])
    alarm = clf.explainer_.ask.guard(bad).alarm
    assert roc_auc_score(wrong.any(axis=1), alarm) > 0.95


def test_guarded_sets() -> None:
    X, y = load_wine(return_X_y=True)
    clf = shafer.EvidentialClassifier(
        make_pipeline(StandardScaler(), LogisticRegression()), guard=True
    ).fit(X[::3], y[::3])
    sets = clf.predict_set(X[2::3])
    assert_array_equal(sets, clf.explainer_.ask.guard(X[2::3]).evidence.decide("utility_set"))
    assert clf.predict_set(X[:1], "interval_dominance").shape == (1, 3)
    clf.conformalize(X[1::3], y[1::3], 0.8)
    calibrated = clf.predict_set(X[2::3])
    assert calibrated[np.arange(len(calibrated)), y[2::3]].mean() > 0.7
    clf.conformalize(X[::3], y[::3], 0.8, cv=3)
    assert clf.predict_set(X[2::3])[np.arange(len(calibrated)), y[2::3]].mean() > 0.7


def test_other_models_are_refused() -> None:
    X, y = load_wine(return_X_y=True)
    for model in (GaussianNB(), LogisticRegression()):
        classifier = shafer.EvidentialClassifier(make_pipeline(StandardScaler(), model), guard=True)
        if isinstance(model, LogisticRegression):
            classifier.fit(X, y)
        else:
            with pytest.raises(shafer.UnsupportedModelError, match="works for linear models"):
                classifier.fit(X, y)
    with pytest.raises(shafer.UnsupportedModelError):
        shafer.EvidentialClassifier(RandomForestClassifier(), guard=True).fit(X, y)
