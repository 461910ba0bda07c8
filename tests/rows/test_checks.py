"""What is refused as rows, and rows with gaps."""

from __future__ import annotations

import pickle
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
import xgboost
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier

import shafer

# What users give for rows that are none: a word at the door, whatever the model.


X, Y = load_iris(return_X_y=True)
FRAME = pd.DataFrame(X, columns=list("abcd"))
BOOSTED = {
    "xgboost": XGBClassifier(n_estimators=3, n_jobs=1),
    "lightgbm": LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=1),
    "catboost": CatBoostClassifier(3, verbose=0, allow_writing_files=False, thread_count=1),
}
MODELS = {
    "logistic": LogisticRegression(max_iter=1000),
    "naive Bayes": GaussianNB(),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "trees": GradientBoostingClassifier(n_estimators=2),
    "histograms": HistGradientBoostingClassifier(max_iter=2),
    **BOOSTED,
}


@pytest.fixture(scope="module", params=[*MODELS, "arrays", "torch"])
def model(request: pytest.FixtureRequest) -> Any:
    if request.param == "arrays":
        return (np.ones((3, 4)), np.zeros(3))
    if request.param == "torch":
        return torch.nn.Linear(4, 3)
    return MODELS[request.param].fit(X, Y)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (FRAME.to_records(index=False), "structured array with the fields 'a', 'b'.*DataFrame"),
        (pl.DataFrame(X).lazy(), r"background is a LazyFrame.*Pass background.collect\(\)"),
        (None, "background is needed.*the model was trained on.*got None"),
        ([X[:50], X[50:]], r"list of 2 ndarrays, of shape \(50, 4\), \(100, 4\).*iter\(\[...\]\)"),
        ([FRAME[:50], FRAME[50:]], "list of 2 DataFrames.*If they are batches, concatenate"),
        ([pl.DataFrame(X)] * 5, r"list of 5 DataFrames, of shape \(150, 4\),.*, …; these"),
        ([sparse.csr_array(X)], "list of 1 csr_arrays"),
        ([X, Y], r"list of 2 ndarrays, of shape \(150, 4\), \(150,\)"),
        ("train.csv", "got the string 'train.csv'. If it is the name of a file, read"),
        ({}.values(), "dict_values has no rows"),
    ],
)
def test_no_background(model: Any, given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        shafer.Explainer(model, given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "X must hold rows.*got None"),
        ([X[:50], X[50:]], r"X is a list of 2 ndarrays.*explainer.stream\(\[...\]\)"),
        (iter([X]), r"got list_iterator.*explainer.stream\(batches\)"),
        ("test.csv", "X must hold rows.*got the string 'test.csv'"),
        (X[:, :3], "."),
        (X[:0], "."),
        (X[0], "."),
        (X[None], "."),
    ],
)
def test_no_rows(model: Any, given: Any, message: str) -> None:
    with pytest.raises((ValueError, shafer.UnsupportedModelError), match=message):
        shafer.Explainer(model, X)(given)


@pytest.mark.parametrize("groups", [None, {"first": [0, 1]}, "one"])
@pytest.mark.parametrize("name", ["naive Bayes", "logistic", "histograms"])
def test_rows_in_a_tuple(name: str, groups: Any) -> None:
    model = MODELS[name].fit(X, Y)
    if name == "histograms" and groups is not None:
        groups = "one"
    whole = shafer.Explainer(model, X, groups)(X)
    for rows in (tuple(X), tuple(map(tuple, X)), X.tolist(), list(X)):
        ev = shafer.Explainer(model, rows, groups)(rows)
        assert_allclose(ev.weights, whole.weights, atol=1e-12)


def test_a_tuple_of_tables_is_no_table() -> None:
    model = MODELS["logistic"].fit(X, Y)
    with pytest.raises(ValueError, match=r"LogisticRegression takes one table.*tuple of 2.*\(50"):
        shafer.Explainer(model, (X[:50], X[50:]))


