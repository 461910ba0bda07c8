"""Models that hold another, and are explained by it."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

import shafer

X, Y = load_iris(return_X_y=True)


def test_self_training() -> None:
    some = np.where(np.arange(150) % 3 == 0, -1, Y)
    model = SelfTrainingClassifier(LogisticRegression(max_iter=1000)).fit(X, some)
    ev = shafer.Explainer(model, X)(X)
    assert_allclose(ev.probability, model.predict_proba(X), atol=1e-10)


def test_wrapped_again() -> None:
    inner = make_pipeline(StandardScaler(), shafer.EvidentialClassifier(LogisticRegression()))
    model = FrozenEstimator(inner.fit(X, Y))
    ev = shafer.Explainer(model, X, "source")(X)
    assert_allclose(ev.probability, inner.predict_proba(X), atol=1e-10)
    assert ev.component_names == ("x0", "x1", "x2", "x3")
