"""Subclasses of supported models: those that may have other probabilities are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB

import shafer

X, Y = load_iris(return_X_y=True)
X = X - X.mean(axis=0)


class _Hook(GaussianNB):
    def _joint_log_likelihood(self, X: Any) -> Any:
        return super()._joint_log_likelihood(X) * 2


class _Log(BernoulliNB):
    def predict_log_proba(self, X: Any) -> Any:
        return super().predict_log_proba(X) / 2


class _Decision(LogisticRegression):
    def decision_function(self, X: Any) -> Any:
        return 3 * super().decision_function(X)


class _Mixin:
    def predict_joint_log_proba(self, X: Any) -> Any:
        return np.zeros((len(X), 3))


class _Mixed(_Mixin, GaussianNB):
    pass


class _Harmless(GaussianNB):
    """Overrides only what takes no part in the probabilities."""

    note = "mine"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return super().fit(X, y, sample_weight)

    def predict(self, X: Any) -> Any:
        return super().predict(X)[::-1]

    def describe(self) -> str:
        return self.note


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        (_Hook, "_joint_log_likelihood"),
        (_Log, "predict_log_proba"),
        (_Decision, "decision_function"),
        (_Mixed, "predict_joint_log_proba"),
    ],
)
def test_refused(kind: Any, method: str) -> None:
    with pytest.raises(shafer.UnsupportedModelError, match=f"overrides {method} of .*Pass a plain"):
        shafer.Explainer(kind().fit(X, Y), X)


def test_a_method_of_the_model_itself() -> None:
    model = GaussianNB().fit(X, Y)
    model.predict_proba = lambda rows: np.full((len(rows), 3), 1 / 3)
    with pytest.raises(shafer.UnsupportedModelError, match="overrides predict_proba"):
        shafer.Explainer(model, X)


def test_accepted() -> None:
    model = _Harmless().fit(X, Y)
    assert_allclose(shafer.Explainer(model, X)(X).probability, model.predict_proba(X))
