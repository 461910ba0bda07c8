"""What is refused, subclasses too: one sentence why, and what to use instead."""

from __future__ import annotations

import warnings
from typing import Any

import lightgbm
import numpy as np
import pytest
import shap
import xgboost
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from numpy.testing import assert_allclose
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid, RadiusNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from xgboost import XGBClassifier, XGBRegressor

import shafer

# What is refused: one sentence why, and what to use instead.


IRIS = load_iris(return_X_y=True)
BINARY = (IRIS[0][50:], IRIS[1][50:] - 1)
LABELS = make_multilabel_classification(60, 4, n_classes=3, random_state=0)
LR = LogisticRegression(max_iter=1000)


def _calibrated(model: Any, **options: Any) -> CalibratedClassifierCV:
    return CalibratedClassifierCV(model, cv=3, **{"ensemble": False, **options})


def _dot(a: Any, b: Any) -> Any:
    return a @ b.T


REFUSALS = [
    (RandomForestClassifier(3), IRIS, "averages the class shares", "HistGradientBoosting"),
    (ExtraTreesClassifier(3), IRIS, "logarithm of a mean", "HistGradientBoosting"),
    (DecisionTreeClassifier(), IRIS, "leaves without training rows", "HistGradientBoosting"),
    (ExtraTreeClassifier(), IRIS, "infinite evidence", "HistGradientBoosting"),
    (DecisionTreeClassifier(), LABELS, "3 labels for each row", "model of each label"),
    (KNeighborsClassifier(), IRIS, "near training rows", "RBFLayer"),
    (RadiusNeighborsClassifier(9.0), IRIS, "near training rows", "RBFLayer"),
    (NearestCentroid(metric="manhattan"), IRIS, "no probabilities", "metric='euclidean'"),
    (NearestCentroid(priors=[0, 0.5, 0.5]), IRIS, "prior of 0", "priors above 0"),
    (OneVsRestClassifier(LR), IRIS, "3 classes normalises the prob", "multinomial"),
    (OneVsRestClassifier(LR), LABELS, "several labels for each row", "model of each label"),
    (OneVsOneClassifier(LR), IRIS, "votes of pairs", "multinomial"),
    (OutputCodeClassifier(LR), IRIS, "code word", "multinomial"),
    (MultiOutputClassifier(LR), LABELS, "several labels for each row", "model of each label"),
    (RidgeClassifier(), IRIS, "no probabilities", "CalibratedClassifierCV"),
    (RidgeClassifierCV(), IRIS, "no probabilities", "CalibratedClassifierCV"),
    (Perceptron(), IRIS, "no probabilities", "CalibratedClassifierCV"),
    (LinearSVC(), IRIS, "no probabilities", "CalibratedClassifierCV"),
    (SVC(), IRIS, "without probability=True it has none", "CalibratedClassifierCV"),
    (SVC(probability=True), IRIS, "cross-validation", "CalibratedClassifierCV"),
    (SVC(probability=True), BINARY, "cross-validation", "CalibratedClassifierCV"),
    (NuSVC(nu=0.2), BINARY, "cross-validation", "CalibratedClassifierCV"),
    (SGDClassifier(), BINARY, "loss='hinge'.*no logistic", "loss='log_loss', or CalibratedCl"),
    (SGDClassifier(loss="modified_huber"), BINARY, "modified_huber", "loss='log_loss'"),
    (SGDClassifier(loss="log_loss"), IRIS, "3 classes normalises separate sigmoids", "saga"),
    (QuadraticDiscriminantAnalysis(priors=[0, 0.5, 0.5]), IRIS, "prior of 0", "priors above 0"),
    (GaussianProcessClassifier(), BINARY, "averages sigmoids", "Nystroem"),
    (BaggingClassifier(LR, 3), IRIS, "averages the probabilities", "combine their evidence"),
    (VotingClassifier([("a", LR)]), IRIS, "averages the probabilities", "combine their evidence"),
    (StackingClassifier([("a", LR)], cv=3), IRIS, "probabilities of its members", "final_estim"),
    (LabelSpreading(), IRIS, "near training rows", "RBFLayer"),
    (DummyClassifier(), IRIS, "ignores its inputs", "LogisticRegression"),
    (LinearRegression(), IRIS, "predicts numbers", "classifier"),
    (HistGradientBoostingRegressor(max_iter=2), IRIS, "predicts numbers", "classifier"),
    (XGBRegressor(n_estimators=2), IRIS, "predicts numbers", "classifier"),
    (MLPClassifier((3,), tol=1.0), LABELS, "3 labels per row", "one network for each"),
    (XGBClassifier(n_estimators=2), LABELS, "3 outputs", "one model each"),
    (XGBClassifier(n_estimators=2, objective="binary:hinge"), BINARY, "hinge", "binary:logistic"),
    (
        LGBMClassifier(n_estimators=2, objective="multiclassova", verbose=-1, n_jobs=1),
        IRIS,
        "multiclassova",
        "'multiclass'",
    ),
    (
        LGBMClassifier(n_estimators=2, linear_tree=True, verbose=-1, n_jobs=1),
        BINARY,
        "linear_tree=True",
        "linear_tree=False",
    ),
    (
        CatBoostClassifier(
            2, loss_function="MultiClassOneVsAll", verbose=0, allow_writing_files=False
        ),
        IRIS,
        "MultiClassOneVsAll",
        "'MultiClass'",
    ),
    (_calibrated(LinearSVC()), IRIS, "3 classes normalises separate sigmoids", "temperature"),
    (_calibrated(SVC()), IRIS, "votes of pairs", "Nystroem"),
    (_calibrated(SVC(kernel=_dot)), BINARY, "function as its kernel", "precomputed"),
    (_calibrated(LR, method="isotonic"), BINARY, "piecewise constant", "method='sigmoid'"),
    (_calibrated(LR, ensemble=True), BINARY, "averages the probabilities of 3", "ensemble=False"),
    (_calibrated(GaussianNB()), BINARY, "its probabilities, which cannot", "linear model, an SVC"),
    (_calibrated(OneVsOneClassifier(LR)), BINARY, "its decision function", "linear model"),
    (
        make_pipeline(StandardScaler(), "passthrough"),
        IRIS,
        "no classifier",
        "last step is the classifier",
    ),
    (make_pipeline(StandardScaler(), RandomForestClassifier(3)), IRIS, "class shares", "HistGrad"),
    (GridSearchCV(LR, {"C": [1.0]}, cv=3, refit=False), IRIS, "no trained model", "refit=True"),
]


