"""Categories in ONNX: missing, unknown and dropped ones, texts and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

import shafer

from ..graph_runs import session

N = 60
SIZE = np.random.default_rng(0).normal(size=N)
Y = (SIZE + np.arange(N) % 3 > 1.0).astype(int)


def _frame(known: list[Any], late: list[Any]) -> pd.DataFrame:
    """Categories of which the last appear late, behind the rows that ``to_onnx`` compares."""
    values = [known[i % len(known)] for i in range(40)] + [late[i % len(late)] for i in range(20)]
    return pd.DataFrame({"size": SIZE, "kind": pd.Series(values, dtype=_dtype(known))})


def _dtype(known: list[Any]) -> Any:
    return object if isinstance(known[0], str) else float


def _explained(encoder: Any, frame: pd.DataFrame) -> shafer.Explainer:
    step = make_column_transformer((encoder, ["kind"]), remainder="passthrough")
    return shafer.Explainer(make_pipeline(step, LogisticRegression()).fit(frame, Y), frame)


def _weights(explainer: shafer.Explainer, frame: pd.DataFrame) -> Any:
    model = shafer.export.to_onnx(explainer, ["weights"])
    if len(model.graph.input) == 1:
        given = {"X": frame.to_numpy(dtype=float)}
    else:
        kind = frame["kind"].where(frame["kind"].notna(), "")
        given = {"size": frame[["size"]].to_numpy(), "kind": kind.to_numpy(object)[:, None]}
    return session(model).run(None, given)[0]


@pytest.mark.filterwarnings("ignore:Found unknown categories")
@pytest.mark.parametrize(
    "encoder",
    [
        OneHotEncoder(handle_unknown="ignore"),
        OneHotEncoder(handle_unknown="infrequent_if_exist"),
        OneHotEncoder(handle_unknown="ignore", drop="first"),
        OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=-9, encoded_missing_value=-5
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("known", "late", "unknown"),
    [
        (["u", "v"], [None, "w"], "other"),
        (["u", "v"], [np.nan, "w"], "other"),
        ([1.0, 2.0], [2.5, np.nan], 1.7),
    ],
    ids=["None", "NaN", "numbers"],
)
def test_missing_and_unknown(encoder: Any, known: list[Any], late: list[Any], unknown: Any) -> None:
    frame = _frame(known, late)
    explainer = _explained(encoder, frame)
    for rows in (frame, frame.assign(kind=pd.Series([unknown] * N, dtype=_dtype(known)))):
        wanted = explainer(rows).weights  # type: ignore[attr-defined]
        np.testing.assert_allclose(_weights(explainer, rows), wanted, rtol=0, atol=1e-12)


def test_infrequent_categories() -> None:
    frame = _frame(["u", "v"], ["u", "rare", "scarce", "v", "u", "v"])
    explainer = _explained(OrdinalEncoder(min_frequency=10), frame)
    wanted = explainer(frame).weights  # type: ignore[attr-defined]
    np.testing.assert_allclose(_weights(explainer, frame), wanted, rtol=0, atol=1e-12)
    with pytest.raises(shafer.UnsupportedModelError, match="Infrequent categories"):
        shafer.export.to_onnx(_explained(OneHotEncoder(min_frequency=10), frame))


def test_an_unknown_category_that_the_encoder_refuses_is_nan() -> None:
    frame = _frame(["u", "v"], ["u"])
    found = _weights(_explained(OneHotEncoder(), frame), frame.assign(kind="other"))
    assert np.isnan(found).any(axis=(1, 2)).all()


def test_refusals() -> None:
    both = _frame(["u", ""], [None])
    with pytest.raises(shafer.UnsupportedModelError, match="several kinds of missing texts"):
        shafer.export.to_onnx(_explained(OneHotEncoder(), both))
    tenths = _explained(OneHotEncoder(), _frame([0.1, 0.2], [0.1]))
    with pytest.raises(
        shafer.UnsupportedModelError, match=r"category 0\.1 is not a number in sing"
    ):
        shafer.export.to_onnx(tenths, dtype="float32")
