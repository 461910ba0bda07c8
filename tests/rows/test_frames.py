"""Data frames with unusual columns: numbers as names, duplicates, dates, sparse columns, NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.testing import assert_allclose
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier

import shafer
from shafer.models.registry import own_probabilities

_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)
FRAME = pd.DataFrame(X, columns=list("abc"))
HEAD = shafer.LinearHead(np.ones(3), 0.0)
MODELS = {
    "logistic": LogisticRegression().fit(FRAME, Y),
    "naive Bayes": GaussianNB().fit(FRAME, Y),
    "trees": GradientBoostingClassifier(n_estimators=3).fit(FRAME, Y),
    "histograms": HistGradientBoostingClassifier(max_iter=3).fit(FRAME, Y),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()).fit(FRAME, Y),
    "head": HEAD,
    "xgboost": XGBClassifier(n_estimators=3).fit(FRAME, Y),
    "torch": torch.nn.Linear(3, 2),
}


@pytest.mark.parametrize(
    "model", [(np.ones(3), 0.0), shafer.LinearHead(np.ones((3, 3)), np.zeros(3))]
)
def test_numbers_as_column_names(model: Any) -> None:
    frame = pd.DataFrame(X)
    explainer = shafer.Explainer(model, frame)
    assert explainer.component_names == ("0", "1", "2")
    assert_allclose(explainer(frame).logits, shafer.Explainer(model, X)(X).logits)
    assert_allclose(explainer(frame[[2, 1, 0]]).logits, explainer(frame).logits)
    with pytest.raises(ValueError, match=r"columns of the background; got \['0', '1', '7'\]"):
        explainer(frame.rename(columns={2: 7}))


@pytest.mark.parametrize("name", ["linear", "pipeline", "head", "torch"])
def test_duplicate_columns(name: str) -> None:
    models = {
        "linear": LogisticRegression().fit(X, Y),
        "pipeline": make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y),
        "head": HEAD,
        "torch": torch.nn.Linear(3, 2),
    }
    model = models[name]
    twice = pd.DataFrame(X, columns=list("aab"))
    explainer = shafer.Explainer(model, twice)
    if name != "pipeline":  # a scaler does not name its outputs after the background
        assert explainer.component_names == ("a (1)", "a (2)", "b")
    probability = np.asarray(explainer(twice).probability)
    assert_allclose(probability, shafer.Explainer(model, X)(X).probability, atol=1e-7)
    own = own_probabilities(model, twice)
    if own is not None:
        assert_allclose(probability, own, atol=1e-6)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", ["date", "duration"])
def test_dates(name: str, kind: str) -> None:
    days = pd.Series(range(60))
    column = pd.to_datetime(days, unit="D") if kind == "date" else pd.to_timedelta(days, unit="D")
    with pytest.raises(ValueError, match="in the columns 'b'; .* takes numbers. Convert them"):
        shafer.Explainer(MODELS[name], FRAME)(FRAME.assign(b=column))


def test_an_array_of_dates() -> None:
    days = np.zeros((3, 3), dtype="datetime64[D]")
    with pytest.raises(ValueError, match=r"got an array of datetime64\[D\]. Convert"):
        shafer.Explainer(MODELS["logistic"], FRAME)(days)


@pytest.mark.parametrize("name", ["naive Bayes", "histograms", "pipeline"])
def test_sparse_columns(name: str) -> None:
    sparse = FRAME.astype(pd.SparseDtype("float64", 0.0))
    with pytest.raises(ValueError, match="sparse columns.* Pass X.sparse.to_dense"):
        shafer.Explainer(MODELS[name], FRAME)(sparse)


@pytest.mark.parametrize("missing", ["vacuous", "conditional"])
def test_sparse_columns_with_gaps(missing: str) -> None:
    gappy = FRAME.copy()
    gappy.iloc[3, 1] = np.nan
    sparse = gappy.astype(pd.SparseDtype("float64", np.nan))
    explainer = shafer.Explainer(MODELS["logistic"], FRAME, missing=missing)
    with pytest.raises(ValueError, match="sparse columns.* Pass X.sparse.to_dense"):
        explainer(sparse)
    assert explainer(gappy).probability.shape == (60, 2)


@pytest.mark.parametrize("name", ["logistic", "naive Bayes", "trees", "pipeline", "head", "torch"])
def test_a_nan_is_reported_by_its_column(name: str) -> None:
    gappy = FRAME.copy()
    gappy.iloc[3, 1] = np.nan
    with pytest.raises(ValueError, match="X contains NaN, the first in row 3, column 'b'"):
        shafer.Explainer(MODELS[name], FRAME)(gappy)
