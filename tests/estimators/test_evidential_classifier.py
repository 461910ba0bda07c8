"""``EvidentialClassifier`` as scikit-learn sees it, and as its users do."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lightgbm import LGBMClassifier
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from shafer import EvidentialClassifier, Explainer
from shafer.datasets import load_heart


def _not_ours(estimator: EvidentialClassifier) -> dict[str, str]:
    if isinstance(estimator.estimator, Pipeline):
        reason = "sample weights are passed to the last step only, not to the scaler before it"
        return {"check_sample_weight_equivalence_on_dense_data": reason}
    if estimator.guard:
        reason = "the Gaussian of the inputs shrinks correlations by the number of rows"
        return {"check_sample_weight_equivalence_on_dense_data": reason}
    if estimator.temper == "cv" or estimator.moderate is not None:
        reason = "repeated rows may be in several folds, but a row with a sample weight is in one"
        kinds = ("dense", "sparse")
        return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}
    return {}


@parametrize_with_checks(
    [
        EvidentialClassifier(),
        EvidentialClassifier(LogisticRegression(C=0.5), groups="one"),
        EvidentialClassifier(make_pipeline(StandardScaler(), LogisticRegression()), "source"),
        EvidentialClassifier(GaussianNB()),
        EvidentialClassifier(temper=0.5),
        EvidentialClassifier(temper="cv"),
        EvidentialClassifier(moderate="laplace"),
        EvidentialClassifier(groups="one", moderate="laplace+discount"),
        EvidentialClassifier(guard=True, prior="own"),
        EvidentialClassifier(errors="laplace", groups="auto"),
    ],
    expected_failed_checks=_not_ours,
)
def test_scikit_learn_conventions(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(params=["binary", "multinomial", "cross-validated"])
def fitted(request: pytest.FixtureRequest) -> tuple[EvidentialClassifier, Any, Any]:
    if request.param == "binary":
        X, y = load_heart(return_X_y=True)
        inner: Any = LogisticRegression(C=np.inf, solver="newton-cholesky")
    else:
        X, y = load_iris(return_X_y=True)
        inner = LogisticRegression(max_iter=2000)
    if request.param == "cross-validated":
        inner = LogisticRegressionCV(
            Cs=3,
            cv=3,
            max_iter=2000,
            l1_ratios=(0,),
            scoring="neg_log_loss",
            use_legacy_attributes=False,
        )
    return EvidentialClassifier(inner).fit(X, y), X, y


def test_it_predicts_as_the_inner_model(fitted: tuple[EvidentialClassifier, Any, Any]) -> None:
    clf, X, _ = fitted
    assert_array_equal(clf.predict(X), clf.estimator_.predict(X))
    assert_array_equal(clf.predict_proba(X), clf.estimator_.predict_proba(X))
    assert_allclose(clf.evidence(X).probability, clf.predict_proba(X), rtol=1e-9)


def test_sets(fitted: tuple[EvidentialClassifier, Any, Any]) -> None:
    clf, X, _ = fitted
    chosen = clf.predict_set(X, "interval_dominance")
    assert chosen.dtype == bool
    assert chosen.shape == (len(X), len(clf.classes_))
    assert_array_equal(chosen, clf.evidence(X).decide("interval_dominance"))
    assert chosen.any(axis=1).all()
    one = clf.predict_set(X, rule="plausibility")
    assert_array_equal(clf.classes_[one.argmax(axis=1)], clf.predict(X))
    for rule in ("belief", "pignistic"):
        score = getattr(clf.evidence(X), rule)
        assert_array_equal(clf.predict(X, rule=rule), clf.classes_[score.argmax(axis=1)])


def test_rules_of_predict(fitted: tuple[EvidentialClassifier, Any, Any]) -> None:
    clf, X, _ = fitted
    with pytest.raises(ValueError, match="predict returns one class.*predict_set"):
        clf.predict(X, rule="interval_dominance")
    with pytest.raises(ValueError, match="rule must be one of"):
        clf.predict_set(X, rule="guess")


def test_sample_weight_reaches_model_and_means() -> None:
    X, y = load_iris(return_X_y=True)
    repeats = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = EvidentialClassifier(LogisticRegression(tol=1e-10, max_iter=5000))
    weighted.fit(X, y, sample_weight=repeats)
    repeated = EvidentialClassifier(LogisticRegression(tol=1e-10, max_iter=5000))
    repeated.fit(np.repeat(X, repeats, axis=0), np.repeat(y, repeats))
    assert_allclose(weighted.explainer_.pool.means, repeated.explainer_.pool.means, rtol=1e-12)
    assert_allclose(weighted.evidence(X).belief, repeated.evidence(X).belief, atol=1e-4)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_names(make: Any) -> None:
    heart = load_heart()
    frame = make(dict(zip(heart.feature_names, heart.data.T, strict=True)))
    clf = EvidentialClassifier(LogisticRegression(max_iter=5000), prior="shared").fit(
        frame, heart.target
    )
    assert clf.evidence(frame).component_names == tuple(heart.feature_names)
    assert list(clf.feature_names_in_) == heart.feature_names
    assert clf.n_features_in_ == 9
    assert_array_equal(clf.predict(frame), clf.estimator_.predict(frame))
    age = clf.evidence(frame).without("age")
    assert "age" not in age.component_names


@pytest.mark.parametrize(
    "inner",
    [
        make_pipeline(SplineTransformer(), LogisticRegression(max_iter=5000)),
        MLPClassifier((5,), max_iter=5000, tol=1e-2, random_state=0),
        HistGradientBoostingClassifier(max_iter=10),
        CalibratedClassifierCV(make_pipeline(StandardScaler(), SVC()), ensemble=False),
        GaussianNB(),
        LGBMClassifier(n_estimators=10, verbose=-1, n_jobs=1),
    ],
    ids=lambda inner: type(inner).__name__,
)
def test_any_supported_estimator_can_be_trained(inner: Any) -> None:
    X, y = load_heart(return_X_y=True)
    for groups in (None, "one"):
        clf = EvidentialClassifier(inner, groups).fit(X, y)
        assert_array_equal(clf.predict_proba(X), clf.estimator_.predict_proba(X))
        assert_allclose(clf.evidence(X).probability, clf.predict_proba(X), atol=1e-10)
        assert_array_equal(clf.predict(X), clf.estimator_.predict(X))
        # What was trained can be explained again, and pooled otherwise.
        assert_allclose(Explainer(clf, X)(X).probability, clf.predict_proba(X), atol=1e-10)
    assert clf.evidence(X).component_names == ("all",)


def test_groups_by_source() -> None:
    frame, y = load_heart(as_frame=True, return_X_y=True)
    clf = EvidentialClassifier(
        make_pipeline(SplineTransformer(), LogisticRegression()), "source", prior="shared"
    )
    clf.fit(frame, y)
    assert clf.evidence(frame).component_names == tuple(frame.columns)
    search = GridSearchCV(clf, {"groups": ["source", "one"]}, cv=3).fit(frame, y)
    assert search.best_params_["groups"] == "source"  # the same score: the first of them


def test_weights_reach_the_last_step_of_a_pipeline() -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).random(len(y))
    clf = EvidentialClassifier(make_pipeline(StandardScaler(), LogisticRegression()))
    clf.fit(X, y, sample_weight=weight)
    inner = LogisticRegression().fit(StandardScaler().fit_transform(X), y, sample_weight=weight)
    assert_allclose(clf.estimator_[-1].coef_, inner.coef_)
    mean = np.average(StandardScaler().fit_transform(X), axis=0, weights=weight)
    assert_allclose(clf.explainer_.pool.means, mean)


@pytest.mark.parametrize("nested", [False, True])
def test_weights_reach_a_pipeline_in_a_search(nested: bool) -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).random(len(y))
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    inner = make_pipeline(StandardScaler(), pipeline) if nested else pipeline
    C = "pipeline__logisticregression__C" if nested else "logisticregression__C"
    search = GridSearchCV(inner, {C: [0.5]}, cv=3)
    clf = EvidentialClassifier(search, temper="cv").fit(X, y, sample_weight=weight)
    scaled = StandardScaler().fit_transform(X)
    wanted = LogisticRegression(C=0.5, max_iter=1000).fit(scaled, y, sample_weight=weight)
    last = clf.estimator_.best_estimator_[-1]
    assert_allclose((last[-1] if nested else last).coef_, wanted.coef_, rtol=1e-6)


def test_estimators_without_weights() -> None:
    X, y = load_iris(return_X_y=True)
    plain = LinearDiscriminantAnalysis()
    for inner in (plain, make_pipeline(StandardScaler(), plain), GridSearchCV(plain, {}, cv=3)):
        EvidentialClassifier(inner).fit(X, y)
        with pytest.raises(
            ValueError, match=r"but LinearDiscriminantAnalysis\.fit does not accept it"
        ):
            EvidentialClassifier(inner).fit(X, y, sample_weight=np.ones(150))


def test_weights_reach_every_step_that_asks_for_them() -> None:
    X, y = load_iris(return_X_y=True)
    repeats = np.random.default_rng(0).integers(0, 4, len(y))
    last = LogisticRegression(tol=1e-10, max_iter=5000)
    repeated = EvidentialClassifier(make_pipeline(StandardScaler(), last))
    repeated.fit(np.repeat(X, repeats, axis=0), np.repeat(y, repeats))
    with config_context(enable_metadata_routing=True):
        steps = [step.set_fit_request(sample_weight=True) for step in (StandardScaler(), last)]
        weighted = EvidentialClassifier(make_pipeline(*steps)).fit(X, y, sample_weight=repeats)
    assert_allclose(weighted.estimator_[0].mean_, repeated.estimator_[0].mean_)
    assert_allclose(weighted.evidence(X).belief, repeated.evidence(X).belief, atol=1e-5)


def test_text_has_no_features_of_its_own() -> None:
    texts = ["good film", "bad film", "good", "bad"] * 3
    clf = EvidentialClassifier(make_pipeline(TfidfVectorizer(), LogisticRegression()))
    clf.fit(texts, [1, 0, 1, 0] * 3)
    assert clf.predict(["a good one"]).tolist() == [1]
    assert not hasattr(clf, "n_features_in_")


def test_missing_values_where_the_model_takes_them() -> None:
    X, y = load_heart(return_X_y=True)
    holed = X.copy()
    holed[::5, 2] = np.nan
    clf = EvidentialClassifier(HistGradientBoostingClassifier(max_iter=10)).fit(holed, y)
    assert_allclose(clf.evidence(holed).probability, clf.predict_proba(holed), atol=1e-10)
    assert get_tags(clf).input_tags.allow_nan
    assert not get_tags(EvidentialClassifier()).input_tags.allow_nan


def test_string_labels() -> None:
    heart = load_heart()
    clf = EvidentialClassifier(LogisticRegression(max_iter=5000))
    clf.fit(heart.data, heart.target_names[heart.target])
    assert set(clf.predict(heart.data)) == {"chd", "no"}
    assert_array_equal(
        clf.evidence(heart.data).mass_of("chd"), clf.evidence(heart.data).belief[:, 0]
    )


def test_in_the_company_of_scikit_learn() -> None:
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), EvidentialClassifier(LogisticRegression()))
    assert cross_val_score(pipeline, X, y).mean() > 0.9
    grid = {"evidentialclassifier__estimator__C": [0.1, 1.0]}
    search = GridSearchCV(pipeline, grid, scoring="neg_log_loss", cv=3).fit(X, y)
    assert search.best_params_ == {"evidentialclassifier__estimator__C": 1.0}
    copy = clone(search.best_estimator_)
    assert copy[-1].estimator.C == 1.0
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert_array_equal(again.predict(X), search.predict(X))


def test_a_rare_class_does_not_cost_folds() -> None:
    X, y = load_iris(return_X_y=True)
    rows = np.r_[0:50, 50:100, 100:102]  # two of the last class
    clf = EvidentialClassifier(temper="cv").fit(X[rows], y[rows])
    clf.conformalize(X[rows], y[rows], cv=np.int64(5))
    assert len(clf.promises.folds) == 5
    assert all(len(explainer.classes) == 3 for explainer in clf.promises.folds)


def test_folds_need_no_discount() -> None:
    """Four rows leave two to a fold: enough to bet, not to know what is near."""
    X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), [0, 0, 1, 1]
    moderated = EvidentialClassifier(moderate="laplace").fit(X, y)
    discounted = EvidentialClassifier(moderate="laplace+discount").fit(X, y)
    assert discounted.explainer_.factor == moderated.explainer_.factor
    assert (discounted.evidence(X).ignorance > moderated.evidence(X).ignorance).all()


def test_a_calibration_that_fails_leaves_the_last_one() -> None:
    X, y = load_iris(return_X_y=True)
    clf = EvidentialClassifier(groups="one").fit(X[::2], y[::2]).conformalize(X[::2], y[::2], cv=4)
    before = clf.predict_set(X)
    with pytest.raises(ValueError, match="coverage must be"):
        clf.conformalize(X[::2], y[::2], coverage=2.0, cv=3)
    assert (clf.predict_set(X) == before).all()


def test_weights_reach_the_last_step_of_a_pipeline_in_a_pipeline() -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).random(150)
    nested = make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), LogisticRegression()))
    flat = make_pipeline(StandardScaler(), LogisticRegression())
    inside = EvidentialClassifier(nested, temper="cv").fit(X, y, sample_weight=weight)
    expected = EvidentialClassifier(flat, temper="cv").fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(inside.predict_proba(X), expected.predict_proba(X), atol=1e-4)


def test_probabilities_follow_a_factor_found_later() -> None:
    X, y = load_iris(return_X_y=True)
    clf = EvidentialClassifier(LogisticRegression(C=0.01)).fit(X[::2], y[::2])
    clf.explainer_.temper(X[1::2], y[1::2])
    assert clf.explainer_.factor > 1.0
    np.testing.assert_array_equal(clf.predict_proba(X), clf.evidence(X).probability)
