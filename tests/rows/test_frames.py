"""Data frames: read by column name, with unusual columns."""

from __future__ import annotations

import pickle
import re
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from catboost import CatBoostClassifier
from interpret.glassbox import ExplainableBoostingClassifier
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from xgboost import XGBClassifier

import shafer
from shafer.models.registry import own_probabilities
from shafer.rows.columns import in_order

# Data frames with unusual columns: numbers as names, duplicates, dates, sparse columns, NaN.


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
    explainer = shafer.Explainer(model, frame, prior="shared")
    assert explainer.component_names == ("0", "1", "2")
    assert_allclose(explainer(frame).logits, shafer.Explainer(model, X, prior="shared")(X).logits)
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
    explainer = shafer.Explainer(model, twice, prior="shared")
    if name != "pipeline":  # a scaler does not name its outputs after the background
        assert explainer.component_names == ("a (1)", "a (2)", "b")
    probability = np.asarray(explainer(twice).probability)
    assert_allclose(
        probability, shafer.Explainer(model, X, prior="shared")(X).probability, atol=1e-7
    )
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


@pytest.fixture(scope="module")
def mixed() -> tuple[Any, pd.DataFrame]:
    """A pipeline that treats each of three columns in another way, and its rows."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "town": random.choice(["a", "b"], 60),
            "age": random.normal(size=60),
            "ldl": random.normal(size=60),
        }
    )
    encoder = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["age"]),
        (make_pipeline(StandardScaler(), PCA(1)), ["ldl"]),
        (OneHotEncoder(), ["town"]),
    )
    model = make_pipeline(encoder, LogisticRegression()).fit(X, X["age"] > 0)
    return shafer.Explainer(model, X, groups="one"), X


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("ldl", np.nan, "Column 'ldl' is missing (NaN), and PCA cannot take NaN."),
        ("ldl", np.inf, "Column 'ldl' is infinite, and StandardScaler cannot take infinity."),
        ("age", -np.inf, "Column 'age' is infinite, and SimpleImputer cannot take infinity."),
        ("ldl", "x", "Column 'ldl' must hold numbers, as in training; it has 'x'."),
        ("town", "c", "Column 'town' has the category 'c', which the model does not know."),
        ("town", None, "Column 'town' is missing, which OneHotEncoder does not know."),
    ],
)
def test_bad_rows_are_named_with_the_column_of_the_user(
    mixed: Any, column: str, value: Any, reason: str
) -> None:
    explainer, X = mixed
    bad = X.astype({column: object})
    bad.loc[[7, 9], column] = value
    bad.loc[1, "age"] = np.nan  # which is imputed
    with pytest.raises(shafer.BadRowsError) as caught:
        explainer(bad)
    error = pickle.loads(pickle.dumps(caught.value))  # as it comes back from a worker
    assert (error.rows, error.column, set(error.reasons)) == ((7, 9), column, {reason})
    assert str(error) == str(caught.value)
    assert "ow 7" in str(error)


def test_bad_rows_of_arrays_and_sparse_tables() -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, X[:, 0] > 0)
    bad = X.copy()
    bad[[3, 5], 1] = np.inf
    with pytest.raises(
        shafer.BadRowsError, match="infinity, the first in row 3, column 1"
    ) as caught:
        shafer.Explainer(model, X)(bad)
    assert caught.value.rows == (3, 5)
    table = sparse.csr_array(np.array([[0.0, 1.0], [np.nan, np.nan], [2.0, 0.0], [0.0, np.nan]]))
    with pytest.raises(shafer.BadRowsError, match="first in row 1, column 0") as caught:
        shafer.Explainer(([1.0, -2.0], 0.5), np.zeros((1, 2)))(table)
    assert caught.value.rows == (1, 3)
    assert [reason[:8] for reason in caught.value.reasons] == ["Column 0", "Column 1"]


# Data frames are read by column name.


IRIS, SPECIES = load_iris(return_X_y=True, as_frame=True)
BACKWARDS = list(IRIS.columns[::-1])

NAMED_MODELS = {
    # These two read the columns of some frames by position.
    "lightgbm": lambda: lightgbm.LGBMClassifier(n_estimators=3, verbose=-1),
    "ebm": lambda: ExplainableBoostingClassifier(max_rounds=10, interactions=0),
    "linear": lambda: LogisticRegression(max_iter=1000),
}


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("name", sorted(NAMED_MODELS))
def test_permuted_columns_give_the_same_evidence(name: str, library: str) -> None:
    frame = IRIS if library == "pandas" else pl.DataFrame(IRIS.to_dict("list"))
    permuted = frame[BACKWARDS] if library == "pandas" else frame.select(BACKWARDS)
    explainer = shafer.Explainer(NAMED_MODELS[name]().fit(frame, SPECIES), frame)
    np.testing.assert_array_equal(explainer(permuted).weights, explainer(frame).weights)


def test_batches_of_the_background_are_read_by_name() -> None:
    model = LogisticRegression(max_iter=1000).fit(IRIS, SPECIES)
    batches = iter([IRIS[:70], IRIS[70:][BACKWARDS]])
    explainer = shafer.Explainer(model, batches)
    np.testing.assert_allclose(explainer.pool.means, IRIS.mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize(
    "X", [IRIS.to_numpy(), IRIS.rename(columns=str.upper), IRIS[BACKWARDS[:3]], ["a text"]]
)
def test_other_input_comes_back_as_it_is(X: Any) -> None:
    assert in_order(X, tuple(IRIS.columns)) is X
    assert in_order(IRIS[BACKWARDS], None).columns.tolist() == BACKWARDS


def test_numbered_columns() -> None:
    frame = pd.DataFrame([[1.0, 2.0]])
    assert in_order(frame[[1, 0]], ("0", "1")).to_numpy().tolist() == [[1.0, 2.0]]


ORDERED = [(name, library) for name in sorted(NAMED_MODELS) for library in ("pandas", "polars")]


@pytest.mark.parametrize(("name", "library"), [*ORDERED, ("ebm", "array")])
def test_the_order_is_that_of_training(name: str, library: str) -> None:
    """A background in another order gave wrong probabilities where X is read by position."""
    model = NAMED_MODELS[name]().fit(IRIS, SPECIES)
    background: Any = IRIS[BACKWARDS]
    if library == "polars":
        background = pl.DataFrame(background.to_dict("list"))
    elif library == "array":
        background = IRIS.to_numpy()
    explainer = shafer.Explainer(model, background)
    assert explainer.component_names[0].replace("_", " ") == IRIS.columns[0]
    for X in (IRIS, IRIS[BACKWARDS], pl.DataFrame(IRIS[BACKWARDS].to_dict("list"))):
        np.testing.assert_allclose(explainer(X).probability, model.predict_proba(IRIS), atol=1e-9)


@pytest.mark.parametrize("name", sorted(NAMED_MODELS))
def test_arrow_tables(name: str) -> None:
    table = pa.table(IRIS.to_dict("list"))
    model = NAMED_MODELS[name]().fit(IRIS, SPECIES)
    explainer = shafer.Explainer(model, table)
    np.testing.assert_allclose(explainer(table).probability, model.predict_proba(IRIS), atol=1e-9)


WIDTH, *OTHERS = IRIS.columns


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(
            make_column_transformer((StandardScaler(), [WIDTH]), remainder="passthrough"),
            LogisticRegression(),
        ),
        CatBoostClassifier(2, verbose=0, allow_writing_files=False),
        LogisticRegression(max_iter=1000),
    ],
    ids=["columns", "catboost", "linear"],
)
def test_missing_columns_are_named(model: Any) -> None:
    """Some libraries answered with an error about something else, or of their own type."""
    explainer = shafer.Explainer(model.fit(IRIS, SPECIES), IRIS)
    named = f"must have .*without '{re.escape(WIDTH)}'. Name the columns as in training"
    for X in (IRIS.rename(columns={WIDTH: "other"}), IRIS[OTHERS].assign(other=1.0)):
        with pytest.raises(ValueError, match="^X " + named):
            explainer(X)
        with pytest.raises(ValueError, match="^background " + named):
            shafer.Explainer(model, X)
    with pytest.raises(ValueError, match="^X must have the columns"):
        explainer(IRIS.set_axis(range(4), axis=1))
    with pytest.raises(ValueError, match=r"one row of it as a Series.*table.loc\[\[label\]\]"):
        explainer(IRIS.iloc[0])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_further_columns_are_left_out(library: str) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
    model = LogisticRegression().fit(frame, frame["a"] > 0)
    wide = frame.assign(id=np.arange(40), label="x")[["id", "c", "b", "label", "a"]]
    given = pl.from_pandas(wide) if library == "polars" else wide
    expected = shafer.Explainer(model, frame)(frame).weights
    np.testing.assert_array_equal(shafer.Explainer(model, frame)(given).weights, expected)
    np.testing.assert_array_equal(shafer.Explainer(model, given)(frame).weights, expected)


def test_columns_of_the_same_name_are_refused() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["a", "b"])
    explainer = shafer.Explainer(LogisticRegression().fit(frame, frame["a"] > 0), frame)
    with pytest.raises(ValueError, match="must have the columns of the background"):
        explainer(frame[["a", "b", "a"]])
