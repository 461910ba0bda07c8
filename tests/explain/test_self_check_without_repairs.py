"""The self-check finds wrong probabilities when the repair that prevents them is taken out.

Each test takes out one repair and shows that making the explainer is then an error, and that the
probabilities would have been wrong without the check.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import catboost
import numpy as np
import pytest
import shap
import xgboost
from lightgbm import LGBMClassifier
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from shafer.models import from_shap, registry
from shafer.models import shap as shap_reader
from shafer.models.boosting import catboost as catboost_reader
from shafer.models.boosting import lightgbm as lightgbm_reader
from shafer.models.boosting import xgboost as xgboost_reader
from shafer.models.registry import own_probabilities
from shafer.models.sklearn import linear, naive_bayes, wrappers

X, Y = load_iris(return_X_y=True)
MESSAGE = re.compile(
    r"Row (?P<row>\d+) of the background, class .*: the evidence gives (?P<found>\S+), "
    r"\w+ gives (?P<own>\S+?)\. (?P<reason>\w.*) Please report this; check=False turns"
)


def nothing(*given: Any) -> None:
    """Stand in for a refusal."""


def caught(model: Any, rows: Any, reason: str) -> None:
    """Show that the check names a row, both numbers and a reason, and that it is right."""
    with pytest.raises(shafer.UnsupportedModelError) as error:
        shafer.Explainer(model, rows)
    named = MESSAGE.search(str(error.value))
    assert named is not None, error.value
    row = int(named["row"])
    wrong = np.asarray(shafer.Explainer(model, rows, check=False)(rows).probability)[row]
    own = own_probabilities(model, rows)
    assert own is not None
    # Some models round their probabilities to half or single precision.
    assert np.abs(wrong - float(named["found"])).min() < 1e-9
    assert np.abs(own[row] - float(named["own"])).min() < 1e-6
    assert abs(float(named["found"]) - float(named["own"])) > 1e-4
    assert reason in named["reason"]


LIKELY = "the model changes its scores"


def boosted(y: Any = Y, **options: Any) -> Any:
    options = {"iterations": 8, "verbose": 0, "allow_writing_files": False, **options}
    return catboost.CatBoostClassifier(**options).fit(X, y)


# -- CatBoost -----------------------------------------------------------------------------------


# The SHAP values of trees grown "Depthwise" do add up for three classes.
@pytest.mark.parametrize(
    ("policy", "y"), [("Depthwise", Y > 0), ("Lossguide", Y > 0), ("Lossguide", Y)]
)
def test_catboost_trees_that_are_not_symmetric(
    monkeypatch: pytest.MonkeyPatch, policy: str, y: Any
) -> None:
    monkeypatch.setattr(catboost_reader, "_policy", lambda _: "SymmetricTree")
    monkeypatch.setattr(catboost_reader, "_TOLERANCE", np.inf)
    monkeypatch.setattr(catboost_reader, "catboost_trees", lambda _: None)
    caught(boosted(y, grow_policy=policy), X, LIKELY)


@pytest.mark.parametrize(("y", "bias"), [(Y, [0.1, 0.2, 0.3]), (Y > 0, 0.5)])
def test_catboost_scale_and_bias(monkeypatch: pytest.MonkeyPatch, y: Any, bias: Any) -> None:
    monkeypatch.setattr(catboost_reader, "_TOLERANCE", np.inf)
    monkeypatch.setattr(catboost_reader, "catboost_trees", lambda _: None)

    def without_scale(model: Any, pool: Any) -> Any:
        plain = catboost_reader._unscaled(model, model.get_scale_and_bias()[0])
        given = plain.get_feature_importance(pool, type="ShapValues")
        return catboost_reader.contributions_with_bias(given)

    monkeypatch.setattr(catboost_reader, "_library", without_scale)
    model = boosted(y)
    model.set_scale_and_bias(2.0, bias)
    caught(model, X, LIKELY)


# -- XGBoost and LightGBM -----------------------------------------------------------------------


def test_an_xgboost_booster_read_up_to_its_best_round(monkeypatch: pytest.MonkeyPatch) -> None:
    right = xgboost_reader._contributions
    monkeypatch.setattr(
        xgboost_reader,
        "_contributions",
        lambda booster, options, rounds, trees, rows: right(
            booster, options, xgboost_reader._rounds(booster), trees, rows
        ),
    )
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(200, 4)), rng.integers(0, 2, 200)
    booster = xgboost.train(
        {"objective": "binary:logistic", "eta": 0.9},
        xgboost.DMatrix(rows[:120], y[:120]),
        30,
        evals=[(xgboost.DMatrix(rows[120:], y[120:]), "test")],
        early_stopping_rounds=5,
        verbose_eval=False,
    )
    caught(booster, rows, "early stopping")


def softmax_loss(margin: Any, data: Any) -> tuple[Any, Any]:
    p = np.exp(margin - margin.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    gradient = p.copy()
    gradient[np.arange(len(p)), data.get_label().astype(int)] -= 1.0
    return gradient, np.maximum(2 * p * (1 - p), 1e-6)


def test_an_xgboost_objective_of_the_users_with_three_outputs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(xgboost_reader, "_check_objective", nothing)
    sigmoids = {"num_class": 3, "objective": "binary:logistic"}
    booster = xgboost.train(sigmoids, xgboost.DMatrix(X, Y), 3, obj=softmax_loss)
    caught(booster, X, "a custom objective")


def squared_loss(margin: Any, data: Any) -> tuple[Any, Any]:
    return margin - data.get_label(), np.ones_like(margin)


def test_an_xgboost_objective_of_the_users_with_one_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xgboost_reader, "_check_objective", nothing)
    booster = xgboost.train({}, xgboost.DMatrix(X, Y > 0), 3, obj=squared_loss)
    caught(booster, X, "a custom objective")


def logistic_loss(y: Any, margin: Any) -> tuple[Any, Any]:
    return 1 / (1 + np.exp(-margin)) - y, np.ones_like(margin)


@pytest.mark.filterwarnings("ignore:Cannot compute class probabilities")
def test_a_lightgbm_objective_of_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lightgbm_reader, "_slope", lambda summary: 1.0)
    model = LGBMClassifier(n_estimators=3, verbose=-1, objective=logistic_loss).fit(X, Y > 0)
    caught(model, X, LIKELY)


# -- our own classifier, whose calibration is dropped -------------------------------------------

EC = shafer.EvidentialClassifier
LOGISTIC = LogisticRegression(max_iter=1000)
CALIBRATED = {
    "tempered": EC(LOGISTIC, temper=0.5),
    "moderated": EC(LOGISTIC, moderate="laplace"),
    "discounted": EC(LOGISTIC, moderate="laplace+discount", temper=0.8),
    "pipeline": make_pipeline(StandardScaler(), EC(LOGISTIC, temper=0.5)),
    "moderated in a pipeline": make_pipeline(StandardScaler(), EC(LOGISTIC, moderate="laplace")),
    "search": GridSearchCV(EC(LOGISTIC), {"temper": [0.5]}),
    "search in a pipeline": make_pipeline(
        StandardScaler(), GridSearchCV(EC(LOGISTIC), {"moderate": ["laplace"]})
    ),
}


@pytest.mark.parametrize("model", CALIBRATED.values(), ids=CALIBRATED)
@pytest.mark.parametrize("frozen", [False, True])
def test_a_calibration_that_is_dropped(
    monkeypatch: pytest.MonkeyPatch, model: Any, frozen: bool
) -> None:
    monkeypatch.setattr(wrappers, "replace", lambda adapted, **calibration: adapted)
    model.fit(X, Y)
    caught(FrozenEstimator(model) if frozen else model, X, "a calibration")


# -- naive Bayes --------------------------------------------------------------------------------


def log_densities(model: Any, rows: Any) -> Any:
    """Read GaussianNB by its formula in double precision, as 0.1.0 did."""
    values = np.asarray(rows, dtype=np.float64)[:, :, None]
    mean, variance = model.theta_.T.astype(np.float64), model.var_.T.astype(np.float64)
    return -0.5 * (np.log(2 * np.pi * variance) + (values - mean) ** 2 / variance)


HALF: dict[str, Callable[[], Any]] = {
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "blobs": lambda: make_blobs(300, 4, centers=3, cluster_std=3, random_state=0)[:2],
}


@pytest.mark.parametrize("data", HALF.values(), ids=HALF)
def test_naive_bayes_in_half_precision(monkeypatch: pytest.MonkeyPatch, data: Any) -> None:
    rows, y = data()
    rows = StandardScaler().fit_transform(rows).astype(np.float16)
    model = GaussianNB().fit(rows, y)
    shafer.Explainer(model, rows)
    monkeypatch.setattr(naive_bayes, "_gaussian_contributions", log_densities)
    with pytest.raises(
        shafer.UnsupportedModelError, match="the evidence gives .* GaussianNB gives"
    ):
        shafer.Explainer(model, rows)


class Tempered(GaussianNB):
    def _joint_log_likelihood(self, X: Any) -> Any:
        return 2 * super()._joint_log_likelihood(X)


def test_a_hook_of_naive_bayes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "check_not_overridden", nothing)
    monkeypatch.setattr(naive_bayes, "_gaussian_contributions", log_densities)
    caught(Tempered().fit(X, Y), X, LIKELY)


# -- linear models and SHAP values --------------------------------------------------------------


class Doubled(LogisticRegression):
    """Two classes under the softmax of (−z, z), as ``multi_class="multinomial"`` made them."""

    multi_class = "multinomial"

    def predict_proba(self, X: Any) -> Any:
        p = 1 / (1 + np.exp(-2 * self.decision_function(X)))
        return np.stack([1 - p, p], axis=1)


def test_the_doubled_logits_of_a_binary_multinomial_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "check_not_overridden", nothing)
    model = Doubled(max_iter=1000).fit(X[:, :2], Y > 1)
    shafer.Explainer(model, X[:, :2])
    monkeypatch.setattr(linear, "_log_odds_factor", lambda model: 1.0)
    caught(model, X[:, :2], LIKELY)


@pytest.mark.parametrize("kind", ["forest", "boosted"])
def test_shap_values_of_probabilities(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    rows, y = X[:, :3], Y > 1
    if kind == "forest":
        model = RandomForestClassifier(10, random_state=0).fit(rows, y)
        explanation = shap.TreeExplainer(model)(rows)[..., 1]
    else:
        model = GradientBoostingClassifier(n_estimators=5).fit(rows, y)
        explanation = shap.TreeExplainer(model, rows[:20], model_output="probability")(rows)
    for refusal in ("_check_output_word", "_check_range", "_check_space"):
        monkeypatch.setattr(shap_reader, refusal, nothing)
    stated = r"in row \d+ they give a probability of 0\.\d+, and the model [01]\.\d+\. They may"
    with pytest.raises(shafer.UnsupportedModelError, match=stated):
        from_shap(explanation, model=model)
    wrong = from_shap(explanation, output="raw").probability
    assert np.abs(wrong - model.predict_proba(rows)).max() > 0.1
