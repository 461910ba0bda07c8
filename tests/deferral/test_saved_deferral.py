"""Saved promises: plain values, exact numbers, and states of earlier versions."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import skops.io
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import shafer

X, Y = load_iris(return_X_y=True)
X = X + np.random.default_rng(0).normal(0, 0.6, X.shape)
MODEL = LogisticRegression(max_iter=1000).fit(X[::2], Y[::2])
GROUPS = np.where(X[:, 0] > 5.8, "long", "short")
PROMISES: dict[str, dict[str, Any]] = {
    "error": {"error": 0.2},
    "groups": {"error": 0.3, "by": GROUPS[1::2]},
    "recall": {"recall": 0.8, "class_": 1},
    "loss": {"mean_loss": 0.3, "loss": 1 - np.eye(3)},
}


@pytest.mark.parametrize("promise", PROMISES.values(), ids=PROMISES)
def test_the_same_after_loading(promise: dict[str, Any]) -> None:
    explainer = shafer.Explainer(MODEL, X[::2]).control_error(X[1::2], Y[1::2], **promise)
    groups = None if "by" not in promise else GROUPS
    found = explainer.predict_or_defer(X, groups)
    data = skops.io.dumps(explainer)
    for again in (
        pickle.loads(pickle.dumps(explainer)),
        skops.io.loads(data, trusted=skops.io.get_untrusted_types(data=data)),
    ):
        reread = again.predict_or_defer(X, groups)
        assert_array_equal(reread.deferred, found.deferred)
        assert_array_equal(reread.thresholds, found.thresholds)
        assert_array_equal(reread.reason, found.reason)
        assert reread.promise == found.promise
    assert skops.io.get_untrusted_types(data=data) == ["shafer.explain.explainer.Explainer"]


def test_classifiers_in_a_skops_file() -> None:
    sources = [("a", LogisticRegression(), [0, 1]), ("b", LogisticRegression(), [2, 3])]
    for clf in (shafer.EvidentialClassifier(), shafer.EvidentialVotingClassifier(sources)):
        clf.fit(X[::2], Y[::2]).control_error(X[1::2], Y[1::2], 0.3, by=GROUPS[1::2])
        data = skops.io.dumps(clf)
        trusted = skops.io.get_untrusted_types(data=data)
        assert not any("deferring" in name for name in trusted)
        found = skops.io.loads(data, trusted=trusted).predict_or_defer(X, GROUPS)
        assert_array_equal(found.deferred, clf.predict_or_defer(X, GROUPS).deferred)


def test_conformal_sets_by_group_after_loading() -> None:
    explainer = shafer.Explainer(MODEL, X[::2])
    explainer.conformalize(X[1::2], Y[1::2], 0.8, by=GROUPS[1::2])
    again = pickle.loads(pickle.dumps(explainer))
    sets = explainer.predict_set(X, by=GROUPS)
    assert_array_equal(again.predict_set(X, by=GROUPS), sets)


def test_states_of_format_3_are_read() -> None:
    explainer = shafer.Explainer(MODEL, X[::2]).conformalize(X[1::2], Y[1::2])
    state = explainer.__getstate__()
    assert state["format"] == 7
    for name in ("deferral", "schema", "threshold"):
        del state[name]
    for name in ("by", "column"):
        del state["conformal"][name]
    again = shafer.Explainer.__new__(shafer.Explainer)
    again.__setstate__({**state, "format": 3})
    assert again.deferral is None
    assert_array_equal(again.predict_set(X), explainer.predict_set(X))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "luck"}, "promise of the deferral must be one of"),
        ({"kind": "mean_loss"}, "promise of the deferral must be one of"),
        ({"threshold": np.array([np.nan])}, "must have 1 threshold"),
        ({"threshold": np.zeros(2)}, "must have 1 threshold"),
        ({"by": ("a", "b")}, "must have 2 threshold"),
        ({"scale": {"luck": np.zeros(3)}}, "must measure"),
        ({"scale": {"ignorance": np.zeros((3, 2))}}, "one number for each row"),
        ({"loss": np.zeros((2, 2)), "kind": "mean_loss"}, "loss must have 3 rows"),
    ],
)
def test_a_damaged_deferral_is_an_error(changes: dict[str, Any], message: str) -> None:
    state = shafer.Explainer(MODEL, X[::2]).control_error(X[1::2], Y[1::2], 0.2).__getstate__()
    again = shafer.Explainer.__new__(shafer.Explainer)
    with pytest.raises(ValueError, match=message):
        again.__setstate__({**state, "deferral": {**state["deferral"], **changes}})
    with pytest.raises(ValueError, match="damaged"):
        again.__setstate__({**state, "deferral": {}})
