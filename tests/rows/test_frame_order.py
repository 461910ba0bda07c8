"""Data frames are read by column name."""

from __future__ import annotations

import re
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from catboost import CatBoostClassifier
from interpret.glassbox import ExplainableBoostingClassifier
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from shafer.rows.columns import in_order

FRAME, Y = load_iris(return_X_y=True, as_frame=True)
BACKWARDS = list(FRAME.columns[::-1])

MODELS = {
    # These two read the columns of some frames by position.
    "lightgbm": lambda: lightgbm.LGBMClassifier(n_estimators=3, verbose=-1),
    "ebm": lambda: ExplainableBoostingClassifier(max_rounds=10, interactions=0),
    "linear": lambda: LogisticRegression(max_iter=1000),
}


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("name", sorted(MODELS))
def test_permuted_columns_give_the_same_evidence(name: str, library: str) -> None:
    frame = FRAME if library == "pandas" else pl.DataFrame(FRAME.to_dict("list"))
    permuted = frame[BACKWARDS] if library == "pandas" else frame.select(BACKWARDS)
    explainer = shafer.Explainer(MODELS[name]().fit(frame, Y), frame)
    np.testing.assert_array_equal(explainer(permuted).weights, explainer(frame).weights)


def test_batches_of_the_background_are_read_by_name() -> None:
    model = LogisticRegression(max_iter=1000).fit(FRAME, Y)
    batches = iter([FRAME[:70], FRAME[70:][BACKWARDS]])
    explainer = shafer.Explainer(model, batches)
    np.testing.assert_allclose(explainer.pool.means, FRAME.mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize(
    "X", [FRAME.to_numpy(), FRAME.rename(columns=str.upper), FRAME[BACKWARDS[:3]], ["a text"]]
)
def test_other_input_comes_back_as_it_is(X: Any) -> None:
    assert in_order(X, tuple(FRAME.columns)) is X
    assert in_order(FRAME[BACKWARDS], None).columns.tolist() == BACKWARDS


def test_numbered_columns() -> None:
    frame = pd.DataFrame([[1.0, 2.0]])
    assert in_order(frame[[1, 0]], ("0", "1")).to_numpy().tolist() == [[1.0, 2.0]]


ORDERED = [(name, library) for name in sorted(MODELS) for library in ("pandas", "polars")]


@pytest.mark.parametrize(("name", "library"), [*ORDERED, ("ebm", "array")])
def test_the_order_is_that_of_training(name: str, library: str) -> None:
    """A background in another order gave wrong probabilities where X is read by position."""
    model = MODELS[name]().fit(FRAME, Y)
    background: Any = FRAME[BACKWARDS]
    if library == "polars":
        background = pl.DataFrame(background.to_dict("list"))
    elif library == "array":
        background = FRAME.to_numpy()
    explainer = shafer.Explainer(model, background)
    assert explainer.component_names[0].replace("_", " ") == FRAME.columns[0]
    for X in (FRAME, FRAME[BACKWARDS], pl.DataFrame(FRAME[BACKWARDS].to_dict("list"))):
        np.testing.assert_allclose(explainer(X).probability, model.predict_proba(FRAME), atol=1e-9)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_arrow_tables(name: str) -> None:
    table = pa.table(FRAME.to_dict("list"))
    model = MODELS[name]().fit(FRAME, Y)
    explainer = shafer.Explainer(model, table)
    np.testing.assert_allclose(explainer(table).probability, model.predict_proba(FRAME), atol=1e-9)


WIDTH, *OTHERS = FRAME.columns


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
    explainer = shafer.Explainer(model.fit(FRAME, Y), FRAME)
    named = f"must have .*without '{re.escape(WIDTH)}'. Name the columns as in training"
    for X in (FRAME.rename(columns={WIDTH: "other"}), FRAME[OTHERS].assign(other=1.0)):
        with pytest.raises(ValueError, match="^X " + named):
            explainer(X)
        with pytest.raises(ValueError, match="^background " + named):
            shafer.Explainer(model, X)
    with pytest.raises(ValueError, match="^X must have the columns"):
        explainer(FRAME.set_axis(range(4), axis=1))


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
