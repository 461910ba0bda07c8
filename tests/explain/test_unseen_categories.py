"""Unseen categories behind a one-hot encoder are atypical."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

import shafer
from shafer.explain.unseen import UnseenCategories

NUMBERS, CATEGORIES = ["x0", "x1"], ["c0", "c1"]


def _data(n: int, seed: int) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({name: rng.normal(size=n) for name in NUMBERS})
    for name in CATEGORIES:
        rows[name] = rng.choice(list("abcdef"), size=n)
    score = rows["x0"] + 1.5 * (rows["c0"] == "a") + rng.logistic(size=n)
    return rows, (score > 0).astype(int).to_numpy()


TRAIN, Y = _data(600, 0)
TEST, _ = _data(200, 1)
NEW = TEST.assign(c0="new")


def _model(encoder: OneHotEncoder, *behind: Any) -> Any:
    columns = make_column_transformer((StandardScaler(), NUMBERS), (encoder, CATEGORIES))
    return make_pipeline(columns, *behind, LogisticRegression()).fit(TRAIN, Y)


def _auroc(explainer: shafer.Explainer) -> float:
    score = np.concatenate([explainer.typicality(TEST), explainer.typicality(NEW)])
    return float(roc_auc_score(np.repeat([0, 1], len(TEST)), -score))


@pytest.mark.parametrize("groups", [None, "source", "one"])
@pytest.mark.parametrize(
    "encoder",
    [
        OneHotEncoder(handle_unknown="ignore"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        OneHotEncoder(handle_unknown="infrequent_if_exist"),
    ],
)
def test_unseen_categories_are_atypical(encoder: OneHotEncoder, groups: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        explainer = shafer.Explainer(_model(encoder), TRAIN, groups)
        assert _auroc(explainer) > 0.99
        assert _auroc(pickle.loads(pickle.dumps(explainer))) > 0.99
    usual = explainer.typicality(TEST)
    evidence = explainer(TEST), explainer(TRAIN)
    np.testing.assert_allclose(usual, shafer.typicality(*evidence))  # others keep their value


def test_frames_from_transformers() -> None:
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer((encoder, CATEGORIES), (StandardScaler(), NUMBERS))
    columns.set_output(transform="pandas")
    model = make_pipeline(columns, LogisticRegression()).fit(TRAIN, Y)
    assert _auroc(shafer.Explainer(model, TRAIN)) > 0.99


def test_infrequent_categories_are_one_column() -> None:
    encoder = OneHotEncoder(handle_unknown="ignore", min_frequency=0.2, sparse_output=False)
    model = _model(encoder)
    found = UnseenCategories.behind([model[0]])
    widths = [block.stop - block.start for block in found.blocks]
    assert found.blocks[-1].stop == model[0].transform(TEST).shape[1]
    assert sum(widths) == model[0].transform(TEST).shape[1] - len(NUMBERS)


@pytest.mark.parametrize(
    "model",
    [
        _model(OneHotEncoder(handle_unknown="ignore", drop="first")),
        _model(OneHotEncoder(handle_unknown="ignore"), MaxAbsScaler()),
    ],
)
def test_a_warning_where_they_cannot_be_found(model: Any) -> None:
    explainer = shafer.Explainer(model, TRAIN)
    with pytest.warns(UserWarning, match="cannot detect all unseen categories"):
        explainer.typicality(TEST)


def test_encoders_that_raise_errors_are_left_alone() -> None:
    found = UnseenCategories.behind([_model(OneHotEncoder())[0]])
    assert found.blocks == ()
    assert not found.hidden


def test_the_discount_finds_them_too() -> None:
    model = _model(OneHotEncoder(handle_unknown="ignore"))
    explainer = shafer.Explainer(model, TRAIN, moderate="laplace+discount")
    score = np.concatenate([explainer(rows).epistemic_ignorance for rows in (TEST, NEW)])
    assert roc_auc_score(np.repeat([0, 1], len(TEST)), score) > 0.8
