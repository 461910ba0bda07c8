"""Questions to every model, to saved ones and to hostile inputs."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

import shafer
from linear_worlds import linear_world

# Which models can be asked: linear ones of every kind, alone or wrapped.


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


# Saved explainers answer the same questions.


def frame(n: int = 200) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=n), "c": rng.choice(["u", "v", "w"], n)}, dtype=object)
    X["a"] = X["a"].astype(float)
    return X, (X["a"] + (X["c"] == "u") + rng.normal(size=n) > 0).to_numpy()


@pytest.mark.parametrize("missing", ["error", "conditional", "vacuous"])
def test_pickled_explainers(missing: str) -> None:
    X, y = frame()
    encoder = make_column_transformer((StandardScaler(), ["a"]), (OneHotEncoder(), ["c"]))
    model = make_pipeline(encoder, LogisticRegression()).fit(X, y)
    explainer = shafer.Explainer(model, X, missing=missing)
    gappy = X.mask(np.random.default_rng(1).random(X.shape) < 0.4)
    for again in (pickle.loads(pickle.dumps(explainer)), copy.deepcopy(explainer)):
        assert again.ask.next_inputs(gappy).equals(explainer.ask.next_inputs(gappy))
        assert again.ask.check_cells(gappy).equals(explainer.ask.check_cells(gappy))
        assert_allclose(again.ask.overturn(gappy), explainer.ask.overturn(gappy))
        assert_allclose(again.ask.guard(gappy).probability, explainer.ask.guard(gappy).probability)
        if missing != "error":
            assert_allclose(again(gappy).weights, explainer(gappy).weights)


def test_skops_files(tmp_path: Path) -> None:
    X, y = frame()
    encoder = make_column_transformer((StandardScaler(), ["a"]), (OneHotEncoder(), ["c"]))
    clf = shafer.EvidentialClassifier(make_pipeline(encoder, LogisticRegression()), guard=True)
    clf.fit(X, y)
    skops.io.dump(clf, tmp_path / "model.skops")
    unknown = skops.io.get_untrusted_types(file=tmp_path / "model.skops")
    again = skops.io.load(tmp_path / "model.skops", trusted=unknown)
    assert_allclose(again.predict_proba(X), clf.predict_proba(X))
    assert all("asking" not in name for name in unknown)


def test_models_without_a_background() -> None:
    explainer, X, _ = linear_world(0, 2)
    batches = shafer.Explainer(explainer.model, iter([X]))
    with pytest.raises(ValueError, match="made from an iterator, or loaded"):
        pickle.loads(pickle.dumps(batches)).ask.overturn(X)


def test_damaged_files() -> None:
    explainer, _, _ = linear_world(0, 2)
    state = explainer.__getstate__()
    inputs = state["inputs"]
    for name, value in [
        ("ranks", inputs["ranks"][:-1]),
        ("values", inputs["values"][:-1]),
        ("blocks", {**inputs["blocks"], "features": ((0,), (0,), (2,), (3,), (4,), (5,))}),
        ("blocks", {**inputs["blocks"], "names": ("x0",)}),
        ("missing", {**inputs["missing"], "how": "mean"}),
    ]:
        damaged = {**state, "inputs": {**inputs, name: value}}
        with pytest.raises(ValueError, match="damaged"):
            shafer.Explainer.__new__(shafer.Explainer).__setstate__(damaged)


# All questions on hostile input: the right limits, and never NaN.


NAN = np.nan


def ask_everything(explainer: shafer.Explainer, X: Any) -> dict[str, Any]:
    """Ask all questions, and check that all numbers are finite and in their range."""
    guard = explainer.ask.guard(X)
    answers = {
        "next": explainer.ask.next_inputs(X, top=None),
        "plan": explainer.ask.next_measurements(X, 4),
        "cells": explainer.ask.check_cells(X, top=None, order="stake"),
        "overturn": explainer.ask.overturn(X),
        "fragility": explainer.ask.fragility(X),
        "alarm": guard.alarm,
        "guard": guard.probability,
    }
    for name in ("overturn", "fragility", "alarm", "guard"):
        assert ((answers[name] >= 0) & (answers[name] <= 1)).all(), name
    assert_allclose(guard.probability.sum(axis=1), 1.0)
    for name, column in [("next", "information"), ("cells", "surprise"), ("cells", "stake")]:
        values = answers[name][column].to_numpy()
        assert np.isfinite(values).all(), column
        assert (values >= 0).all(), column
    assert np.isfinite(answers["cells"]["expected"].to_numpy(dtype=float)).all()
    return answers


def test_none_missing() -> None:
    explainer, X, _ = linear_world(0, 3)
    found = ask_everything(explainer, X[:20])
    assert found["next"].empty
    assert found["plan"].empty
    assert_array_equal(found["overturn"], np.zeros(20))


@pytest.mark.parametrize("missing", ["error", "vacuous", "conditional"])
def test_all_missing(missing: str) -> None:
    explainer, X, _ = linear_world(0, 3, missing=missing)
    found = ask_everything(explainer, np.full((3, 6), NAN))
    assert len(found["next"]) == 18
    assert_array_equal(found["fragility"], np.zeros(3))
    assert_array_equal(found["alarm"], np.zeros(3))
    assert found["cells"].empty
    read = shafer.Explainer(explainer.model, X, missing="conditional")
    assert_allclose(found["guard"], read(np.full((3, 6), NAN)).probability, rtol=1e-9)


def test_constant_columns() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    X[:, 1] = 7.3
    explainer = shafer.Explainer(([[1.0, 2.0, -1.0]], [0.1]), X)
    gappy = X[:5].copy()
    gappy[:, 1] = NAN
    found = ask_everything(explainer, gappy)
    assert_array_equal(found["next"]["information"], np.zeros(5))
    assert found["plan"].empty  # nothing is to be learnt
    assert_array_equal(found["overturn"], np.zeros(5))
    changed = X[:5].copy()
    changed[:, 1] = 8.0
    found = ask_everything(explainer, changed)
    cells = found["cells"].set_index(["row", "input"])
    assert (cells.xs("x1", level="input")["surprise"] > 1e3).all()
    assert_allclose(cells.xs("x1", level="input")["expected"], 7.3)
    assert explainer.ask.guard(changed).repaired[:, 1].all()
    assert not explainer.ask.guard(X[:5]).repaired[:, 1].any()


def test_duplicated_columns() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    X = np.column_stack([x, x])
    explainer = shafer.Explainer(([[1.0, -0.5, 1.0, -0.5]], [0.1]), X)
    gappy = X[:5].copy()
    gappy[:, 0] = NAN
    found = ask_everything(explainer, gappy)
    single = shafer.Explainer(([[2.0, -1.0]], [0.1]), x)
    open_one = x[:5].copy()
    open_one[:, 0] = NAN
    unknown = single.ask.next_inputs(open_one)["information"].to_numpy()
    assert (found["next"]["information"].to_numpy() < 0.05 * unknown).all()
    both = X[:5].copy()
    both[:, [0, 2]] = NAN
    found = ask_everything(explainer, both)
    # Either copy tells what the single column would.
    first = found["next"].groupby("row")["information"].max().to_numpy()
    assert_allclose(first, unknown, rtol=0.05)
    assert_allclose(found["overturn"], single.ask.overturn(open_one), atol=0.01)


def test_one_class_certain() -> None:
    explainer, X, rng = linear_world(0, 3, slope=300.0)
    gappy = np.where(rng.random((30, 6)) < 0.3, NAN, X[:30])
    found = ask_everything(explainer, gappy)
    certain = shafer.Explainer((np.zeros((1, 3)), [1e4]), np.eye(3))
    found = ask_everything(certain, np.full((1, 3), NAN))
    assert_array_equal(found["overturn"], [0.0])
    assert_array_equal(found["next"]["information"], np.zeros(3))


def test_one_input() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 1))
    explainer = shafer.Explainer(([[2.0]], [0.5]), X)
    found = ask_everything(explainer, np.array([[NAN], [0.3], [90.0]]))
    assert found["next"]["row"].tolist() == [0]
    assert explainer.ask.guard(np.array([[90.0]])).repaired.tolist() == [[True]]


def test_a_hundred_classes() -> None:
    explainer, X, rng = linear_world(0, 100)
    gappy = np.where(rng.random((40, 6)) < 0.4, NAN, X[:40])
    found = ask_everything(explainer, gappy)
    pairs = found["next"]
    assert (pairs["class"] != pairs["over"]).all()


def test_one_background_row() -> None:
    explainer = shafer.Explainer(([[1.0, -1.0]], [0.1]), np.ones((1, 2)))
    with pytest.raises(ValueError, match="single row"):
        explainer.ask.overturn(np.array([[NAN, 1.0], [1.0, 1.0]]))


def test_single_precision_permuted_columns_and_text_labels() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = LogisticRegression(max_iter=2000).fit(X, names)
    explainer = shafer.Explainer(model, X)
    gappy = X.mask(np.random.default_rng(0).random(X.shape) < 0.4)
    found = ask_everything(explainer, gappy)
    assert set(found["next"]["class"]) <= set(names)
    other = ask_everything(explainer, gappy[gappy.columns[::-1]].astype(np.float32))
    for name in ("overturn", "fragility", "alarm", "guard"):
        assert_allclose(other[name], found[name], atol=1e-4)
    assert (other["next"]["input"] == found["next"]["input"]).mean() > 0.99
    assert other["cells"]["row"].tolist() == found["cells"]["row"].tolist()


def test_large_and_small_units() -> None:
    explainer, X, rng = linear_world(1, 3)
    coef, intercept = explainer.model
    units = 10.0 ** np.array([-9, -3, 0, 3, 6, 9])
    scaled = shafer.Explainer((coef / units, intercept), X * units)
    gappy = np.where(rng.random((20, 6)) < 0.3, NAN, X[:20])
    first, second = ask_everything(explainer, gappy), ask_everything(scaled, gappy * units)
    for name in ("overturn", "fragility", "alarm", "guard"):
        assert_allclose(second[name], first[name], atol=1e-9)
    assert_allclose(second["next"]["information"], first["next"]["information"], rtol=1e-7)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 7), st.floats(-2, 2))
def test_random_worlds(seed: int, n_classes: int, n_inputs: int, size: float) -> None:
    explainer, X, rng = linear_world(seed, n_classes, n_inputs, slope=10.0**size)
    bad = X[:12] * 10.0 ** rng.integers(-2, 3, size=(12, n_inputs))
    ask_everything(explainer, np.where(rng.random(bad.shape) < 0.3, NAN, bad))


def test_infinity_and_empty_columns_are_refused() -> None:
    explainer, X, _ = linear_world(0, 2)
    bad = X[:3].copy()
    bad[1, 2] = np.inf
    with pytest.raises(ValueError, match="infinity in row 1"):
        explainer.ask.overturn(bad)
    with pytest.raises(ValueError, match="columns"):
        explainer.ask.overturn(X[:, :4])
    frame = pd.DataFrame(X, columns=list("abcdef"))
    named = shafer.Explainer(explainer.model, frame)
    with pytest.raises(ValueError, match="without 'f'"):
        named.ask.overturn(frame.drop(columns="f"))
