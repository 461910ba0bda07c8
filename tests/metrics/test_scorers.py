from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from shafer import metrics
from shafer.metrics import SetScorer, set_scorer

SETS = {
    "u65": (metrics.u65_score, 1),
    "u80": (metrics.u80_score, 1),
    "discounted_utility": (metrics.discounted_utility_score, 1),
    "coverage": (metrics.coverage_score, 1),
    "size_stratified_coverage": (metrics.size_stratified_coverage_score, 1),
    "worst_class_coverage": (metrics.worst_class_coverage_score, 1),
    "set_error": (metrics.set_error_rate, -1),
    "singleton_error": (metrics.singleton_error_rate, -1),
}
SIZES = {
    "mean_set_size": (metrics.mean_set_size, -1),
    "mean_imprecision": (metrics.mean_imprecision, -1),
    "singleton_rate": (metrics.singleton_rate, 1),
    "rejection_rate": (metrics.rejection_rate, -1),
}
AREAS = ("error_imprecision_area", "risk_coverage_area", "excess_risk_coverage_area")


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    """Two poor features, so that sets are needed, and labels that are not positions."""
    X, y = load_iris(return_X_y=True)
    return X[:, :2], np.array(["setosa", "versicolor", "virginica"])[y]


@pytest.fixture(scope="module")
def clf(data: tuple[np.ndarray, np.ndarray]) -> shafer.EvidentialClassifier:
    clf = shafer.EvidentialClassifier(groups="one").fit(*data)
    return clf.conformalize(*data, coverage=0.8)


@pytest.mark.parametrize("name", [*SETS, *SIZES])
@pytest.mark.parametrize("rule", [None, "plausibility", "interval_dominance"])
def test_scores_are_the_metrics_of_predict_set(
    data: tuple[np.ndarray, np.ndarray],
    clf: shafer.EvidentialClassifier,
    name: str,
    rule: str | None,
) -> None:
    X, y = data
    weight = np.linspace(0.0, 1.0, len(y))
    y_set = clf.predict_set(X) if rule is None else clf.predict_set(X, rule=rule)
    function, sign = (SETS | SIZES)[name]
    arrays: tuple[Any, ...] = (y, y_set) if name in SETS else (y_set,)
    options: dict[str, Any] = {"labels": clf.classes_} if name in SETS else {}
    scorer = set_scorer(name, rule=rule)
    assert scorer(clf, X, y) == sign * function(*arrays, **options)
    expected = sign * function(*arrays, sample_weight=weight, **options)
    assert scorer(clf, X, y, sample_weight=weight) == expected


@pytest.mark.parametrize("name", AREAS)
def test_areas_are_of_probabilities(
    data: tuple[np.ndarray, np.ndarray], clf: shafer.EvidentialClassifier, name: str
) -> None:
    X, y = data
    p = clf.predict_proba(X)
    arrays = (p,) if name == "error_imprecision_area" else (clf.predict(X), p.max(axis=1))
    assert set_scorer(name)(clf, X, y) == -getattr(metrics, name)(y, *arrays, labels=clf.classes_)
    with pytest.raises(ValueError, match=f"'{name}' is computed from probabilities.*rule='belief'"):
        set_scorer(name, rule="belief")


def test_options_go_where_they_belong(
    data: tuple[np.ndarray, np.ndarray], clf: shafer.EvidentialClassifier
) -> None:
    X, y = data
    scorer = set_scorer("discounted_utility", utility=[1.0, 0.5, 0.1])
    assert scorer(clf, X, y) == metrics.discounted_utility_score(
        y, clf.predict_set(X), [1.0, 0.5, 0.1], labels=clf.classes_
    )

    class Patient:
        """Keeps what it was asked."""

        classes_ = clf.classes_

        def predict_set(self, X: Any, **asked: Any) -> np.ndarray:
            self.asked = asked
            return clf.predict_set(X)

    patient = Patient()
    set_scorer("u80", rule="hurwicz", alpha=0.3)(patient, X, y)
    assert patient.asked == {"rule": "hurwicz", "alpha": 0.3}
    set_scorer("size_stratified_coverage", bins=[3])(patient, X, y)
    assert patient.asked == {}