def test_a_row_as_a_mapping() -> None:
    row = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    for name in ("logistic", "naive Bayes", *BOOSTED):
        explainer = shafer.Explainer(MODELS[name].fit(FRAME, Y), FRAME)
        with pytest.raises(ValueError, match="X must be a table, as .*; got dict.*single row"):
            explainer(row)


@pytest.mark.parametrize("name", BOOSTED)
@pytest.mark.parametrize("rows", [X[:, :3], np.c_[X, X], X[0], X[:0], X[:, :3].tolist()])
def test_shapes_for_boosting_libraries(name: str, rows: Any) -> None:
    explainer = shafer.Explainer(BOOSTED[name].fit(X, Y), X)
    with pytest.raises(ValueError, match="at least one row, and 4 columns as the .*; got shape"):
        explainer(rows)


@pytest.mark.parametrize("bare", [False, True])
def test_columns_for_lightgbm_are_brought_to_the_order_of_training(bare: bool) -> None:
    fitted = LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=1).fit(FRAME, Y)
    model = fitted.booster_ if bare else fitted
    for backwards in (FRAME[list("dcba")], pl.from_pandas(FRAME[list("dcba")])):
        ev = shafer.Explainer(model, backwards)(backwards)
        assert_allclose(ev.probability, fitted.predict_proba(FRAME), atol=1e-10)
    renamed = FRAME.rename(columns=str.upper)  # the order may still be right
    ev = shafer.Explainer(model, renamed)(renamed)
    assert_allclose(ev.probability, fitted.predict_proba(FRAME), atol=1e-10)


def test_lightgbm_changes_blanks_in_names() -> None:
    blank = FRAME.add_suffix(" 1")
    booster = LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=1).fit(blank, Y).booster_
    with pytest.raises(ValueError, match=r"order of training, \['a_1', .* got \['d 1', 'c 1'"):
        shafer.Explainer(booster, X)(blank.iloc[:, ::-1])


def test_columns_for_catboost_are_read_by_name() -> None:
    model = BOOSTED["catboost"].fit(FRAME, Y)
    explainer = shafer.Explainer(model, FRAME)
    assert_allclose(explainer(FRAME[list("dcba")]).weights, explainer(FRAME).weights)


def test_xgboost_says_what_it_cannot_read() -> None:
    model = BOOSTED["xgboost"].fit(FRAME, Y)
    explainer = shafer.Explainer(model, FRAME)
    # As the model itself, it takes an array after a frame.
    assert_allclose(explainer(X).weights, explainer(FRAME).weights)
    assert_allclose(explainer(X).probability, model.predict_proba(X), atol=1e-6)
    for rows, message in (
        (X.astype(str), "X must hold real numbers; got an array of <U"),
        (X * 1j, "X must hold real numbers; got an array of complex128"),
        (np.where(X > 7, np.inf, X), "^XGBoost cannot take X, of type ndarray: Input .*`inf`"),
        (FRAME.rename(columns={"a": "z"}), "X must have the columns.*without 'a'"),
    ):
        with pytest.raises(ValueError, match=message) as caught:
            explainer(rows)
        assert "Stack trace" not in str(caught.value)


def test_data_that_only_a_library_can_read() -> None:
    model = BOOSTED["xgboost"].fit(X, Y)
    with pytest.raises(ValueError, match="got DMatrix. Pass the data that it was made from"):
        shafer.Explainer(model, xgboost.DMatrix(X))
    model = BOOSTED["lightgbm"].fit(X, Y)
    with pytest.raises(ValueError, match="got Dataset. Pass the data that it was made from"):
        shafer.Explainer(model, lightgbm.Dataset(X))


# Rows with gaps, and rows unlike any other, through the public faces.


WINE, CULTIVAR = load_wine(return_X_y=True)
TRAIN, TEST = np.arange(len(WINE)) % 2 == 0, np.arange(len(WINE)) % 2 == 1


def _model():
    return make_pipeline(StandardScaler(), LogisticRegression())


def _with_gaps(share: float = 0.5) -> np.ndarray:
    rows = WINE[TEST].copy()
    rows[np.random.default_rng(0).random(rows.shape) < share] = np.nan
    return rows


