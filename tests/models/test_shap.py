"""SHAP values and other contributions of the user become evidence, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import shap
import torch
from numpy.testing import assert_allclose
from scipy.special import expit, softmax
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier

import shafer
from shafer.evidence import RunningMean
from shafer.models import Contributions, from_shap, to_shap
from shafer.rows import background

# SHAP values in log-odds space become evidence, and back.


@pytest.fixture(params=[load_breast_cancer, load_wine], ids=["binary", "multiclass"])
def data(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    X, y = request.param(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def test_linear_explainer_gives_the_papers_weights(data: tuple[Any, Any]) -> None:
    X, y = data
    model = LogisticRegression().fit(X, y)
    explanation = shap.LinearExplainer(model, shap.maskers.Independent(X, max_samples=1000))(X)
    ev = from_shap(explanation, model=model)
    assert_allclose(ev.probability, model.predict_proba(X), atol=1e-10)
    assert_allclose(ev.weights, shafer.Explainer(model, X, prior="shared")(X).weights, atol=1e-10)


def test_tree_explainer(data: tuple[Any, Any]) -> None:
    X, y = data
    model = XGBClassifier(n_estimators=10).fit(X, y)
    ev = from_shap(shap.TreeExplainer(model)(X), model=model)
    assert_allclose(ev.probability, model.predict_proba(X), atol=1e-5)
    assert_allclose(ev.weights, shafer.Explainer(model, X, prior="shared")(X).weights, atol=1e-4)


def test_there_and_back(data: tuple[Any, Any]) -> None:
    X, y = data
    explainer = shafer.Explainer(
        LogisticRegression().fit(X, y), X, classes=np.unique(y), prior="shared"
    )
    ev = explainer(X)
    explanation = to_shap(ev, X)
    assert explanation.data.shape == X.shape
    assert explanation.feature_names == list(ev.component_names)
    again = from_shap(explanation, output="log-odds")
    assert_allclose(again.weights, ev.weights, atol=1e-10)
    assert again.component_names == ev.component_names
    few = from_shap(to_shap(explainer(X[:3])), output="raw", background=explanation)
    assert_allclose(few.weights, ev.weights[:3], atol=1e-10)


def test_the_base_rate_is_the_base_value(data: tuple[Any, Any]) -> None:
    X, y = data
    model = LogisticRegression().fit(X, y)
    explanation = to_shap(shafer.Explainer(model, X, prior="own")(X), X)
    assert explanation.values.shape[:2] == explanation.data.shape == X.shape
    assert "base rate" not in explanation.feature_names
    same = shap.LinearExplainer(model, shap.maskers.Independent(X, max_samples=1000))(X)
    values, base = same.values, same.base_values
    if values.ndim == 3:  # weights add up to zero over the classes
        values, base = values - values.mean(2, keepdims=True), base - base.mean(1, keepdims=True)
    assert_allclose(explanation.values, values, atol=1e-10)
    assert_allclose(explanation.base_values, base, atol=1e-10)


def test_labels_and_names() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(6, 2, 3))
    base = np.tile([0.1, 0.2, 0.3], (6, 1))
    explanation = shap.Explanation(
        values, base, feature_names=["a", "b"], output_names=["x", "y", "z"]
    )
    ev = from_shap(explanation, output="raw")
    assert ev.classes.tolist() == ["x", "y", "z"]
    assert ev.component_names == ("a", "b")
    other = from_shap(explanation, output="raw", classes=[1, 2, 3], names=["c", "d"])
    assert other.classes.tolist() == [1, 2, 3]
    assert other.component_names == ("c", "d")
    logits = values.sum(axis=1) + base
    probability = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert_allclose(ev.probability, probability, rtol=1e-10)


def test_log_odds_of_either_class_are_one_logit() -> None:
    # What shap gives for predict_proba with link="logit": each column the other's negative.
    rng = np.random.default_rng(0)
    one = rng.normal(size=(6, 2))
    both = np.stack([-one, one], axis=-1)
    ev = from_shap(shap.Explanation(both, np.array([-0.5, 0.5])), output="log-odds")
    assert_allclose(ev.probability[:, 1], 1 / (1 + np.exp(-one.sum(axis=1) - 0.5)), rtol=1e-10)


def test_base_values_must_be_one_set() -> None:
    explanation = shap.Explanation(np.zeros((3, 2)), np.array([0.0, 1.0, 2.0]))
    with pytest.raises(ValueError, match=r"base_values must be the same.*differ by 2"):
        from_shap(explanation, output="log-odds")
    column = shap.Explanation(np.ones((3, 2)), np.full((3, 1), 0.5))
    assert_allclose(from_shap(column, output="log-odds").logits[:, 1], 1.25)


def _forest(X: Any, y: Any) -> tuple[Any, Any]:
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    return forest, shap.TreeExplainer(forest)(X)


def test_values_of_probabilities_are_refused() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:80, :5], y[:80]
    forest, explanation = _forest(X, y)
    one = explanation[..., 1]
    with pytest.raises(shafer.UnsupportedModelError, match=r"add up to the model.s log-odds"):
        from_shap(one, model=forest)
    for output in ("log-odds", "raw"):
        with pytest.raises(shafer.UnsupportedModelError, match="between 0 and 1 in all rows"):
            from_shap(one, output=output)
    with pytest.raises(shafer.UnsupportedModelError, match="they add up to 1 over the classes"):
        from_shap(explanation, output="raw")
    with pytest.raises(shafer.UnsupportedModelError, match="values of probabilities are not"):
        from_shap(one, output="probability")


def test_probabilities_of_a_boosted_model_are_refused() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:80, :5], y[:80]
    model = GradientBoostingClassifier(n_estimators=5).fit(X, y)
    explainer = shap.TreeExplainer(model, X[:20], model_output="probability")
    with pytest.raises(shafer.UnsupportedModelError, match=r"add up to the model.s log-odds"):
        from_shap(explainer(X), model=model)
    raw = from_shap(shap.TreeExplainer(model)(X), model=model)
    assert_allclose(raw.probability, model.predict_proba(X), atol=1e-6)


def test_the_output_must_be_stated() -> None:
    explanation = shap.Explanation(np.ones((3, 2)), 0.0)
    with pytest.raises(ValueError, match=r"Pass model= .*, or output='log-odds'"):
        from_shap(explanation)
    with pytest.raises(ValueError, match="output must be 'log-odds' or 'raw'; got 'odds'"):
        from_shap(explanation, output="odds")
    with pytest.raises(ValueError, match="explanation.data is None.*as X="):
        from_shap(explanation, model=LogisticRegression())


def test_rows_that_the_model_was_not_explained_on() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = LogisticRegression().fit(X, y)
    explanation = shap.LinearExplainer(model, shap.maskers.Independent(X, 100))(X[:20])
    with pytest.raises(ValueError, match=r"20 rows and 2 classes.*\(10, 2\)"):
        from_shap(explanation, model=model, X=X[:10])
    with pytest.raises(shafer.UnsupportedModelError, match="in row .* a probability of"):
        from_shap(explanation, model=model, X=X[20:40])
    with pytest.raises(ValueError, match="LinearHead has no probabilities"):
        from_shap(explanation, model=shafer.LinearHead(np.ones(30), 0.0))


@pytest.mark.parametrize("given", [np.zeros((2, 3)), [np.zeros((2, 3))], None])
def test_what_is_no_explanation(given: Any) -> None:
    with pytest.raises(ValueError, match="must be a shap.Explanation; got .* explainer\\(X\\)"):
        from_shap(given, output="log-odds")


def test_a_single_row() -> None:
    values = np.random.default_rng(0).normal(size=(5, 4, 3))
    several = shap.Explanation(values, np.zeros((5, 3)))
    for explanation in (several[0], shap.Explanation(values[..., 0], np.zeros(5))[0]):
        with pytest.raises(ValueError, match=r"a single row.*explanation\[0:1\]"):
            from_shap(explanation, output="log-odds")
    assert len(from_shap(several[0:1], output="log-odds")) == 1


# The user's own contributions, and the background means in blocks.


@pytest.fixture
def X() -> Any:
    return np.random.default_rng(0).normal(size=(700, 3))


def _waves(X: Any) -> Any:
    return np.stack([np.sin(X), np.cos(X), X], axis=-1)


def test_a_function_of_three_classes(X: Any) -> None:
    model = Contributions(_waves, [0.1, -0.2, 0.3], classes=["s", "c", "l"], names=["a", "b", "c"])
    ev = shafer.Explainer(model, X, prior="shared")(X)
    logits = _waves(X).sum(axis=1) + np.array([0.1, -0.2, 0.3])
    assert_allclose(ev.probability, softmax(logits, axis=1))
    assert ev.component_names == ("a", "b", "c")
    assert ev.classes.tolist() == ["s", "c", "l"]
    pair = shafer.Explainer(model, X, {"first two": ["a", "b"]}, prior="shared")(X)
    assert pair.component_names == ("first two", "c")
    assert_allclose(pair.probability, ev.probability, rtol=1e-10)


def test_log_odds_of_two_classes(X: Any) -> None:
    ev = shafer.Explainer(Contributions(np.sin, 0.5), X, prior="shared")(X)
    assert_allclose(ev.probability[:, 1], expit(np.sin(X).sum(axis=1) + 0.5), rtol=1e-10)
    assert ev.weights.shape == (700, 3, 2)
    lists = shafer.Explainer(
        Contributions(lambda rows: [[0.1, 0.2]] * len(rows)), X, prior="shared"
    )(X)
    assert_allclose(lists.logits[:, 1], 0.15)


def test_tensors_stay_tensors() -> None:
    X = torch.randn(30, 2, dtype=torch.float64)
    model = Contributions(lambda rows: torch.stack([rows.sin(), rows.cos()], dim=-1), [0.0, 1.0])
    weight = np.arange(30.0)
    ev = shafer.Explainer(model, X, sample_weight=weight)(X)
    assert isinstance(ev.belief, torch.Tensor)
    logits = torch.stack([X.sin(), X.cos()], dim=-1).sum(1) + torch.tensor([0.0, 1.0])
    assert_allclose(ev.probability.numpy(), logits.softmax(1).numpy(), rtol=1e-10)


def test_means_in_blocks_are_the_means(X: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def watched(rows: Any) -> Any:
        sizes.append(len(rows))
        return _waves(rows)

    monkeypatch.setattr(background, "_BLOCK", 90 * 9)
    means = RunningMean()
    background.add_contributions(means, watched, X, None)
    assert sizes == [256, 90, 90, 90, 90, 84]
    assert_allclose(means.mean, _waves(X).mean(axis=0), atol=1e-14)
    weight = np.random.default_rng(1).random(700)
    weight[250:440] = 0.0  # a block without any weight
    means = RunningMean()
    background.add_contributions(means, watched, X, weight)
    assert_allclose(means.mean, np.average(_waves(X), axis=0, weights=weight), atol=1e-14)


def test_wrong_contributions(X: Any) -> None:
    for function, message in (
        (lambda rows: rows[:, 0], "contributions.* must have"),
        (lambda rows: np.full((len(rows), 2, 3), np.nan), "contributions.* must be finite"),
        (lambda rows: np.array([["a", "b"]] * len(rows)), "must hold real numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            shafer.Explainer(Contributions(function), X)
    with pytest.raises(ValueError, match="at least one row"):
        shafer.Explainer(Contributions(_waves), X[:0])
    with pytest.raises(ValueError, match="700 rows; got 3"):
        shafer.Explainer(Contributions(_waves), X, sample_weight=[1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="intercept must have one value for each of the 3 classes"):
        shafer.Explainer(Contributions(_waves, [1.0, 2.0]), X)
