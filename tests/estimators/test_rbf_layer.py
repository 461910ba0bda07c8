"""``RBFLayer`` as scikit-learn sees it, and as a network."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import shafer
from shafer.models import RBFLayer


@parametrize_with_checks([RBFLayer(5, random_state=0), RBFLayer(width=2.0)])
def test_scikit_learn_conventions(estimator: Any, check: Any) -> None:
    check(estimator)


def test_units_are_gaussians_around_centres() -> None:
    X, _ = load_iris(return_X_y=True)
    layer = RBFLayer(6, random_state=0).fit(X)
    assert layer.centres_.shape == (6, 4)
    at_centres = layer.transform(layer.centres_)
    assert_allclose(np.diag(at_centres), 1.0)
    distance = np.linalg.norm(layer.centres_[0] - layer.centres_[1])
    assert_allclose(at_centres[0, 1], np.exp(-(distance**2) / (2 * layer.width_**2)))
    nearest = np.linalg.norm(layer.centres_[:, None] - layer.centres_, axis=2) + 99 * np.eye(6)
    assert_allclose(layer.width_, nearest.min(axis=1).mean())


def test_a_network_of_it() -> None:
    X, y = load_iris(return_X_y=True)
    network = make_pipeline(RBFLayer(15, random_state=0), LogisticRegression(C=100)).fit(X, y)
    assert network.score(X, y) > 0.94
    ev = shafer.Explainer(network, X, prior="shared")(X)
    assert ev.component_names == tuple(f"rbflayer{m}" for m in range(15))
    assert_allclose(ev.probability, network.predict_proba(X), atol=1e-10)


def test_few_rows_and_bad_parameters() -> None:
    X, _ = load_iris(return_X_y=True)
    assert RBFLayer(20).fit(X[:3]).centres_.shape == (3, 4)
    assert RBFLayer(1).fit(X).width_ == 1.0
    with pytest.raises(ValueError, match="n_centres must be at least 1; got 0"):
        RBFLayer(0).fit(X)
    with pytest.raises(ValueError, match="width must be positive; got 0.0"):
        RBFLayer(width=0.0).fit(X)
