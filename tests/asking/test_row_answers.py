"""All questions at once have the answers of the single questions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import shafer
from linear_worlds import linear_world
from shafer.asking.answers import row_answers


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("top", [1, 2, None])
def test_the_same_as_each_question_alone(n_classes: int, top: int | None) -> None:
    explainer, X, rng = linear_world(3, n_classes, missing="conditional")
    gappy = np.where(rng.random((60, X.shape[1])) < 0.3, np.nan, X[:60])
    gappy[0] = np.nan
    gappy[1] = X[1]
    found = row_answers(explainer, gappy, 0.3, top)
    assert_array_equal(found.filled, np.argmax(explainer(gappy).probability, axis=1))
    assert_allclose(found.overturn, explainer.ask.overturn(gappy))
    assert_allclose(found.fragility, explainer.ask.fragility(gappy, 0.3))
    assert_allclose(found.alarm, explainer.ask.guard(gappy).alarm)
    asked = explainer.ask.next_inputs(gappy, top, backend="pandas")
    for name in ("row", "rank", "input", "information"):
        assert_array_equal(found.next_inputs[name], asked[name])
    cells = explainer.ask.check_cells(gappy, top, backend="pandas")
    known = found.cells["rank"] > 0
    for name in ("row", "rank", "input", "value", "expected", "surprise", "stake"):
        assert_array_equal(found.cells[name][known], cells[name])


def test_missing_inputs_have_their_expectations() -> None:
    explainer, X, _ = linear_world(5, 3)
    rows = X[:4].copy()
    rows[1, [0, 2]] = np.nan
    found = row_answers(explainer, rows, 0.2)
    missing = found.cells["rank"] == 0
    assert found.cells["row"][missing].tolist() == [1, 1]
    names = list(explainer.component_names)
    assert sorted(found.cells["input"][missing]) == [names[0], names[2]]
    # The expectation is what takes the place of the input in the evidence.
    filled = rows[[1]].copy()
    for name, value in zip(found.cells["input"][missing], found.cells["expected"][missing],
                           strict=True):  # fmt: skip
        filled[0, names.index(name)] = value
    assert np.argmax(explainer(filled).probability) == found.filled[1]
    conditional, _, _ = linear_world(5, 3, missing="conditional")
    shown = conditional(rows[[1]]).logits[0]
    true = explainer(filled).logits[0]
    # Expected logits, times one factor for what is not known.
    assert_allclose(shown / shown[0], true / true[0], rtol=1e-8)
    assert len(found.cells["row"]) == rows.size


def mixed() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(5.0, 2.0, 300), "c": rng.choice(["u", "v", "w"], 300)})
    y = (X["size"] + 2 * (X["c"] == "u") + rng.normal(size=300) > 5.5).to_numpy()
    encoder = make_column_transformer((StandardScaler(), ["size"]), (OneHotEncoder(), ["c"]))
    return shafer.Explainer(make_pipeline(encoder, LogisticRegression()).fit(X, y), X), X


def test_values_are_as_the_user_writes_them() -> None:
    explainer, X = mixed()
    cells = row_answers(explainer, X[:20], 0.2).cells
    kinds = {name: {type(v) for v in cells["expected"][cells["input"] == name].tolist()}
             for name in ("size", "c")}  # fmt: skip
    assert kinds == {"size": {float}, "c": {str}}
    one = row_answers(explainer, X[:20], 0.2, 1).cells
    assert {type(value) for value in one["expected"].tolist()} == {str}  # one type for a column


def test_a_background_of_one_row_has_no_distribution() -> None:
    _, X = mixed()
    numbers = X[["size"]].to_numpy()
    explainer = shafer.Explainer(([1.0], 0.5), numbers[:1])
    with pytest.raises(ValueError, match="single row, such as the means"):
        row_answers(explainer, numbers[:3], 0.2)
    with pytest.raises(ValueError, match="single row"):
        explainer.ask.overturn(numbers[:3])
    assert explainer.ask.fragility(numbers[:3], fill="mean").shape == (3,)


def test_missing_values_that_are_a_category_cannot_be_asked_about() -> None:
    _, X = mixed()
    X.loc[3, "c"] = np.nan
    encoder = make_column_transformer((StandardScaler(), ["size"]), (OneHotEncoder(), ["c"]))
    model = make_pipeline(encoder, LogisticRegression()).fit(X, X["size"] > 5.0)
    explainer = shafer.Explainer(model, X)
    with pytest.raises(shafer.UnsupportedModelError, match="a category for NaN"):
        row_answers(explainer, X[:2], 0.2)
