"""Promises about held-out rows have one home, and end when the weights change."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import shafer

X, Y = load_iris(return_X_y=True)
FIT, CAL, NEW = slice(0, None, 3), slice(1, None, 3), slice(2, None, 3)
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "moderated": {"moderate": "laplace"},
    "guarded": {"guard": True},
}


def made(**options: Any) -> shafer.EvidentialClassifier:
    clf = shafer.EvidentialClassifier(LogisticRegression(max_iter=1000), **options)
    return clf.fit(X[FIT], Y[FIT])


def promised(clf: Any) -> Any:
    return clf.conformalize(X[CAL], Y[CAL]).control_error(X[CAL], Y[CAL], error=0.2)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_tempering_the_explainer_inside_ends_all_promises(options: dict[str, Any]) -> None:
    clf = promised(made(**options))
    before = clf.predict_set(X[NEW])
    assert clf.conformal_ is not None
    assert clf.deferral_ is not None
    clf.explainer_.temper(X[CAL], Y[CAL])
    assert clf.conformal_ is None
    assert clf.deferral_ is None
    with pytest.raises(ValueError, match="call it again"):
        clf.predict_or_defer(X[NEW])
    again = promised(clf).predict_set(X[NEW])
    assert again.shape == before.shape


def test_a_classifier_and_its_explainer_promise_the_same() -> None:
    clf = promised(made())
    assert clf.conformal_ is clf.explainer_.promises.conformal
    assert clf.deferral_ is clf.explainer_.promises.deferral
    assert_array_equal(clf.predict_set(X[NEW]), clf.explainer_.predict_set(X[NEW]))


def test_promises_about_guarded_predictions_are_their_own() -> None:
    clf = promised(made(guard=True))
    assert clf.explainer_.conformal is None
    assert clf.explainer_.deferral is None
    with pytest.raises(ValueError, match="needs a promise"):
        clf.explainer_.predict_or_defer(X[NEW])


def test_the_last_calibration_counts() -> None:
    clf = made().conformalize(X[FIT], Y[FIT], cv=4)
    assert clf.promises.conformal is None
    assert len(clf.promises.folds) == 4
    clf.conformalize(X[CAL], Y[CAL])
    assert clf.promises.cross is None
    assert len(clf.promises.folds) == 0
    clf.conformalize(X[FIT], Y[FIT], cv=3)
    assert clf.promises.conformal is None


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("cv", [None, 3])
def test_files_keep_promises(options: dict[str, Any], cv: int | None, tmp_path: Path) -> None:
    clf = made(**options)
    rows = FIT if cv else CAL
    clf.conformalize(X[rows], Y[rows], cv=cv).control_error(X[CAL], Y[CAL], error=0.2)
    clf.save(tmp_path / "model.shafer")
    again = shafer.EvidentialClassifier.load(tmp_path / "model.shafer")
    assert_array_equal(again.predict_set(X[NEW]), clf.predict_set(X[NEW]))
    ours, theirs = clf.predict_or_defer(X[NEW]), again.predict_or_defer(X[NEW])
    assert_array_equal(theirs.deferred, ours.deferred)
    assert theirs.promise == ours.promise
    assert (again.explainer_.deferral is None) == (clf.explainer_.deferral is None)


def test_files_from_before_guarded_promises_had_a_home() -> None:
    """Then the explainer inside held the thresholds of deferral."""
    clf = promised(made(guard=True))
    state = clf.__getstate__()
    del state["deferral_state_"]
    state["explainer_"] = copy.deepcopy(clf.explainer_)
    state["explainer_"].promises.deferral = clf.deferral_
    again = object.__new__(shafer.EvidentialClassifier)
    again.__setstate__(state)
    assert again.deferral_ is clf.deferral_
    assert again.explainer_.deferral is None


def test_an_explainer_predicts_as_its_model() -> None:
    model = LogisticRegression(max_iter=1000).fit(X[FIT], np.array(["a", "b", "c"])[Y[FIT]])
    explainer = shafer.Explainer(model, X[FIT])
    assert_array_equal(explainer.predict(X[NEW]), model.predict(X[NEW]))
    np.testing.assert_allclose(
        explainer.predict_proba(X[NEW]), model.predict_proba(X[NEW]), atol=1e-12
    )
    with pytest.raises(ValueError, match="predict returns one class"):
        explainer.predict(X[NEW], rule="maximality")
