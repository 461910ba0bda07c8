"""AdaBoost: its votes as a softmax of a sum, by features and by members."""

from __future__ import annotations

from itertools import combinations
from math import factorial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import AdaBoostClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import shafer

WINE, KIND = load_wine(return_X_y=True)
KIND = np.array([30, 10, 20])[KIND]  # labels that are not positions
CANCER, GROWTH = load_breast_cancer(return_X_y=True)
GROWTH = np.array(["malignant", "benign"])[GROWTH]
DATA = {2: (CANCER, GROWTH), 3: (WINE, KIND)}


def boosted(n_classes: int, member: Any = None, n_estimators: int = 8) -> Any:
    X, y = DATA[n_classes]
    return AdaBoostClassifier(member, n_estimators=n_estimators, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def stumps() -> dict[int, Any]:
    return {n_classes: boosted(n_classes) for n_classes in DATA}


@pytest.fixture(scope="module")
def deep() -> dict[int, Any]:
    tree = DecisionTreeClassifier(max_depth=3, max_features=4, random_state=0)
    return {n_classes: boosted(n_classes, tree, 5) for n_classes in DATA}


def vote(model: Any, votes: Any, share: float) -> Any:
    """Return what votes add to the logits of Zhu et al. (2009), Eq. (15), centred over classes."""
    n_classes = len(model.classes_)
    step = np.where(np.asarray(votes)[:, None] == model.classes_, 1.0, -1.0 / (n_classes - 1))
    # Two classes: scikit-learn takes the sum of both columns, half of it for each class.
    return share * step / (n_classes - 1)


def shares(model: Any) -> Any:
    return model.estimator_weights_ / model.estimator_weights_.sum()


@pytest.mark.parametrize("components", ["feature", "member"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_its_own_probabilities(stumps: Any, deep: Any, n_classes: int, components: str) -> None:
    X, _ = DATA[n_classes]
    for model in (stumps[n_classes], deep[n_classes]):
        ev = shafer.Explainer(model, X, components=components)(X)
        assert_allclose(ev.probability, model.predict_proba(X), rtol=0, atol=1e-12)
        assert ev.classes.tolist() == model.classes_.tolist()
        assert_allclose(ev.weights.sum(axis=1), ev.logits, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_member_adds_its_vote(deep: Any, n_classes: int) -> None:
    model, (X, _) = deep[n_classes], DATA[n_classes]
    ev = shafer.Explainer(model, X, components="member")(X)
    assert ev.component_names == (*(f"member {t}" for t in range(5)), "base rate")
    for t, share in enumerate(shares(model)):
        step = vote(model, model.estimators_[t].predict(X), share)
        assert_allclose(ev.weights[:, t], step - step.mean(axis=0), rtol=0, atol=1e-12)


def expected_votes(model: Any, row: Any, known: tuple[int, ...]) -> Any:
    """Follow a row where the feature is known; else both ways, by the shares of training rows."""

    def below(member: Any, share: float, node: int) -> Any:
        tree = member.tree_
        left, right = tree.children_left[node], tree.children_right[node]
        if left < 0:
            label = model.classes_[tree.value[node, 0].argmax()]
            return vote(model, [label], share)[0]
        if tree.feature[node] in known:
            goes_left = np.float32(row[tree.feature[node]]) <= tree.threshold[node]
            return below(member, share, left if goes_left else right)
        cover = tree.weighted_n_node_samples
        part = cover[left] / (cover[left] + cover[right])
        return part * below(member, share, left) + (1 - part) * below(member, share, right)

    pairs = zip(model.estimators_, shares(model), strict=True)
    return sum(below(member, share, 0) for member, share in pairs)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_features_are_shapley_values(n_classes: int) -> None:
    X, y = DATA[n_classes]
    X = X[:, :4]
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = AdaBoostClassifier(tree, n_estimators=3, random_state=0).fit(X, y)
    explainer = shafer.Explainer(model, X)
    rows = X[[0, 70, 140]]
    found = explainer(rows).weights[:, :4]
    shapley = []
    for row in rows:
        values = {
            known: expected_votes(model, row, known)
            for size in range(5)
            for known in combinations(range(4), size)
        }
        own = np.zeros((4, n_classes))
        for j in range(4):
            for known in values:
                if j not in known:
                    size = factorial(len(known)) * factorial(3 - len(known)) / factorial(4)
                    own[j] += size * (values[tuple(sorted((*known, j)))] - values[known])
        shapley.append(own)
    # A weight is relative to the mean over the background, which is the same for all rows.
    assert_allclose(found[1:] - found[0], np.array(shapley[1:]) - shapley[0], rtol=0, atol=1e-12)


def test_sparse_rows(stumps: Any) -> None:
    rows = sparse.csr_matrix(WINE)
    ev = shafer.Explainer(stumps[3], rows)(rows)
    assert_allclose(ev.weights, shafer.Explainer(stumps[3], WINE)(WINE).weights, atol=1e-12)


def test_members_that_are_no_trees() -> None:
    model = boosted(3, GaussianNB(), 3)
    ev = shafer.Explainer(model, WINE)(WINE)
    assert ev.component_names[:2] == ("member 0", "member 1")
    assert_allclose(ev.probability, model.predict_proba(WINE), rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="components must be 'member' for this model"):
        shafer.Explainer(model, WINE, components="feature")


class _Contrary(DecisionTreeClassifier):
    def predict(self, X: Any) -> Any:
        return super().predict(X)[::-1]


def test_trees_that_vote_in_another_way() -> None:
    model = boosted(2, DecisionTreeClassifier(max_depth=1), 2)
    for member in model.estimators_:
        member.__class__ = _Contrary
    with pytest.raises(shafer.UnsupportedModelError, match="components='member'"):
        shafer.Explainer(model, CANCER)


@pytest.mark.parametrize(("method", "n_classes"), [("sigmoid", 2), ("temperature", 3)])
def test_calibrated(method: str, n_classes: int) -> None:
    X, y = DATA[n_classes]
    inside = AdaBoostClassifier(n_estimators=4, random_state=0)
    model = CalibratedClassifierCV(inside, method=method, ensemble=False, cv=2).fit(X, y)
    ev = shafer.Explainer(model, X)(X)
    assert_allclose(ev.probability, model.predict_proba(X), rtol=0, atol=1e-12)


def test_boosting_that_stops_at_once() -> None:
    X = np.array([[0.0], [1.0], [0.0], [1.0]])
    model = AdaBoostClassifier(n_estimators=5, random_state=0).fit(X, ["b", "a", "b", "a"])
    assert len(model.estimators_) < len(model.estimator_weights_) or len(model.estimators_) == 1
    ev = shafer.Explainer(model, X)(X)
    assert_allclose(ev.probability, model.predict_proba(X), rtol=0, atol=1e-12)


def test_trained_again_is_noticed() -> None:
    model = boosted(3, n_estimators=2)
    explainer = shafer.Explainer(model, WINE)
    model.fit(WINE[::2], KIND[::2])
    with pytest.raises(ValueError, match="trained again"):
        explainer(WINE)
