"""Every supported model, on real data: its own probabilities, as a sum of evidence."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import lightgbm
import numpy as np
import pytest
import torch
import xgboost
from catboost import CatBoostClassifier
from interpret.glassbox import ExplainableBoostingClassifier
from lightgbm import LGBMClassifier
from numpy.testing import assert_allclose
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC, NuSVC
from torch import Tensor, nn
from xgboost import XGBClassifier, XGBRFClassifier

import shafer
from shafer.models import Contributions
from shafer.models.registry import own_probabilities

SCALER = StandardScaler()


def _standardised(load: Callable[..., Any]) -> tuple[Any, Any]:
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


DATA = {
    "cancer": _standardised(load_breast_cancer),  # K = 2
    "wine": _standardised(load_wine),  # K = 3
    "heart": shafer.datasets.load_heart(return_X_y=True),  # K = 2, as measured
    "digits": load_digits(return_X_y=True),  # K = 10, counts
}
BOTH = ("cancer", "wine")


class Row(NamedTuple):
    """A model that is trained on each data set, and how near its probabilities must be."""

    model: Any
    data: tuple[str, ...]
    components: int | None = None  # how many, where it does not depend on the data
    options: dict[str, Any] = {}  # noqa: RUF012 - never written to
    tolerance: float = 1e-10


def _platt(model: Any, method: str = "sigmoid") -> Any:
    return CalibratedClassifierCV(model, method=method, ensemble=False, cv=3)


FEATURE, VECTOR = {"components": "feature"}, {"components": "vector"}
TREE = {"components": "tree"}
SMALL = {"max_rounds": 20, "outer_bags": 2}
QUIET = {"verbose": 0, "allow_writing_files": False}
ROWS = {
    "logistic": Row(LogisticRegression(), BOTH),
    "logistic-cv": Row(
        LogisticRegressionCV(
            Cs=3, cv=3, l1_ratios=(0,), scoring="neg_log_loss", use_legacy_attributes=False
        ),
        BOTH,
    ),
    "sgd": Row(SGDClassifier(loss="log_loss", random_state=0), ("cancer",)),
    "lda": Row(LinearDiscriminantAnalysis(), BOTH),
    "lda-lsqr": Row(LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"), BOTH),
    "gaussian-nb": Row(GaussianNB(), (*BOTH, "heart")),
    "bernoulli-nb": Row(BernoulliNB(), BOTH),
    "bernoulli-nb-digits": Row(BernoulliNB(binarize=8.0), ("digits",)),
    "multinomial-nb": Row(MultinomialNB(), ("digits", "heart")),
    "complement-nb": Row(ComplementNB(), ("digits", "heart")),
    "complement-nb-norm": Row(ComplementNB(norm=True), ("digits",)),
    "categorical-nb": Row(CategoricalNB(), ("digits",)),
    "scaled": Row(make_pipeline(SCALER, LogisticRegression()), ("heart",)),
    "polynomial": Row(make_pipeline(PolynomialFeatures(2), LogisticRegression(C=0.1)), BOTH),
    "spline": Row(make_pipeline(SplineTransformer(), LogisticRegression()), (*BOTH, "heart")),
    "bins": Row(
        make_pipeline(
            KBinsDiscretizer(4, quantile_method="averaged_inverted_cdf"), LogisticRegression()
        ),
        BOTH,
    ),
    "pca": Row(make_pipeline(PCA(5), LogisticRegression()), BOTH, 5),
    "pca-nb": Row(make_pipeline(PCA(4), GaussianNB()), BOTH, 4),
    "network-relu": Row(MLPClassifier((20, 10), max_iter=2000, random_state=0), BOTH, 10),
    "network-tanh": Row(
        MLPClassifier((7,), "tanh", max_iter=3000, tol=1e-3, random_state=0), BOTH, 7
    ),
    "network-logistic": Row(
        MLPClassifier((6, 5, 4), "logistic", max_iter=3000, tol=1e-3, random_state=0), BOTH, 4
    ),
    "network-identity": Row(MLPClassifier((3,), "identity", tol=1e-2, random_state=0), BOTH, 3),
    "network-of-no-layer": Row(MLPClassifier((), tol=1e-2, random_state=0), BOTH),
    "svc": Row(_platt(SVC()), ("cancer",)),
    "svc-poly": Row(_platt(SVC(kernel="poly", coef0=1.0)), ("cancer",)),
    "svc-sigmoid": Row(_platt(SVC(kernel="sigmoid", gamma=0.01)), ("cancer",)),
    "svc-linear": Row(_platt(SVC(kernel="linear")), ("cancer",), 30),
    "svc-linear-vectors": Row(_platt(SVC(kernel="linear")), ("cancer",), None, VECTOR),
    "nu-svc": Row(_platt(NuSVC(nu=0.1)), ("cancer",)),
    "linear-svc": Row(_platt(LinearSVC()), ("cancer",), 30),
    "svc-scaled": Row(_platt(make_pipeline(SCALER, SVC())), ("heart",)),
    "svc-frozen": Row(
        CalibratedClassifierCV(FrozenEstimator(SVC().fit(*DATA["cancer"])), cv=3), ("cancer",)
    ),
    "ebm-calibrated": Row(
        _platt(ExplainableBoostingClassifier(interactions=0, **SMALL)), ("cancer",), 30
    ),
    "ebm-temperature": Row(
        _platt(ExplainableBoostingClassifier(interactions=0, **SMALL), "temperature"), BOTH
    ),
    "ridge-calibrated": Row(_platt(RidgeClassifier()), ("cancer",), 30),
    "boosted-calibrated": Row(
        _platt(GradientBoostingClassifier(n_estimators=5)), ("cancer",), 5, TREE
    ),
    "temperature": Row(_platt(LinearSVC(), "temperature"), BOTH),
    "temperature-trees": Row(
        _platt(HistGradientBoostingClassifier(max_iter=5), "temperature"), BOTH, 5, TREE
    ),
    "nystroem": Row(make_pipeline(Nystroem(n_components=30), LogisticRegression()), BOTH, 30),
    "rbf-sampler": Row(make_pipeline(RBFSampler(n_components=30), LogisticRegression()), BOTH, 30),
    "rbf-layer": Row(
        make_pipeline(shafer.models.RBFLayer(12, random_state=0), LogisticRegression()), BOTH, 12
    ),
    "histogram-trees": Row(HistGradientBoostingClassifier(max_iter=12), BOTH, 12, TREE),
    "histogram-features": Row(HistGradientBoostingClassifier(max_iter=12), BOTH, None, FEATURE),
    "trees": Row(GradientBoostingClassifier(n_estimators=9), BOTH, 9, TREE),
    "trees-features": Row(GradientBoostingClassifier(n_estimators=9), BOTH, None, FEATURE),
    "trees-exponential": Row(
        GradientBoostingClassifier(loss="exponential", n_estimators=9), ("cancer",), 9, TREE
    ),
    "trees-from-zero": Row(GradientBoostingClassifier(init="zero", n_estimators=9), BOTH, 9, TREE),
    "trees-from-a-model": Row(
        GradientBoostingClassifier(init=GaussianNB(), n_estimators=9), BOTH, 10
    ),
    "xgboost": Row(XGBClassifier(n_estimators=15), BOTH, tolerance=1e-5),
    "xgboost-dart": Row(XGBClassifier(n_estimators=9, booster="dart"), BOTH, tolerance=1e-5),
    "xgboost-linear": Row(XGBClassifier(n_estimators=9, booster="gblinear"), BOTH, tolerance=1e-5),
    "xgboost-forest": Row(XGBRFClassifier(n_estimators=9), BOTH, tolerance=1e-5),
    "lightgbm": Row(LGBMClassifier(n_estimators=15, verbose=-1, n_jobs=1), BOTH, tolerance=1e-5),
    "lightgbm-sigmoid": Row(
        LGBMClassifier(n_estimators=15, sigmoid=2.0, verbose=-1, n_jobs=1),
        ("cancer",),
        tolerance=1e-5,
    ),
    "lightgbm-forest": Row(
        LGBMClassifier(
            boosting_type="rf",
            n_estimators=9,
            subsample=0.6,
            subsample_freq=1,
            verbose=-1,
            n_jobs=1,
        ),
        BOTH,
        tolerance=1e-5,
    ),
    "catboost": Row(CatBoostClassifier(15, **QUIET), BOTH, tolerance=1e-5),
    "ebm": Row(ExplainableBoostingClassifier(interactions=2, **SMALL), ("cancer",), 32),
    "ebm-multiclass": Row(ExplainableBoostingClassifier(interactions=0, **SMALL), ("wine",), 13),
    "search": Row(GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=3), BOTH),
    "threshold": Row(TunedThresholdClassifierCV(LogisticRegression(), cv=3), ("cancer",)),
    "frozen": Row(
        make_pipeline(SCALER, FrozenEstimator(LogisticRegression().fit(*DATA["cancer"]))),
        ("cancer",),
    ),
}
CASES = [(name, data) for name, row in ROWS.items() for data in row.data]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: "-".join(case))
def explained(request: pytest.FixtureRequest) -> tuple[Row, Any, Any, shafer.Explainer]:
    name, data = request.param
    row = ROWS[name]
    X, y = DATA[data]
    model = clone(row.model).fit(X, y)
    return row, model, X, shafer.Explainer(model, X, None, prior="shared", **row.options)


def test_probabilities_are_the_models(explained: tuple[Row, Any, Any, shafer.Explainer]) -> None:
    row, model, X, explainer = explained
    ev = explainer(X)
    n_classes = len(model.classes_)
    assert_allclose(ev.probability, model.predict_proba(X), atol=row.tolerance, rtol=0)
    assert ev.weights.shape == (len(X), len(explainer.component_names), n_classes)
    assert_allclose(ev.weights.sum(axis=2), 0, atol=1e-9)
    assert_allclose(ev.weights.sum(axis=1), ev.logits, atol=1e-9)
    # The model's own log-probabilities, centred, are the centred logits (where p is not rounded).
    probability = np.asarray(model.predict_proba(X), dtype=np.float64)
    ordinary = probability.min(axis=1) > 1e-4
    logits = np.log(probability[ordinary])
    logits -= logits.mean(axis=1, keepdims=True)
    assert_allclose(ev.logits[ordinary], logits, atol=max(1e-8, 100 * row.tolerance))
    if row.components is not None:
        assert ev.n_components == row.components


def test_the_mean_component_gets_its_share(
    explained: tuple[Row, Any, Any, shafer.Explainer],
) -> None:
    # Least commitment: over the background, every component has the same mean weight b_k / G.
    _, _, X, explainer = explained
    means = explainer(X).weights.mean(axis=0)
    assert_allclose(means, np.broadcast_to(means[:1], means.shape), atol=1e-8)


def test_grouping_is_exact(explained: tuple[Row, Any, Any, shafer.Explainer]) -> None:
    row, model, X, explainer = explained
    names = explainer.component_names
    halves = {"first": names[: len(names) // 2], "second": names[len(names) // 2 :]}
    plain = explainer(X)
    for groups in (halves, "one"):
        ev = shafer.Explainer(model, X, groups, prior="shared", **row.options)(X)
        assert_allclose(ev.probability, plain.probability, atol=1e-10)
        means = ev.weights.mean(axis=0)
        assert_allclose(means, np.broadcast_to(means[:1], means.shape), atol=1e-8)
    # All in one component: it speaks either for or against a class, never both.
    assert_allclose(np.minimum(ev.weights_for, ev.weights_against), 0.0)
    assert_allclose(ev.weights, plain.grouped("one").weights, atol=1e-9)


def test_explainers_travel(explained: tuple[Row, Any, Any, shafer.Explainer]) -> None:
    _, _, X, explainer = explained
    again = pickle.loads(pickle.dumps(explainer))
    assert_allclose(again(X[:3]).belief, explainer(X[:3]).belief)


# ``own_probabilities``: what the model itself computes, which the evidence is checked against.


X, Y = load_iris(return_X_y=True)


def _own(model: Any) -> Any:
    own = own_probabilities(model, X)
    assert own is not None
    return own


def _boosters(n_classes: int) -> list[tuple[Any, Any]]:
    """Return bare boosters, each with the probabilities of its classifier wrapper."""
    y = np.minimum(Y, n_classes - 1)
    trees = xgboost.XGBClassifier(n_estimators=5).fit(X, y)
    light = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(X, y)
    return [
        (trees.get_booster(), trees.predict_proba(X)),
        (light.booster_, light.predict_proba(X)),
    ]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_boosters(n_classes: int) -> None:
    for booster, expected in _boosters(n_classes):
        assert _own(booster).dtype == np.float64
        assert_allclose(_own(booster), expected, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_estimators(n_classes: int) -> None:
    y = np.array(["a", "b", "c"])[np.minimum(Y, n_classes - 1)]
    for model in (
        make_pipeline(StandardScaler(), LogisticRegression()),
        CatBoostClassifier(5, verbose=0, allow_writing_files=False),
    ):
        assert_allclose(_own(model.fit(X, y)), model.predict_proba(X))


class _Head(nn.Module):
    def __init__(self, n_outputs: int, end: Any) -> None:
        super().__init__()
        self.head, self.end = nn.Linear(4, n_outputs), end

    def forward(self, rows: Tensor) -> Tensor:
        end: Tensor = self.end(self.head(rows))
        return end


def _same(logits: Tensor) -> Tensor:
    return logits


@pytest.mark.parametrize("end", [_same, torch.sigmoid, nn.functional.logsigmoid])
def test_modules_of_one_logit(end: Any) -> None:
    network = _Head(1, end).train()
    logits = network.head(torch.tensor(X, dtype=torch.float32)).detach().numpy()[:, 0]
    p = expit(logits)
    assert_allclose(_own(network), np.stack([1 - p, p], axis=1), atol=1e-6)
    assert network.training


@pytest.mark.parametrize("end", [_same, nn.Softmax(1), nn.LogSoftmax(1)])
def test_modules_of_three_logits(end: Any) -> None:
    network = _Head(3, end)
    logits = network.head(torch.tensor(X, dtype=torch.float32)).detach().numpy()
    assert_allclose(_own(network), softmax(logits, axis=1), atol=1e-6)


def test_models_without_probabilities() -> None:
    assert own_probabilities(shafer.LinearHead(np.ones(4), 0.0), X) is None
    assert own_probabilities((np.ones(4), 0.0), X) is None
    assert own_probabilities(Contributions(np.abs), X) is None
    assert own_probabilities(_Head(3, torch.exp), X) is None
