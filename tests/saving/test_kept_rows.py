"""A saved file keeps a few rows of the background, and a loaded explainer is compared on them."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import shafer
from shafer.rows.few_rows import FewRows
from shafer.rows.schema import InputSchema

N = 40
RANDOM = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "age": RANDOM.integers(20, 80, N),
        "size": RANDOM.normal(size=N).astype(np.float32),
        "code": RANDOM.choice(["01", "1", "NA"], N),
        "kind": pd.Categorical(RANDOM.choice(["a", "b"], N)),
        "flag": RANDOM.random(N) > 0.5,
    }
)
Y = RANDOM.choice(["no", "yes"], N)
ENCODE = make_column_transformer(
    (StandardScaler(), ["age", "size"]), (OneHotEncoder(), ["code", "kind", "flag"])
)


def _loaded(explainer: Any, path: Path, **options: Any) -> Any:
    explainer.save(path, **options)
    return shafer.Explainer.load(path)


@pytest.fixture(scope="module")
def explainer() -> shafer.Explainer:
    model = make_pipeline(ENCODE, LogisticRegression()).fit(FRAME, Y)
    return shafer.Explainer(model, FRAME)


def test_rows_come_back_as_they_were(explainer: shafer.Explainer, tmp_path: Path) -> None:
    pd.testing.assert_frame_equal(explainer.few_rows, FRAME[:16])
    loaded = _loaded(explainer, tmp_path / "m.shafer")
    assert len(loaded.few_rows) == 16
    assert loaded.few_rows["code"].tolist() == FRAME["code"][:16].tolist()
    logits = explainer(FRAME[:16]).logits
    np.testing.assert_array_equal(loaded(loaded.few_rows).logits, logits)
    again = _loaded(loaded, tmp_path / "again.shafer")
    np.testing.assert_array_equal(again(again.few_rows).logits, logits)


def test_graphs_of_loaded_explainers_are_compared(
    explainer: shafer.Explainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shafer.export import onnx as graph

    rows = FRAME[["age", "code"]]
    plain = make_column_transformer((StandardScaler(), ["age"]), (OneHotEncoder(), ["code"]))
    model = make_pipeline(plain, LogisticRegression()).fit(rows, Y)
    loaded = _loaded(shafer.Explainer(model, rows), tmp_path / "m.shafer")
    compared: list[str] = []
    monkeypatch.setattr(graph, "_compare", lambda name, *rest: compared.append(name))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shafer.export.to_onnx(loaded, ["belief"])
    assert compared == ["belief"]
    without = _loaded(shafer.Explainer(model, rows), tmp_path / "n.shafer", rows=False)
    assert without.few_rows is None
    with pytest.warns(UserWarning, match="was not compared"):
        shafer.export.to_onnx(without, ["belief"])


def test_what_is_no_table_is_not_kept(tmp_path: Path) -> None:
    X = RANDOM.normal(size=(N, 3))
    loaded = _loaded(shafer.Explainer(LogisticRegression().fit(X, Y), X), tmp_path / "a.shafer")
    np.testing.assert_array_equal(loaded.few_rows, X[:16])
    batches = shafer.Explainer(LogisticRegression().fit(X, Y), iter([X[:20], X[20:]]))
    assert _loaded(batches, tmp_path / "b.shafer").few_rows is None


@pytest.mark.parametrize("places", [[0, -1], [0, 5], [-7, 0]])
def test_a_forged_schema_names_columns_that_are_not_there(places: list[int]) -> None:
    schema = InputSchema.of(FRAME[["age", "code"]])
    assert schema is not None
    with pytest.raises(ValueError, match="places must name 2 kinds of column"):
        replace(schema, places=np.array(places))


@pytest.mark.parametrize(
    "forged",
    [
        {"places": (0, 0, 1)},
        {"places": (0, 1, 9)},
        {"others": {}},
        {"others": {"1": ["a"], "3": ["b"], "4": [True]}},
        {"columns": None},
        {"numbers": np.ones((N, 1))},
    ],
)
def test_forged_rows_do_not_fit_their_columns(forged: dict[str, Any]) -> None:
    kept = FewRows.of(FRAME)
    assert kept is not None
    with pytest.raises(ValueError, match="rows must hold"):
        replace(kept, **forged)
