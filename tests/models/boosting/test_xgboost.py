"""XGBoost: early stopping, objectives of the user's, vector leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xgboost
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, make_classification

import shafer

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
