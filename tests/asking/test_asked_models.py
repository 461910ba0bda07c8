"""Which models can be asked: linear ones of every kind, alone or wrapped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.testing import assert_allclose
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import shafer
from linear_worlds import linear_world


def gappy_iris(rate: float = 0.4) -> tuple[Any, Any, Any]:
    X, y = load_iris(return_X_y=True)
    return X, y, np.where(np.random.default_rng(0).random(X.shape) < rate, np.nan, X)


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(max_iter=2000),
        LinearDiscriminantAnalysis(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        shafer.EvidentialClassifier(LogisticRegression(max_iter=2000), temper=0.7),
        shafer.EvidentialClassifier(LogisticRegression(max_iter=2000), moderate="laplace"),
    ],
)
def test_linear_models(model: Any) -> None:
    X, y, gappy = gappy_iris()
    explainer = shafer.Explainer(model.fit(X, y), X)
    assert (explainer.ask.overturn(gappy) <= 1).all()
    guarded = explainer.ask.guard(X)
    assert np.abs(guarded.probability - explainer(X).betting_probability).mean() < 0.05
    assert len(explainer.ask.next_inputs(gappy, top=None)) == np.isnan(gappy).sum()


def test_calibrated_models() -> None:
    X, y, gappy = gappy_iris()
    model = CalibratedClassifierCV(LinearSVC(), ensemble=False).fit(X, y == 1)
    assert 0 < shafer.Explainer(model, X).ask.overturn(gappy).max() < 1


def test_networks_are_refused() -> None:
    X, y, gappy = gappy_iris()
    model = MLPClassifier((3,), max_iter=20, solver="lbfgs", tol=1e3).fit(X, y)
    with pytest.raises(shafer.UnsupportedModelError, match="works for linear models"):
        shafer.Explainer(model, X).ask.next_inputs(gappy)


def test_tensors_and_lists() -> None:
    explainer, X, rng = linear_world(0, 3)
    gappy = np.where(rng.random((9, 6)) < 0.4, np.nan, X[:9])
    tensors = shafer.Explainer(tuple(map(torch.tensor, explainer.model)), torch.tensor(X))
    assert_allclose(tensors.ask.overturn(torch.tensor(gappy)), explainer.ask.overturn(gappy))
    found, wanted = tensors.ask.next_inputs(torch.tensor(gappy)), explainer.ask.next_inputs(gappy)
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-12)  # the libraries add in another order
    X, y, gappy = gappy_iris()
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    iris = shafer.Explainer(model, X)
    assert_allclose(iris.ask.overturn(gappy[:5].tolist()), iris.ask.overturn(gappy[:5]))


def test_moderation_counts_in_the_guard() -> None:
    X, y, _ = gappy_iris()
    model = LogisticRegression(max_iter=2000).fit(X[::5], y[::5])
    explainer = shafer.Explainer(model, X[::5], moderate="laplace")
    bad = X[:3].copy()
    bad[:, 1] = 1e3
    read = shafer.Explainer(model, X[::5], moderate="laplace", missing="conditional")
    without = X[:3].copy()
    without[:, 1] = np.nan
    found = explainer.ask.guard(bad)
    assert found.repaired[:, 1].all()
    assert_allclose(found.probability, read.ask.guard(without).probability, rtol=1e-9)
    assert np.abs(found.probability - read(without).probability).max() < 0.1


def test_a_background_with_gaps_behind_an_imputer() -> None:
    X, y, gappy = gappy_iris(0.1)
    model = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()).fit(gappy, y)
    explainer = shafer.Explainer(model, gappy)
    complete = shafer.Explainer(model, X)
    first, second = explainer.ask.overturn(gappy), complete.ask.overturn(gappy)
    assert np.corrcoef(first, second)[0, 1] > 0.9
    read = shafer.Explainer(model, gappy, missing="conditional")
    assert np.isfinite(read(gappy).weights).all()


def test_names_of_inputs() -> None:
    X, y, gappy = gappy_iris()
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    names = ["sl", "sw", "pl", "pw"]
    named = shafer.Explainer(model, X, names=names)
    assert set(named.ask.next_inputs(gappy)["input"]) == set(names)
    grouped = shafer.Explainer(model, X, {"sepal": [0, 1]}, names=names)
    assert grouped.ask.next_inputs(gappy).equals(named.ask.next_inputs(gappy))
    frame = pd.DataFrame(X, columns=names)
    framed = shafer.Explainer(LogisticRegression(max_iter=2000).fit(frame, y), frame)
    assert set(framed.ask.check_cells(frame)["input"]) <= set(names)


def test_sample_weights_of_the_background() -> None:
    explainer, X, rng = linear_world(0, 2)
    gappy = np.where(rng.random((9, 6)) < 0.4, np.nan, X[:9])
    weight = np.r_[np.ones(400), np.zeros(400)]
    half = shafer.Explainer(explainer.model, X, sample_weight=weight)
    direct = shafer.Explainer(explainer.model, X[:400])
    assert_allclose(half.ask.overturn(gappy), direct.ask.overturn(gappy), rtol=1e-6)


def test_a_model_trained_further_is_noticed() -> None:
    X, y, gappy = gappy_iris()
    model = LogisticRegression(max_iter=2000).fit(X, y)
    explainer = shafer.Explainer(model, X)
    explainer.ask.overturn(gappy)
    model.fit(X, 2 - y)
    with pytest.raises(ValueError, match="trained again"):
        explainer.ask.overturn(gappy)
