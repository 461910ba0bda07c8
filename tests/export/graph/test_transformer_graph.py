"""Pipelines: the transformers in front of a model, in double precision."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

import shafer

from ..graph_runs import check, session

RNG = np.random.default_rng(5)
N = 80
NUMBERS = RNG.normal(size=(N, 4)) * [1.0, 10.0, 1e3, 0.01] + 3.0
Y = (NUMBERS[:, 0] + RNG.normal(size=N) > 3.0).astype(int) + (NUMBERS[:, 1] > 10.0)
FRAME = pd.DataFrame(
    {
        "age": NUMBERS[:, 0],
        "ldl": NUMBERS[:, 1],
        "sex": RNG.choice(["f", "m"], N),
        "code": RNG.choice([1, 2, 3], N),
    }
)


def _explained(step: Any, rows: Any = NUMBERS, **options: Any) -> shafer.Explainer:
    model = make_pipeline(step, LogisticRegression(max_iter=500)).fit(rows, Y)
    return shafer.Explainer(model, rows, **options)


@pytest.mark.parametrize(
    "step",
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        MinMaxScaler(),
        make_pipeline(RobustScaler(), PCA(2)),
        make_pipeline(StandardScaler(), PolynomialFeatures(3, interaction_only=True)),
        make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False)),
        make_union(StandardScaler(), MinMaxScaler()),
        make_column_transformer((StandardScaler(), [2, 0]), remainder="passthrough"),
        make_column_transformer((StandardScaler(), slice(0, 2)), ("drop", [2, 3])),
    ],
    ids=lambda step: type(step).__name__,
)
def test_numbers(step: Any) -> None:
    model = check(_explained(step), NUMBERS)
    assert [info.name for info in model.graph.input] == ["X"]
    selects = type(step).__name__ == "ColumnTransformer"
    assert {opset.domain for opset in model.opset_import} == {"", *["ai.onnx.ml"] * selects}


def test_frames_of_numbers_have_one_input() -> None:
    numbers = FRAME[["age", "ldl", "code"]].astype(float)
    numbers.loc[::7, "ldl"] = np.nan
    step = make_column_transformer((SimpleImputer(), ["ldl"]), (StandardScaler(), ["code", "age"]))
    model = check(_explained(step, numbers), numbers)
    assert [info.name for info in model.graph.input] == ["X"]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_mixed_columns_have_an_input_each(dtype: str) -> None:
    step = make_column_transformer(
        (StandardScaler(), ["age", "ldl"]),
        (OneHotEncoder(handle_unknown="ignore"), ["sex", "code"]),
    )
    explainer = _explained(step, FRAME, groups="source")
    model = check(explainer, FRAME, dtype=dtype)
    assert [info.name for info in model.graph.input] == ["age", "ldl", "sex", "code"]
    unknown = FRAME[:2].assign(sex="x")
    check(explainer, unknown, dtype=dtype)


def test_selectors_and_nested_pipelines_with_gaps() -> None:
    frame = FRAME.astype({"sex": object})
    frame.loc[::5, "ldl"] = np.nan
    frame.loc[::9, "sex"] = np.nan
    texts = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    step = make_column_transformer(
        (numbers, make_column_selector(dtype_include=np.number)), (texts, ["sex"])
    )
    filled = frame.assign(sex=frame.sex.fillna(""))  # an empty text is a missing one
    explainer = _explained(step, frame)
    model = shafer.export.to_onnx(explainer, ["weights"])
    given = {name: filled[[name]].to_numpy() for name in frame.columns}
    given["code"] = given["code"].astype(float)
    given["sex"] = given["sex"].astype(object)
    found = session(model).run(None, given)[0]
    np.testing.assert_allclose(found, explainer(frame).weights, rtol=0, atol=1e-12)


def test_texts_alone_have_one_input() -> None:
    texts = FRAME[["sex"]].assign(other=np.where(FRAME.code > 1, "a", "b")).astype(object)
    explainer = _explained(OneHotEncoder(), texts)
    model = check(explainer, texts)
    assert [info.name for info in model.graph.input] == ["X"]
    ordinal = make_pipeline(OrdinalEncoder(), StandardScaler())
    with pytest.raises(shafer.UnsupportedModelError, match="StandardScaler in single precision"):
        shafer.export.to_onnx(_explained(ordinal, texts))


@pytest.mark.parametrize("chosen", [["sex"], [2]], ids=["names", "positions"])
def test_columns_by_name_and_by_position(chosen: Any) -> None:
    step = make_column_transformer((OneHotEncoder(), chosen), (StandardScaler(), ["age", "ldl"]))
    check(_explained(step, FRAME), FRAME)


@pytest.mark.parametrize(
    "chosen",
    [slice("sex", "code"), slice("sex", None), np.array([False, False, True, False])],
    ids=["slice", "open slice", "mask"],
)
def test_selections_that_skl2onnx_does_not_know_are_refused(chosen: Any) -> None:
    step = make_column_transformer((OneHotEncoder(), chosen), (StandardScaler(), ["age", "ldl"]))
    with pytest.raises(shafer.UnsupportedModelError, match="skl2onnx cannot write"):
        shafer.export.to_onnx(_explained(step, FRAME))


def test_arrays_with_texts_have_numbered_inputs() -> None:
    rows = FRAME.to_numpy(dtype=object)
    step = make_column_transformer((OneHotEncoder(), [2]), (StandardScaler(), [0, 1]))
    model = shafer.export.to_onnx(_explained(step, rows))  # which compares the numbers
    assert [info.name for info in model.graph.input] == ["x0", "x1", "x2", "x3"]


def test_an_imputer_with_indicators_is_refused() -> None:
    rows = NUMBERS.copy()
    rows[::3, 1] = np.nan
    with pytest.raises(shafer.UnsupportedModelError, match="add_indicator=True"):
        shafer.export.to_onnx(_explained(_filled(add_indicator=True), rows))


def _filled(**options: Any) -> Any:
    return make_pipeline(SimpleImputer(**options), StandardScaler())


@pytest.mark.parametrize("keep", [False, True])
def test_imputers_of_other_marks_and_empty_columns(keep: bool) -> None:
    rows = NUMBERS.copy()
    rows[:, 2] = np.nan
    rows[::4, 0] = np.nan
    with nullcontext() if keep else pytest.warns(UserWarning, match="observed"):
        explainer = _explained(_filled(keep_empty_features=keep), rows)
        check(explainer, rows)
    marked = np.where(np.arange(N)[:, None] % 4 == 0, -1.0, NUMBERS)
    check(_explained(_filled(missing_values=-1), marked), marked)


def test_a_step_in_single_precision_is_refused() -> None:
    step = KBinsDiscretizer(3, encode="onehot-dense", quantile_method="averaged_inverted_cdf")
    with pytest.raises(shafer.UnsupportedModelError, match="do not give a valid graph"):
        shafer.export.to_onnx(_explained(step))


def test_a_background_in_single_precision() -> None:
    narrow = NUMBERS.astype(np.float32)
    assert shafer.export.to_onnx(_explained(StandardScaler(), narrow)).graph.node
