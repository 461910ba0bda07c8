"""All questions on hostile input: the right limits, and never NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import shafer
from linear_worlds import linear_world

NAN = np.nan


def ask_everything(explainer: shafer.Explainer, X: Any) -> dict[str, Any]:
    """Ask all questions, and check that all numbers are finite and in their range."""
    guard = explainer.ask.guard(X)
    answers = {
        "next": explainer.ask.next_inputs(X, top=None),
        "plan": explainer.ask.next_measurements(X, 4),
        "cells": explainer.ask.check_cells(X, top=None),
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
    assert (pairs["class"] != pairs["against"]).all()


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