@pytest.mark.parametrize("groups", [None, "one"])
@pytest.mark.parametrize("how", ["vacuous", "conditional"])
def test_complete_rows_are_as_before(how: str, groups) -> None:
    model = _model().fit(WINE[TRAIN], CULTIVAR[TRAIN])
    plain = shafer.Explainer(model, WINE[TRAIN], groups)(WINE[TEST])
    ready = shafer.Explainer(model, WINE[TRAIN], groups, missing=how)(WINE[TEST])
    assert ready.weights == pytest.approx(plain.weights, abs=1e-10)
    assert ready.component_names == plain.component_names


def test_guessing_beats_silence_beats_the_mean() -> None:
    rows = _with_gaps()
    model = _model().fit(WINE[TRAIN], CULTIVAR[TRAIN])
    at_mean = np.where(np.isnan(rows), WINE[TRAIN].mean(axis=0), rows)
    losses = [log_loss(CULTIVAR[TEST], model.predict_proba(at_mean))]
    for how in ("vacuous", "conditional"):
        clf = shafer.EvidentialClassifier(_model(), missing=how).fit(WINE[TRAIN], CULTIVAR[TRAIN])
        p = clf.predict_proba(rows)
        losses.append(log_loss(CULTIVAR[TEST], p))
        assert (clf.predict(rows) == clf.classes_[p.argmax(axis=1)]).all()
        assert clf.predict_set(rows, "utility_set").any(axis=1).all()
    assert losses[0] > losses[1] > losses[2]


def test_gaps_and_moderation_go_together() -> None:
    clf = shafer.EvidentialClassifier(
        _model(), "one", moderate="laplace+discount", missing="conditional"
    ).fit(WINE[TRAIN], CULTIVAR[TRAIN])
    whole, holed = clf.evidence(WINE[TEST]), clf.evidence(_with_gaps())
    assert isinstance(holed, shafer.DiscountedEvidence)
    assert np.isfinite(holed.belief).all()
    assert holed.evidence.ignorance.mean() > whole.evidence.ignorance.mean()


def test_gaps_are_an_error_unless_a_meaning_is_chosen() -> None:
    model = _model().fit(WINE[TRAIN], CULTIVAR[TRAIN])
    with pytest.raises(ValueError, match="NaN"):
        shafer.Explainer(model, WINE[TRAIN])(_with_gaps())
    with pytest.raises(ValueError, match="missing must be one of 'error', 'vacuous'"):
        shafer.Explainer(model, WINE[TRAIN], missing="mean")
    trees = HistGradientBoostingClassifier(max_iter=2).fit(WINE, CULTIVAR)
    with pytest.raises(shafer.UnsupportedModelError, match="linear models"):
        shafer.Explainer(trees, WINE, missing="vacuous")
    with pytest.raises(ValueError, match="one dense array; got an iterator"):
        shafer.Explainer(model, iter([WINE]), missing="vacuous")


def test_an_explainer_knows_what_is_usual() -> None:
    model = _model().fit(WINE[TRAIN], CULTIVAR[TRAIN])
    explainer = shafer.Explainer(model, WINE[TRAIN], moderate="laplace")
    noise = WINE[TEST] + 5 * WINE.std(axis=0) * np.random.default_rng(0).normal(
        size=WINE[TEST].shape
    )
    usual, unusual = explainer.typicality(WINE[TEST]), explainer.typicality(noise)
    assert np.median(usual) > 0.2
    assert np.median(unusual) < 0.05
    plain = shafer.Explainer(model, WINE[TRAIN])
    assert shafer.typicality(plain(WINE[TEST]), plain(WINE[TRAIN])) == pytest.approx(usual)
    for made in (explainer, plain):  # typicality was called before, or was not
        reopened = pickle.loads(pickle.dumps(made))
        assert reopened.typicality(WINE[TEST]) == pytest.approx(usual)
    batches = shafer.Explainer(model, iter([WINE[TRAIN]]))
    with pytest.raises(ValueError, match=r"shafer\.typicality\(explainer\(X\)"):
        batches.typicality(WINE[TEST])
