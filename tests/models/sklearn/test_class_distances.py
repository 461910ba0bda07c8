"""Quadratic discriminant analysis and nearest centroids: squared distances as sums of features."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid

import shafer

WINE, KIND = load_wine(return_X_y=True)
KIND = np.array([30, 10, 20])[KIND]  # labels that are not positions
CANCER, GROWTH = load_breast_cancer(return_X_y=True)
GROWTH = np.array(["malignant", "benign"])[GROWTH]
MODELS = [
    (QuadraticDiscriminantAnalysis(), WINE, KIND),
    (QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto"), WINE, KIND),
    (QuadraticDiscriminantAnalysis(priors=[0.3, 0.7], reg_param=0.1), CANCER, GROWTH),
    (NearestCentroid(priors="empirical"), WINE, KIND),
    (NearestCentroid(priors="empirical", shrink_threshold=2.0), CANCER, GROWTH),
]


@pytest.mark.parametrize(("model", "X", "y"), MODELS)
def test_its_own_probabilities(model: Any, X: Any, y: Any) -> None:
    model.fit(X, y)
    ev = shafer.Explainer(model, X)(X)
    assert_allclose(ev.probability, model.predict_proba(X), rtol=0, atol=1e-12)
    assert ev.classes.tolist() == model.classes_.tolist()
    assert_allclose(ev.weights.sum(axis=1), ev.logits, rtol=1e-12, atol=1e-10)


def test_single_precision() -> None:
    X = WINE[:, :3].astype(np.float32)
    model = QuadraticDiscriminantAnalysis().fit(X, KIND)
    ev = shafer.Explainer(model, X)(X)
    assert_allclose(ev.probability, model.predict_proba(X), rtol=0, atol=1e-6)


def test_shares_are_shapley_values_against_the_class_mean() -> None:
    X = WINE[:, :4]
    model = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, KIND)
    rows = X[[3, 90]]
    found = np.zeros((2, 4, 3))
    for k, (mean, covariance) in enumerate(zip(model.means_, model.covariance_, strict=True)):
        inverse = np.linalg.inv(covariance)

        def value(row: Any, known: tuple[int, ...], mean: Any = mean, P: Any = inverse) -> Any:
            away = np.zeros(4)
            away[list(known)] = (row - mean)[list(known)]
            return -0.5 * away @ P @ away

        for i, row in enumerate(rows):
            for j in range(4):
                others = [other for other in range(4) if other != j]
                for size in range(4):
                    for known in combinations(others, size):
                        step = value(row, (*known, j)) - value(row, known)
                        found[i, j, k] += step / (4 * comb(3, size))
    found -= found.mean(axis=2, keepdims=True)
    weights = shafer.Explainer(model, X)(rows).weights[:, :4]
    assert_allclose(weights[1] - weights[0], found[1] - found[0], rtol=1e-9)


def test_without_correlation_it_is_naive_bayes() -> None:
    grid = np.stack(np.meshgrid([-1.0, 1.0], [-2.0, 2.0]), axis=-1).reshape(-1, 2)
    X, y = np.concatenate([grid, 3 * grid + 1]), np.repeat(["a", "b"], 4)
    quadratic = QuadraticDiscriminantAnalysis().fit(X, y)
    bayes = GaussianNB(var_smoothing=0.0).fit(X, y)
    found = shafer.Explainer(quadratic, X)(X).weights
    assert_allclose(found, shafer.Explainer(bayes, X)(X).weights, rtol=0, atol=1e-12)


def test_centroids_of_sparse_rows() -> None:
    model = NearestCentroid(priors=[0.2, 0.3, 0.5]).fit(WINE, KIND)
    ev = shafer.Explainer(model, WINE)(sparse.csr_matrix(WINE))
    assert_allclose(ev.probability, model.predict_proba(WINE), rtol=0, atol=1e-12)


def test_equal_priors_predict_in_another_way() -> None:
    """scikit-learn then predicts by distances that are not scaled."""
    model = NearestCentroid().fit(WINE, KIND)
    assert (model.predict(WINE) != model.classes_[model.predict_proba(WINE).argmax(axis=1)]).any()
    with pytest.raises(shafer.UnsupportedModelError, match="State how it answers"):
        shafer.Explainer(model, WINE)
    ev = shafer.Explainer(model, WINE, loss=1 - np.eye(3))(WINE)
    assert_allclose(ev.probability, model.predict_proba(WINE), rtol=0, atol=1e-12)
