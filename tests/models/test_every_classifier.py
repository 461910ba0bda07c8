"""Every classifier of scikit-learn: its own probabilities, or a refusal that names an alternative.

The list comes from scikit-learn itself, so a new release is covered without a change here.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

import shafer
from shafer.models import RBFLayer

_RNG = np.random.default_rng(0)
X = np.abs(_RNG.normal(size=(90, 4)))  # nonnegative, as counts are
CODES = {2: (X[:, 0] > X[:, 1]) * 1, 3: np.argmax(X[:, :3], axis=1)}
# Number of classes, labels, and whether a scaler is in front of the model.
SETTINGS = [
    (2, np.array(["no", "yes"]), False),
    (2, np.array([-1, 1]), False),
    (2, np.arange(2), True),
    (3, np.array(["ham", "eggs", "spam"]), False),
    (3, np.arange(3), True),
]
CLASSIFIERS = dict(all_estimators("classifier"))
# What a constructor needs beyond its defaults, and settings that keep the fits short.
_NEEDED: dict[str, dict[str, Any]] = {
    "ClassifierChain": {"estimator": LogisticRegression()},
    "FixedThresholdClassifier": {"estimator": LogisticRegression()},
    "MultiOutputClassifier": {"estimator": LogisticRegression()},
    "NearestCentroid": {"priors": "empirical"},  # with equal priors it predicts in another way
    "OneVsOneClassifier": {"estimator": LogisticRegression()},
    "OneVsRestClassifier": {"estimator": LogisticRegression()},
    "OutputCodeClassifier": {"estimator": LogisticRegression()},
    "SelfTrainingClassifier": {"estimator": LogisticRegression()},
    "StackingClassifier": {"estimators": [("a", LogisticRegression())]},
    "TunedThresholdClassifierCV": {"estimator": LogisticRegression()},
    "VotingClassifier": {"estimators": [("a", LogisticRegression())]},
}
_SHORT = {"n_estimators": 4, "max_iter": 20, "cv": 2, "random_state": 0, "n_restarts_optimizer": 0}
_VARIED: dict[str, list[dict[str, Any]]] = {
    "AdaBoostClassifier": [
        {"learning_rate": 0.5},
        {"estimator": DecisionTreeClassifier(max_depth=3)},
        {"estimator": LogisticRegression()},
    ],
    "BernoulliNB": [{"alpha": 0.1, "fit_prior": False}, {"binarize": 0.7}],
    "CalibratedClassifierCV": [
        {"ensemble": False},
        {"ensemble": False, "method": "isotonic"},
        {"ensemble": False, "method": "temperature"},
        {"ensemble": False, "estimator": LogisticRegression()},
        {"ensemble": False, "estimator": SVC(), "method": "temperature"},
    ],
    "CategoricalNB": [{"alpha": 0.1}, {"fit_prior": False}],
    "ComplementNB": [{"norm": True}, {"alpha": 0.2}],
    "DecisionTreeClassifier": [
        {"max_depth": 1, "min_samples_leaf": 20},
        {"max_depth": 3, "min_samples_leaf": 12},
    ],
    "GaussianNB": [{"var_smoothing": 1e-3}],
    "GradientBoostingClassifier": [
        {"loss": "exponential"},
        {"init": "zero"},
        {"init": LogisticRegression()},
        {"subsample": 0.7},
    ],
    "HistGradientBoostingClassifier": [{"max_depth": 2}, {"early_stopping": True}],
    "LinearDiscriminantAnalysis": [{"solver": "lsqr", "shrinkage": "auto"}, {"solver": "eigen"}],
    "LogisticRegression": [
        {"C": 0.1},
        {"C": np.inf},
        {"fit_intercept": False},
        {"solver": "liblinear"},
        {"solver": "newton-cholesky"},
        {"solver": "saga", "l1_ratio": 0.5},
        {"class_weight": "balanced"},
    ],
    "LogisticRegressionCV": [
        {"Cs": 3},
        {"Cs": [0.1, 1.0], "solver": "saga", "l1_ratios": [0.2, 0.7]},
        {"Cs": 2, "solver": "liblinear"},
    ],
    "MLPClassifier": [
        {"hidden_layer_sizes": ()},
        {"hidden_layer_sizes": (4, 3), "activation": "tanh"},
        {"hidden_layer_sizes": (4,), "activation": "logistic"},
    ],
    "MultinomialNB": [{"alpha": 0.1}, {"fit_prior": False}],
    "NearestCentroid": [
        {"priors": "uniform"},
        {"shrink_threshold": 0.2},
        {"metric": "manhattan"},
    ],
    "QuadraticDiscriminantAnalysis": [{"reg_param": 0.1}, {"solver": "eigen", "shrinkage": 0.1}],
    "SGDClassifier": [{"loss": "log_loss"}, {"loss": "modified_huber"}, {"average": True}],
    "SVC": [{"kernel": "linear"}],
}


def _made(name: str, options: dict[str, Any]) -> BaseEstimator:
    kind = CLASSIFIERS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = kind(**_NEEDED.get(name, {})).get_params(deep=False)
        short = {key: value for key, value in _SHORT.items() if key in known}
        model: BaseEstimator = kind(**{**_NEEDED.get(name, {}), **short, **options})
    return model


def _cases() -> Iterator[Any]:
    for name in CLASSIFIERS:
        for i, options in enumerate([{}, *_VARIED.get(name, [])]):
            yield pytest.param(name, options, id=f"{name}-{i}")


def _fitted(model: Any, y: Any) -> bool:
    """Fit the model, if it takes these labels at all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X, y)
        except ValueError:  # such as a loss for two classes only
            return False
    return True


