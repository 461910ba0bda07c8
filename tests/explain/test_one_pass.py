"""Rows pass through transformers and networks once per call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import shafer

X, Y = load_iris(return_X_y=True)

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "grouped": {"groups": "one"},
    "tempered": {"temper": 0.5},
    "laplace": {"moderate": "laplace", "temper": 1.0},
    "laplace+discount": {"moderate": "laplace+discount", "temper": 0.7},
    "discount, grouped": {"groups": "one", "moderate": "laplace+discount", "temper": 0.7},
    "conditional": {"missing": "conditional"},
    "conditional, discount": {
        "missing": "conditional",
        "moderate": "laplace+discount",
        "temper": 0.7,
    },
}


class Counter(TransformerMixin, BaseEstimator):
    """Passes its rows on, and counts how often it is asked to."""

    def fit(self, X: Any, y: Any = None) -> Counter:
        self.calls, self.fitted_ = 0, True
        return self

    def transform(self, X: Any) -> Any:
        self.calls += 1
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _calls(counter: Counter, call: Any) -> int:
    counter.calls = 0
    call(X)
    return counter.calls


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_transformer_is_called_once(options: dict[str, Any]) -> None:
    inner = make_pipeline(Counter(), LogisticRegression(max_iter=1000))
    clf = shafer.EvidentialClassifier(inner, **options).fit(X, Y)
    counter = clf.estimator_[0]
    clf.explainer_.typicality(X)  # the background passes once, for reasons of deferral
    for call in (
        clf.evidence,
        clf.predict_set,
        clf.predict_proba,
        clf.predict,
        clf.explainer_,
        lambda rows: clf.explainer_.observe(rows).bet,
        lambda rows: clf.predict(rows, rule="belief"),
        lambda rows: clf.predict_set(rows, rule="interval_dominance"),
        lambda rows: clf.explainer_.temper(rows, Y),
        lambda rows: clf.conformalize(rows, Y),
        clf.predict_set,
        clf.decide,
        lambda rows: clf.control_error(rows, Y, error=0.3),
        clf.predict_or_defer,
    ):
        assert _calls(counter, call) == 1


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_background_passes_once(options: dict[str, Any]) -> None:
    model = make_pipeline(Counter(), LogisticRegression(max_iter=1000)).fit(X, Y)
    given = {name: value for name, value in options.items() if name != "temper"}
    model[0].calls = 0
    shafer.Explainer(model, X, check=False, **given)
    assert model[0].calls == 1
    shafer.Explainer(model, X, **given)
    assert model[0].calls == 4  # the check passes 64 rows through the explainer and the model


@pytest.mark.parametrize("options", [{}, {"combination": "cautious"}, {"reliability": [0.8, 0.6]}])
def test_voting_passes_each_source_once(options: dict[str, Any]) -> None:
    sources = [
        (name, make_pipeline(Counter(), LogisticRegression(max_iter=1000)), columns)
        for name, columns in {"sepal": [0, 1], "petal": [2, 3]}.items()
    ]
    clf = shafer.EvidentialVotingClassifier(sources, **options).fit(X, Y)
    counters = [source.estimator[0] for source in clf.sources_.values()]
    for call in (
        clf.evidence,
        clf.predict_set,
        clf.predict_proba,
        clf.predict,
        lambda rows: clf.predict(rows, rule="belief"),
        lambda rows: clf.predict_set(rows, rule="interval_dominance"),
        lambda rows: clf.control_error(rows, Y, error=0.3),
        clf.predict_or_defer,
    ):
        assert [_calls(counter, call) for counter in counters] == [1, 1]


class Network(torch.nn.Module):
    """Counts its forward passes."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden, self.head = torch.nn.Linear(4, 8), torch.nn.Linear(8, 3)
        self.calls = 0

    def forward(self, rows: Any) -> Any:
        self.calls += 1
        return self.head(torch.relu(self.hidden(rows)))


@pytest.mark.parametrize("groups", [None, "one"])
@pytest.mark.parametrize("moderate", [None, "laplace", "laplace+discount"])
def test_a_network_is_called_once(groups: Any, moderate: Any) -> None:
    torch.manual_seed(0)
    network = Network()
    rows = torch.tensor(X, dtype=torch.float32)
    explainer = shafer.Explainer(
        network, rows, groups, moderate=moderate, layer="head", check=False
    )
    assert network.calls == 1
    explainer.temper(rows, Y)
    explainer.conformalize(rows, Y)
    for call in (explainer, explainer.predict_set, explainer.predict_proba):
        network.calls = 0
        call(rows)
        assert network.calls == 1
    expected = torch.softmax(network(rows), dim=1).detach().numpy()
    plain = shafer.Explainer(network, rows, groups)(rows)
    assert_allclose(plain.probability.numpy(), expected, atol=1e-6)


def test_calibration_makes_new_objects() -> None:
    explainer = shafer.Explainer(
        LogisticRegression(max_iter=1000).fit(X, Y), X, moderate="laplace+discount"
    )
    before = explainer.calibration
    reliability = before.reliability(explainer.weighed(X)[0], np.full((150, 3), 1 / 3))
    explainer.temper(X[::2] + 1.0, Y[::2])
    after = before.reliability(explainer.weighed(X)[0], np.full((150, 3), 1 / 3))
    assert before.tempering == 1.0
    assert_allclose(after, reliability)
    assert explainer.calibration.tempering != 1.0


def test_a_failed_temper_changes_nothing() -> None:
    model = LogisticRegression(max_iter=1000).fit(X, Y)
    explainer = shafer.Explainer(model, X, temper=0.5).conformalize(X, Y)
    with pytest.raises(ValueError, match="Unknown class label"):
        explainer.temper(X, np.full(150, 7))
    assert explainer.factor == 0.5
    assert explainer.conformal is not None


def test_tempering_can_be_given() -> None:
    model = LogisticRegression(max_iter=1000).fit(X, Y)
    ev = shafer.Explainer(model, X, temper=0.5)(X)
    assert_allclose(ev.weights, 0.5 * shafer.Explainer(model, X)(X).weights)
    for wrong in (0.0, -1.0, np.nan, np.inf, True, "cv"):
        with pytest.raises(ValueError, match="temper must be a finite number > 0"):
            shafer.Explainer(model, X, temper=wrong)
