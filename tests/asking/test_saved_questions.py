"""Saved explainers answer the same questions."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import shafer
from linear_worlds import linear_world


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