@pytest.mark.parametrize(
    ("model", "data", "reason", "instead"),
    REFUSALS,
    ids=[f"{i}-{type(refusal[0]).__name__}" for i, refusal in enumerate(REFUSALS)],
)
def test_refused_with_a_reason(model: Any, data: Any, reason: str, instead: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*data)
    with pytest.raises(shafer.UnsupportedModelError, match=reason) as caught:
        shafer.Explainer(model, data[0])
    message = str(caught.value)
    with pytest.raises(AssertionError, match=instead):
        raise AssertionError(message)
    assert message.count(". ") <= 2, "one sentence why, one what instead"


def test_what_is_no_model() -> None:
    X = IRIS[0]
    for model in (b"model", object(), None, 3.0):
        with pytest.raises(shafer.UnsupportedModelError, match="are not supported. Supported are"):
            shafer.Explainer(model, X)
    with pytest.raises(shafer.UnsupportedModelError, match="not a class; got LogisticRegression"):
        shafer.Explainer(LogisticRegression, X)
    with pytest.raises(FileNotFoundError, match="'model'"):  # a text is the path of an ONNX graph
        shafer.Explainer("model", X)


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        GaussianNB(),
        MLPClassifier(),
        GradientBoostingClassifier(),
        CalibratedClassifierCV(SVC(), ensemble=False),
        make_pipeline(StandardScaler(), LogisticRegression()),
        GridSearchCV(LR, {}),
    ],
    ids=lambda model: type(model).__name__,
)
def test_not_fitted(model: Any) -> None:
    with pytest.raises(NotFittedError):
        shafer.Explainer(model, IRIS[0])


def test_boosters_of_other_objectives() -> None:
    data = xgboost.DMatrix(*IRIS)
    booster = xgboost.train({"objective": "reg:squarederror"}, data, 2)
    with pytest.raises(shafer.UnsupportedModelError, match="reg:squarederror"):
        shafer.Explainer(booster, IRIS[0])


def test_linear_leaves_of_a_booster_read_from_text() -> None:
    model = LGBMClassifier(n_estimators=2, linear_tree=True, verbose=-1, n_jobs=1).fit(*IRIS)
    booster = lightgbm.Booster(model_str=model.booster_.model_to_string())
    with pytest.raises(shafer.UnsupportedModelError, match="linear_tree=True"):
        shafer.Explainer(booster, IRIS[0])


def test_shap_values_of_probabilities() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(20, 4, 3)).cumsum(axis=1)
    probability = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    steps = np.diff(probability, axis=1, prepend=1 / 3)
    with pytest.raises(shafer.UnsupportedModelError, match="explain probabilities"):
        shafer.models.from_shap(shap.Explanation(steps, np.full(3, 1 / 3)), output="raw")
    odds = np.log(probability / (1 - probability))
    steps = np.diff(odds, axis=1, prepend=np.log(0.5))
    with pytest.raises(shafer.UnsupportedModelError, match="each class against the rest"):
        shafer.models.from_shap(shap.Explanation(steps, np.full(3, np.log(0.5))), output="raw")


# Subclasses of supported models: those that may have other probabilities are refused.


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
    stated = shafer.Explainer(model, X, loss=1 - np.eye(3))
    assert_allclose(stated(X).probability, model.predict_proba(X))
    with pytest.raises(shafer.UnsupportedModelError, match="most probable class is 0.*loss="):
        shafer.Explainer(model, X)  # its predictions do not follow from its probabilities
