"""CatBoost models whose SHAP values need care: other trees, scales, sums, embeddings."""

from __future__ import annotations

from typing import Any

import catboost
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

import shafer
from shafer.models.boosting.catboost import _contributions

X, Y = load_iris(return_X_y=True)


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
        _contributions(model, model, 1.0, np.zeros(1), X)


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
