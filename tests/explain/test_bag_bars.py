"""Error bars of explainable boosting machines: those that interpret shows."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from interpret.glassbox import ExplainableBoostingClassifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer

X, Y = load_iris(return_X_y=True)
FRAME = pd.DataFrame(X, columns=["a", "b", "c", "d"])
FRAME["kind"] = np.array(["u", "v", "w"])[np.arange(150) % 3]
NEW = FRAME.iloc[::7].copy()
NEW.iloc[0, 0] = np.nan  # missing, and unseen: bins of their own
NEW.iloc[1, 4] = "never seen"
NEW.iloc[2, 1] = 1e6


def _model(labels: Any, **options: Any) -> Any:
    options = {"interactions": 2, "outer_bags": 4, "max_rounds": 40, "n_jobs": 1} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it cannot draw interactions of several classes
        return ExplainableBoostingClassifier(**options).fit(FRAME, labels)


BINARY, SEVERAL = _model(Y == 1), _model(Y)


def _shown(model: Any, X: Any) -> Any:
    """The standard deviations that interpret shows, for the terms of each row."""
    shown = copy.copy(model)
    shown.term_scores_ = model.standard_deviations_
    return shown.eval_terms(X)


def _by_bag(model: Any, X: Any) -> Any:
    """The contributions of each bag, (R, n, G[, K])."""
    found = []
    for r in range(len(model.bagged_intercept_)):
        bag = copy.copy(model)
        bag.term_scores_ = [scores[r] for scores in model.bagged_scores_]
        found.append(bag.eval_terms(X))
    return np.stack(found)


@pytest.mark.parametrize("prior", ["shared", "own"])
def test_two_classes_have_the_bars_of_interpret(prior: str) -> None:
    ev = shafer.Explainer(BINARY, FRAME, errors="bags", prior=prior)(NEW)
    expected = _shown(BINARY, NEW)
    terms = slice(0, expected.shape[1])
    np.testing.assert_allclose(
        ev.contrast_std(True, False)[:, terms], expected, rtol=1e-9, atol=1e-15
    )
    np.testing.assert_allclose(ev.weights_std[:, terms, 1], expected / 2, rtol=1e-9, atol=1e-15)
    if prior == "own":
        base = np.std(BINARY.bagged_intercept_)
        np.testing.assert_allclose(ev.contrast_std(True, False)[:, -1], base, rtol=1e-9)


def test_bars_are_those_of_the_bagged_scores() -> None:
    contributions = _by_bag(BINARY, NEW)
    ev = shafer.Explainer(BINARY, FRAME, errors="bags")(NEW)
    np.testing.assert_allclose(
        ev.contrast_std(True, False), contributions.std(axis=0), rtol=1e-9, atol=1e-15
    )
    joined = ev.grouped({"first": [0, 1, 5]})
    total = contributions[:, :, [0, 1, 5]].sum(axis=2)
    np.testing.assert_allclose(joined.contrast_std(True, False)[:, 0], total.std(axis=0), rtol=1e-9)
    by_column = shafer.Explainer(BINARY, FRAME, "source", errors="bags")(NEW)
    assert by_column.weights_std.shape[1] == by_column.n_components


def test_several_classes_are_centred_over_the_classes() -> None:
    contributions = _by_bag(SEVERAL, NEW)
    ev = shafer.Explainer(SEVERAL, FRAME, errors="bags", prior="own")(NEW)
    centred = contributions - contributions.mean(axis=-1, keepdims=True)
    np.testing.assert_allclose(ev.weights_std[:, :-1], centred.std(axis=0), rtol=1e-8, atol=1e-12)
    contrast = contributions[..., 2] - contributions[..., 0]
    np.testing.assert_allclose(
        ev.contrast_std(2, 0)[:, :-1], contrast.std(axis=0), rtol=1e-8, atol=1e-12
    )
    intercepts = SEVERAL.bagged_intercept_
    base = (intercepts[:, 2] - intercepts[:, 0]).std()
    np.testing.assert_allclose(ev.contrast_std(2, 0)[:, -1], base, rtol=1e-9)


def test_weights_of_the_bags_count() -> None:
    weighted = copy.copy(BINARY)
    weighted.bag_weights_ = np.array([1.0, 2.0, 0.0, 1.0])
    ev = shafer.Explainer(weighted, FRAME, errors="bags", check=False)(NEW)
    contributions = _by_bag(BINARY, NEW)[[0, 1, 1, 3]]
    np.testing.assert_allclose(
        ev.contrast_std(True, False), contributions.std(axis=0), rtol=1e-9, atol=1e-15
    )


def test_behind_a_scaler_and_inside_a_calibration() -> None:
    options = {"outer_bags": 3, "max_rounds": 20, "interactions": 0, "n_jobs": 1}
    plain = ExplainableBoostingClassifier(**options)
    scaled = make_pipeline(StandardScaler(), plain).fit(X, Y == 1)
    ev = shafer.Explainer(scaled, X, errors="bags")(X)
    np.testing.assert_allclose(
        ev.contrast_std(True, False), _shown(scaled[-1], scaled[0].transform(X)), rtol=1e-9
    )
    calibrated = CalibratedClassifierCV(plain, ensemble=False, method="sigmoid").fit(X, Y == 1)
    inside = calibrated.calibrated_classifiers_[0]
    found = shafer.Explainer(calibrated, X, errors="bags")(X)
    slope = abs(float(inside.calibrators[0].a_))
    np.testing.assert_allclose(
        found.contrast_std(True, False), slope * _shown(inside.estimator, X), rtol=1e-9
    )


def test_models_without_bags() -> None:
    linear = LogisticRegression(max_iter=1000).fit(X, Y)
    with pytest.raises(
        shafer.UnsupportedModelError, match="needs a model .* LogisticRegression is not one"
    ):
        shafer.Explainer(linear, X, errors="bags")
    alone = _model(Y == 1, outer_bags=1)
    with pytest.raises(shafer.UnsupportedModelError, match="at least 2 outer bags; .* has 1"):
        shafer.Explainer(alone, FRAME, errors="bags")
    edited = copy.deepcopy(BINARY)
    edited.bagged_scores_[0] = None
    with pytest.raises(shafer.UnsupportedModelError, match="has lost them, because it was edited"):
        shafer.Explainer(edited, FRAME, errors="bags")
    assert shafer.Explainer(edited, FRAME)(NEW).errors is None