def _explained(model: Any) -> tuple[shafer.Explainer | None, str]:
    """Return an explainer, or the text of the refusal."""
    try:
        return shafer.Explainer(model, X), ""
    except shafer.UnsupportedModelError as error:
        return None, str(error)


def _check(model: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer, refusal = _explained(model)
        if explainer is None:
            assert re.search(ALTERNATIVE, refusal), refusal
            return
        ev = explainer(X)
        assert ev.classes.tolist() == model.classes_.tolist()
        assert_allclose(ev.probability, model.predict_proba(X), atol=1e-9)


ALTERNATIVE = r"(Use|use|Explain|Calibrate|Pass|State|Train) [\w(=]+"


@pytest.mark.parametrize(("name", "options"), list(_cases()))
def test_its_own_probabilities_or_an_alternative(name: str, options: dict[str, Any]) -> None:
    for n_classes, labels, scaled in SETTINGS:
        y = labels[CODES[n_classes]]
        if name in ("MultiOutputClassifier", "ClassifierChain"):
            y = np.stack([CODES[n_classes], CODES[2]], axis=1) % 2  # several labels for each row
        model = _made(name, options)
        if scaled:
            model = make_pipeline(MinMaxScaler(), model)
        if _fitted(model, y):
            _check(model)


def _calibrated(model: Any, method: str) -> CalibratedClassifierCV:
    return CalibratedClassifierCV(model, method=method, ensemble=False, cv=3)


# What the refusals advise, for two and for three classes.
ADVICE: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "LogisticRegression": (LogisticRegression, (2, 3)),
    "LogisticRegression(solver='saga')": (lambda: LogisticRegression(solver="saga"), (2, 3)),
    "HistGradientBoostingClassifier": (lambda: HistGradientBoostingClassifier(max_iter=3), (2, 3)),
    "HistGradientBoostingClassifier(max_iter=1)": (
        lambda: HistGradientBoostingClassifier(max_iter=1),
        (2, 3),
    ),
    "loss='log_loss'": (lambda: SGDClassifier(loss="log_loss", random_state=0), (2,)),
    "CalibratedClassifierCV(model, method='sigmoid', ensemble=False)": (
        lambda: _calibrated(LinearSVC(), "sigmoid"),
        (2,),
    ),
    "CalibratedClassifierCV(SVC(), method='sigmoid', ensemble=False)": (
        lambda: _calibrated(SVC(), "sigmoid"),
        (2,),
    ),
    "method='temperature'": (lambda: _calibrated(RidgeClassifier(), "temperature"), (2, 3)),
    "make_pipeline(Nystroem(), LogisticRegression())": (
        lambda: make_pipeline(Nystroem(n_components=20), LogisticRegression()),
        (2, 3),
    ),
    "LinearDiscriminantAnalysis": (LinearDiscriminantAnalysis, (2, 3)),
    "shafer.models.RBFLayer": (lambda: make_pipeline(RBFLayer(6), LogisticRegression()), (2, 3)),
}


@pytest.mark.parametrize("advice", ADVICE)
def test_advice_is_accepted_itself(advice: str) -> None:
    make, sizes = ADVICE[advice]
    for n_classes in sizes:
        model = make()
        assert _fitted(model, CODES[n_classes])
        explainer = shafer.Explainer(model, X)
        assert_allclose(explainer(X).probability, model.predict_proba(X), atol=1e-9)


def test_each_refusal_advises_something_that_was_tried() -> None:
    for name in CLASSIFIERS:
        for n_classes, codes in CODES.items():
            y = np.stack([codes, codes], axis=1) if "Chain" in name or "Multi" in name else codes
            model = _made(name, {})
            if not _fitted(model, y % 2 if y.ndim == 2 else y):
                continue
            explainer, refusal = _explained(model)
            tried = [advice for advice, (_, sizes) in ADVICE.items() if n_classes in sizes]
            if explainer is None:
                assert any(advice in refusal for advice in (*tried, "ensemble=False")), refusal