@pytest.mark.parametrize("scoring", ["u65", "mean_set_size", "error_imprecision_area"])
def test_grid_search(data: tuple[np.ndarray, np.ndarray], scoring: str) -> None:
    rule = None if scoring == "error_imprecision_area" else "interval_dominance"
    X, y = data
    clf = shafer.EvidentialClassifier(
        make_pipeline(StandardScaler(), LogisticRegression()), groups="one"
    )
    grid = {"estimator__logisticregression__C": [1e-4, 1.0]}
    scorer = set_scorer(scoring, rule)
    search = GridSearchCV(clf, grid, scoring=scorer, cv=3, error_score="raise")
    search = clone(search).fit(X, y)
    best = search.best_params_["estimator__logisticregression__C"]
    assert best == 1.0  # nearly no evidence at 1e-4: large sets, many errors
    assert search.score(X, y) == scorer(search.best_estimator_, X, y)


def test_nested_cross_validation(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    scorer = set_scorer("u65", rule="interval_dominance")
    inner = shafer.EvidentialClassifier(LogisticRegression(), groups="one")
    search = GridSearchCV(inner, {"estimator__C": [0.01, 1.0]}, scoring=scorer, cv=3)
    assert scorer(search.fit(X, y), X, y) == scorer(search.best_estimator_, X, y)
    assert cross_val_score(search, X, y, scoring=scorer, cv=3).min() > 0.5


def test_several_metrics_at_once(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    scoring = {
        name: set_scorer(name, "interval_dominance")
        for name in ("u65", "u80", "coverage", "mean_set_size")
    }
    found = cross_validate(
        shafer.EvidentialClassifier(groups="one"), X, y, scoring=scoring, cv=3, error_score="raise"
    )
    assert np.all(found["test_u80"] >= found["test_u65"])
    assert np.all(found["test_mean_set_size"] <= -1.0)
    assert np.all((found["test_coverage"] > 0.7) & (found["test_coverage"] <= 1.0))


def test_weights_are_routed(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    clf = shafer.EvidentialClassifier(groups="one")
    weight = np.where(y == "setosa", 1.0, 0.0)  # the class that is easy
    with sklearn.config_context(enable_metadata_routing=True):
        clf = clf.set_fit_request(sample_weight=False)
        plain = set_scorer("u65", "interval_dominance")
        scorer = plain.set_score_request(sample_weight=True)
        easy = cross_val_score(clf, X, y, scoring=scorer, params={"sample_weight": weight}, cv=3)
        every = cross_val_score(clf, X, y, scoring=plain, cv=3)
    assert np.all(easy > every)


def test_it_is_a_value() -> None:
    scorer = set_scorer("u65", rule="hurwicz", alpha=0.3)
    assert isinstance(scorer, SetScorer)
    assert repr(scorer) == "set_scorer('u65', rule='hurwicz', alpha=0.3)"
    weighted = scorer.set_score_request(sample_weight=True)
    assert repr(weighted) == f"{scorer!r}.set_score_request(sample_weight=True)"
    for one in (scorer, weighted):
        assert pickle.loads(pickle.dumps(one)) == one
        assert eval(repr(one), {"set_scorer": set_scorer}) == one
    assert scorer != weighted
    assert len({scorer, set_scorer("u65", rule="hurwicz", alpha=0.3), weighted}) == 2


def test_wrong_use(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    with pytest.raises(ValueError, match="metric must be one of 'u65', 'u80', .* got 'u70'"):
        set_scorer("u70")
    with pytest.raises(TypeError, match=r"needs an estimator with predict_set; got Logistic.*Wrap"):
        set_scorer("u65")(LogisticRegression().fit(X, y), X, y)
