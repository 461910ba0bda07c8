"""XGBoost, LightGBM and CatBoost: objectives of the user, other trees, scales and orders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import catboost
import numpy as np
import pandas as pd
import pytest
import xgboost
from lightgbm import LGBMClassifier
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, make_classification

import shafer
from shafer.models.boosting.catboost import _library

# XGBoost: early stopping, objectives of the user's, vector leaves.


X, Y = load_iris(return_X_y=True)


def _stopped_early() -> tuple[Any, Any]:
    rows, y = make_classification(200, 6, n_informative=4, n_redundant=0, random_state=0)
    train, test = xgboost.DMatrix(rows[:120], y[:120]), xgboost.DMatrix(rows[120:], y[120:])
    booster = xgboost.train(
        {"objective": "binary:logistic", "eta": 0.9},
        train,
        50,
        evals=[(test, "test")],
        early_stopping_rounds=5,
        verbose_eval=False,
    )
    return booster, rows


def test_a_booster_predicts_with_all_trees_after_early_stopping() -> None:
    booster, rows = _stopped_early()
    assert booster.best_iteration + 1 < booster.num_boosted_rounds()
    own = booster.predict(xgboost.DMatrix(rows))
    assert_allclose(shafer.Explainer(booster, rows)(rows).probability[:, 1], own, atol=1e-6)


def test_a_classifier_predicts_with_the_best_rounds() -> None:
    rows, y = make_classification(200, 6, n_informative=4, n_redundant=0, random_state=0)
    model = xgboost.XGBClassifier(learning_rate=0.9, early_stopping_rounds=5)
    model.fit(rows[:120], y[:120], eval_set=[(rows[120:], y[120:])], verbose=False)
    ev = shafer.Explainer(model, rows)(rows)
    assert_allclose(ev.probability, model.predict_proba(rows), atol=1e-6)


def _softmax_loss(margin: Any, data: Any) -> tuple[Any, Any]:
    p = np.exp(margin - margin.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    gradient = p.copy()
    gradient[np.arange(len(p)), data.get_label().astype(int)] -= 1.0
    return gradient, np.maximum(2 * p * (1 - p), 1e-6)


def test_an_objective_of_the_users_with_three_outputs() -> None:
    data = xgboost.DMatrix(X, Y)
    sigmoids = {"num_class": 3, "objective": "binary:logistic"}
    booster = xgboost.train(sigmoids, data, 3, obj=_softmax_loss)
    with pytest.raises(shafer.UnsupportedModelError, match="3 outputs .* Use .*multi:softprob"):
        shafer.Explainer(booster, X)
    booster = xgboost.train({**sigmoids, "objective": "multi:softprob"}, data, 3, obj=_softmax_loss)
    assert_allclose(shafer.Explainer(booster, X)(X).probability, booster.predict(data), atol=1e-6)


def test_vector_leaves_are_refused(tmp_path: Path) -> None:
    model = xgboost.XGBClassifier(n_estimators=3, multi_strategy="multi_output_tree").fit(X, Y)
    with pytest.raises(shafer.UnsupportedModelError, match="multi_output_tree.*one_output_per"):
        shafer.Explainer(model, X)
    model.save_model(tmp_path / "model.json")  # the file does not hold the strategy
    loaded = xgboost.Booster(model_file=tmp_path / "model.json")
    with pytest.raises(shafer.UnsupportedModelError, match="multi_output_tree"):
        shafer.Explainer(loaded, X)


# LightGBM with an objective of the user's, and columns in another order.


def _loss(y: Any, margin: Any) -> tuple[Any, Any]:
    return 1 / (1 + np.exp(-margin)) - y, np.ones_like(margin)


def test_an_objective_of_the_users_is_refused() -> None:
    model = LGBMClassifier(n_estimators=3, verbose=-1, objective=_loss).fit(X, Y > 0)
    with pytest.raises(shafer.UnsupportedModelError, match="objective 'custom'.* Use .*'binary'"):
        shafer.Explainer(model, X)


def test_columns_in_another_order() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = LGBMClassifier(n_estimators=3, verbose=-1).fit(frame, Y)
    ev = shafer.Explainer(model, frame)(frame[list("dcba")])  # LightGBM itself reads by position
    assert_allclose(ev.probability, model.predict_proba(frame), atol=1e-10)


# CatBoost models whose SHAP values need care: other trees, scales, sums, embeddings.


def _fit(y: Any = Y, **options: Any) -> Any:
    options = {"iterations": 8, "verbose": 0, "allow_writing_files": False, **options}
    return catboost.CatBoostClassifier(**options).fit(X, y)


def _check(model: Any, rows: Any = X) -> None:
    assert_allclose(shafer.Explainer(model, rows)(rows).probability, model.predict_proba(rows))


@pytest.mark.parametrize("policy", ["Depthwise", "Lossguide"])
@pytest.mark.parametrize("y", [Y, Y > 0])
@pytest.mark.parametrize("nan_mode", ["Min", "Max"])
def test_trees_that_are_not_symmetric(policy: str, y: Any, nan_mode: str) -> None:
    rows = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    options: dict[str, Any] = {"grow_policy": policy, "nan_mode": nan_mode, "iterations": 20}
    model = catboost.CatBoostClassifier(verbose=0, allow_writing_files=False, **options)
    _check(model.fit(rows, y), rows)
    frame = pd.DataFrame(rows, columns=list("abcd"))
    _check(model.fit(frame, y), frame)


def test_trees_that_are_not_symmetric_with_a_scale() -> None:
    model = _fit(grow_policy="Lossguide")
    model.set_scale_and_bias(2.0, [0.1, 0.2, 0.3])
    _check(model)


def test_trees_that_are_not_symmetric_give_shapley_values() -> None:
    """For trees that ask about one feature, the contribution is that of the whole tree."""
    model = _fit(Y > 0, grow_policy="Depthwise", depth=1)
    ev = shafer.Explainer(model, X, prior="own")(X)
    for j in range(X.shape[1]):
        varied = np.tile(X[0], (len(X), 1))
        varied[:, j] = X[:, j]
        raw = model.predict(varied, prediction_type="RawFormulaVal")
        assert_allclose(ev.contrast(True, False)[:, j], raw - raw.mean(), atol=1e-9)


@pytest.mark.parametrize("policy", ["Depthwise", "Lossguide"])
def test_trees_that_cannot_be_read_are_refused(policy: str) -> None:
    frame = pd.DataFrame(X, columns=list("abcd")).assign(e=np.where(Y > 1, "high", "low"))
    model = catboost.CatBoostClassifier(
        8, verbose=0, allow_writing_files=False, cat_features=["e"], grow_policy=policy
    ).fit(frame, Y)
    with pytest.raises(
        shafer.UnsupportedModelError,
        match=f"{policy}.*without categorical features. Use .*SymmetricTree",
    ):
        shafer.Explainer(model, frame)


def test_values_that_do_not_add_up_are_refused() -> None:
    model = _fit(Y > 0, grow_policy="Lossguide")
    with pytest.raises(shafer.UnsupportedModelError, match="do not add up .* off by up to"):
        _library(model, catboost.Pool(X))


@pytest.mark.parametrize(("y", "bias"), [(Y, [0.1, 0.2, 0.3]), (Y > 0, 0.5)])
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_scale_and_bias(y: Any, bias: Any, scale: float) -> None:
    model = _fit(y)
    model.set_scale_and_bias(scale, bias)
    _check(model)
    assert model.get_scale_and_bias()[0] == scale


def test_sums_of_models() -> None:
    total = catboost.sum_models([_fit(), _fit(random_seed=3)], weights=[0.7, 0.5])
    _check(catboost.to_classifier(total))


def test_embeddings() -> None:
    frame = pd.DataFrame(X[:, 1:], columns=list("bcd"))
    frame.insert(0, "a", [[float(v), 2 * float(v), 1.0] for v in X[:, 0]])
    model = catboost.CatBoostClassifier(
        8, verbose=0, allow_writing_files=False, embedding_features=["a"]
    ).fit(frame, Y)
    _check(model, frame)


def test_a_model_that_is_not_trained() -> None:
    with pytest.raises(shafer.UnsupportedModelError, match="not trained. Call fit"):
        shafer.Explainer(catboost.CatBoostClassifier(), X)


def test_rows_it_cannot_take() -> None:
    words = np.array([["a"] * 4] * 3, dtype=object)
    with pytest.raises(ValueError, match="CatBoost cannot take X, of type ndarray: "):
        shafer.Explainer(_fit(), X)(words)
