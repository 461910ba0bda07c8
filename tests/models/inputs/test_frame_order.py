"""Data frames are read by column name."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest
from interpret.glassbox import ExplainableBoostingClassifier
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.models.inputs.frame_order import in_order

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
