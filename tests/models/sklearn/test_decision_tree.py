"""Decision trees whose leaves have rows of all classes, and one-vs-rest of two classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier

import shafer

CANCER, GROWTH = load_breast_cancer(return_X_y=True)
GROWTH = np.array(["malignant", "benign"])[GROWTH]
WINE, KIND = load_wine(return_X_y=True)
KIND = np.array([30, 10, 20])[np.where(np.arange(178) % 7, KIND, (KIND + np.arange(178)) % 3)]


@pytest.fixture(scope="module")
def wine_tree() -> Any:
    tree = DecisionTreeClassifier(max_depth=2, min_samples_leaf=40, random_state=0)
    return tree.fit(WINE, KIND)


def test_its_own_probabilities(wine_tree: Any) -> None:
    two = DecisionTreeClassifier(max_leaf_nodes=3, min_samples_leaf=100).fit(CANCER, GROWTH)
    for model, X in ((wine_tree, WINE), (two, CANCER)):
        assert model.get_depth() > 1
        ev = shafer.Explainer(model, X)(X)
        assert_allclose(ev.probability, model.predict_proba(X), rtol=0, atol=1e-12)
        assert ev.classes.tolist() == model.classes_.tolist()
        assert_allclose(ev.weights.sum(axis=1), ev.logits, rtol=0, atol=1e-12)


def test_a_feature_that_no_split_asks_about_has_no_weight(wine_tree: Any) -> None:
    asked = np.unique(wine_tree.tree_.feature[wine_tree.tree_.feature >= 0])
    weights = shafer.Explainer(wine_tree, WINE)(WINE).weights[:, :-1]
    used = np.flatnonzero(np.abs(weights).max(axis=(0, 2)) > 1e-12)
    assert used.tolist() == asked.tolist()


def test_missing_values_and_sparse_rows(wine_tree: Any) -> None:
    gaps = WINE.copy()
    gaps[::3, wine_tree.tree_.feature[0]] = np.nan
    model = DecisionTreeClassifier(max_depth=2, min_samples_leaf=40).fit(gaps, KIND)
    ev = shafer.Explainer(model, gaps)(gaps)
    assert_allclose(ev.probability, model.predict_proba(gaps), rtol=0, atol=1e-12)
    ev = shafer.Explainer(wine_tree, WINE)(sparse.csr_matrix(WINE))
    assert_allclose(ev.probability, wine_tree.predict_proba(WINE), rtol=0, atol=1e-12)


def test_a_leaf_of_one_class_is_refused() -> None:
    model = DecisionTreeClassifier().fit(CANCER, GROWTH)
    with pytest.raises(shafer.UnsupportedModelError, match="infinite evidence"):
        shafer.Explainer(model, CANCER)


def test_one_vs_rest_of_two_classes_is_its_model() -> None:
    X = CANCER[:, :5]
    model = OneVsRestClassifier(LogisticRegression(max_iter=5000)).fit(X, GROWTH)
    ev = shafer.Explainer(model, X)(X)
    assert_allclose(ev.probability, model.predict_proba(X), rtol=0, atol=1e-12)
    inside = shafer.Explainer(model.estimators_[0], X, classes=model.classes_)(X)
    assert_allclose(ev.weights, inside.weights, rtol=0, atol=1e-12)
    assert ev.classes.tolist() == ["benign", "malignant"]
