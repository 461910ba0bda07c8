"""Graphs of exporters: the numbers are those of the framework that trained the model.

The models of exporters that are not among the tests' packages are in tests/golden/onnx.
"""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pandas as pd
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from skl2onnx import to_onnx
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from torch import nn

import shafer
from shafer.errors import UnsupportedModelError

GOLDEN = Path(__file__).parents[2] / "golden" / "onnx"
SINGLE = {"rtol": 0, "atol": 1e-6}
DOUBLE = {"rtol": 0, "atol": 1e-12}

_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(60, 4)).astype(np.float32)
NOISE = _RNG.normal(size=60)
TWO = np.where(X[:, 0] + NOISE > 0, "yes", "no")
THREE = np.array(["low", "mid", "high"])[(X[:, 0] > 0).astype(int) + (X[:, 1] + NOISE > 0.3)]
FRAME = pd.DataFrame(
    {
        "age": X[:, 0],
        "dose": X[:, 1],
        "ward": np.array(["north", "south", "west"])[_RNG.integers(0, 3, 60)],
        "grade": _RNG.integers(1, 4, 60),
    }
)
ENCODED = make_column_transformer(
    (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "dose"]),
    (OneHotEncoder(handle_unknown="ignore"), ["ward", "grade"]),
)
COLUMNS = ("x0", "x1", "x2", "x3", "base rate")
UNITS = ("unit 0", "unit 1", "unit 2", "base rate")
FIXED = {"max_iter": 30, "random_state": 0}

SKLEARN: dict[str, tuple[Any, Any, Any, dict[str, Any], tuple[str, ...], dict[str, Any]]] = {
    "logistic": (LogisticRegression(), X, TWO, {}, COLUMNS, SINGLE),
    "multinomial": (LogisticRegression(), X, THREE, {"zipmap": False}, COLUMNS, SINGLE),
    "in double precision": (
        LogisticRegression(), X.astype(np.float64), THREE, {}, COLUMNS, DOUBLE
    ),
    "raw scores": (
        LogisticRegression(), X, THREE, {"zipmap": False, "raw_scores": True}, COLUMNS, SINGLE
    ),
    "scaled": (
        make_pipeline(StandardScaler(), LogisticRegression()), X, THREE, {}, COLUMNS, SINGLE
    ),
    "of columns": (
        make_pipeline(ENCODED, LogisticRegression()),
        FRAME, THREE, {}, ("age", "dose", "ward", "grade", "base rate"), SINGLE,
    ),
    "network of two classes": (MLPClassifier((3,), **FIXED), X, TWO, {}, UNITS, SINGLE),
    "network": (MLPClassifier((3,), **FIXED), X, THREE, {"zipmap": False}, UNITS, SINGLE),
    "boosting of two classes": (
        GradientBoostingClassifier(n_estimators=3), X, TWO, {}, COLUMNS, SINGLE
    ),
    "boosting": (GradientBoostingClassifier(n_estimators=3), X, THREE, {}, COLUMNS, SINGLE),
    "histogram boosting": (
        HistGradientBoostingClassifier(max_iter=3), X, TWO, {}, COLUMNS, SINGLE
    ),
    "histogram boosting of three": (
        HistGradientBoostingClassifier(max_iter=3), X, THREE, {"zipmap": False}, COLUMNS, SINGLE
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", SKLEARN)
def test_scikit_learn(case: str) -> None:
    model, rows, y, options, names, close = SKLEARN[case]
    model.fit(rows, y)
    explainer = shafer.Explainer(written(model, rows, **options), rows)
    ev = explainer(rows)
    assert explainer.component_names == names
    assert_array_equal(ev.classes, model.classes_)
    assert_allclose(ev.probability, model.predict_proba(rows), **close)
    assert_allclose(ev.weights.sum(axis=1), ev.logits, **DOUBLE)


def written(model: Any, rows: Any, **options: Any) -> onnx.ModelProto:
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    with warnings.catch_warnings(action="ignore"):  # those of the exporter
        return to_onnx(model, rows[:1], options={id(last): options} if options else None)


@pytest.mark.parametrize("case", ["logistic", "multinomial", "scaled", "of columns", "network"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_are_those_of_the_model_itself(case: str) -> None:
    model, rows, y, _, _, _ = SKLEARN[case]
    model.fit(rows, y)
    ours = shafer.Explainer(written(model, rows), rows)(rows)
    assert_allclose(ours.weights, shafer.Explainer(model, rows)(rows).weights, rtol=0, atol=1e-5)


def test_encoded_columns_have_names() -> None:
    model = make_pipeline(ENCODED, LogisticRegression()).fit(FRAME, THREE)
    explainer = shafer.Explainer(written(model, FRAME), FRAME, groups=None)
    assert explainer.component_names == (
        "age", "dose", "ward_north", "ward_south", "ward_west", "grade_1", "grade_2", "grade_3",
        "base rate",
    )  # fmt: skip
    reasons = explainer(FRAME[:1]).reasons()
    assert set(reasons["component"]) <= set(explainer.component_names)


def test_columns_in_any_order_as_a_mapping_and_as_a_tuple() -> None:
    model = make_pipeline(ENCODED, LogisticRegression()).fit(FRAME, THREE)
    graph = written(model, FRAME)
    wanted = model.predict_proba(FRAME)
    explainer = shafer.Explainer(graph, FRAME)
    assert_allclose(explainer(FRAME[FRAME.columns[::-1]]).probability, wanted, **SINGLE)
    by_name = {name: FRAME[name].to_numpy() for name in FRAME}
    in_order = tuple(FRAME[[name]].to_numpy() for name in FRAME)
    for rows in (by_name, in_order):
        other = shafer.Explainer(graph, rows)
        assert other.component_names == explainer.component_names
        assert_allclose(other(rows).probability, wanted, **SINGLE)


def test_forests_are_refused() -> None:
    graph = written(RandomForestClassifier(3).fit(X, TWO), X)
    with pytest.raises(UnsupportedModelError, match="forests average votes"):
        shafer.Explainer(graph, X)


# torch writes its graphs itself.


class Ending(nn.Module):
    def __init__(self, body: nn.Module, end: Any) -> None:
        super().__init__()
        self.body, self.end = body, end

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.end(self.body(x))


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, 8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.head = nn.Linear(8, 4)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return softmax(self.head(self.layer(self.embedding(tokens)).mean(1)))


def softmax(logits: torch.Tensor) -> torch.Tensor:
    return torch.softmax(logits, -1)


def exported(module: nn.Module, rows: torch.Tensor, *free: int) -> onnx.ModelProto:
    held = io.BytesIO()
    axes = {"x": {axis: f"n{axis}" for axis in free}} if free else None
    options = {"dynamo": False, "input_names": ["x"], "dynamic_axes": axes}
    with warnings.catch_warnings(action="ignore"):
        torch.onnx.export(module.eval(), (rows,), held, **options)
    return onnx.load_from_string(held.getvalue())


def network(*layers: nn.Module) -> nn.Module:
    return nn.Sequential(*layers)


torch.manual_seed(0)
TABLE, IMAGES = torch.tensor(X), torch.randn(9, 1, 8, 8)
TOKENS = torch.randint(0, 20, (7, 5))
CNN = network(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, 4))
PLACES = network(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Conv2d(3, 4, 1),
                 nn.Flatten())  # fmt: skip
TORCH: dict[str, tuple[nn.Module, torch.Tensor, tuple[str, ...]]] = {
    "linear": (Ending(nn.Linear(4, 3), softmax), TABLE, COLUMNS),
    "linear layers in a row": (
        Ending(network(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Linear(6, 3)), softmax),
        TABLE, COLUMNS,
    ),
    "temperature": (Ending(nn.Linear(4, 3), lambda z: softmax(z / 2.5)), TABLE, COLUMNS),
    "network": (
        Ending(network(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 3)), softmax), TABLE, UNITS
    ),
    "convolution": (Ending(CNN, softmax), IMAGES, UNITS),
    "1 × 1 convolution": (Ending(PLACES, softmax), IMAGES, UNITS),
    "attention": (
        Attention(), TOKENS, (*(f"unit {j}" for j in range(8)), "base rate")
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", TORCH)
def test_torch(case: str) -> None:
    module, rows, names = TORCH[case]
    explainer = shafer.Explainer(exported(module, rows, 0), rows.numpy())
    assert explainer.component_names == names
    found = explainer(rows.numpy()).probability
    assert_allclose(found, module(rows).detach().numpy(), **SINGLE)


@pytest.mark.parametrize(
    "end",
    [
        torch.sigmoid,
        lambda z: torch.sigmoid(z).squeeze(-1),
        nn.functional.logsigmoid,
        lambda z: torch.cat([1 - torch.sigmoid(z), torch.sigmoid(z)], 1),
        lambda z: 1 / (1 + torch.exp(-z)),
    ],
)
def test_torch_with_a_sigmoid(end: Any) -> None:
    body = network(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
    graph = exported(Ending(body, end), TABLE, 0)
    ev = shafer.Explainer(graph, X, classes=["well", "ill"])(X)
    ill = torch.sigmoid(body(TABLE)).detach().numpy()[:, 0]
    assert_array_equal(ev.classes, ["well", "ill"])
    assert_allclose(ev.probability, np.stack([1 - ill, ill], axis=1), **SINGLE)


def test_steps_of_a_sequence_are_rows_with_two_labels() -> None:
    module = Ending(network(nn.Embedding(20, 8), nn.Tanh(), nn.Linear(8, 4)), softmax)
    explainer = shafer.Explainer(exported(module, TOKENS, 0, 1), TOKENS.numpy())
    ev = explainer(TOKENS[:2].numpy())
    assert list(ev.index) == [(row, step) for row in range(2) for step in range(5)]
    assert list(ev.to_frame().index[:6]) == [*((0, step) for step in range(5)), (1, 0)]
    assert ev.to_frame().index.names == ["row", "step"]
    assert set(ev.reasons(top=1)["index"]) == set(ev.index)
    wanted = module(TOKENS[:2]).detach().numpy().reshape(10, 4)
    assert_allclose(ev.probability, wanted, **SINGLE)
    longer = explainer(torch.cat([TOKENS, TOKENS], 1).numpy())
    assert len(longer) == 7 * 10


def test_a_fixed_number_of_rows_is_run_in_blocks() -> None:
    module = Ending(nn.Linear(4, 3), softmax)
    graph = exported(module, TABLE[:8])  # 60 rows are not a multiple
    ev = shafer.Explainer(graph, X)(X)
    assert_allclose(ev.probability, module(TABLE).detach().numpy(), **SINGLE)


# Exporters whose graphs are kept in files: see make_graphs.py there.


def golden(name: str) -> tuple[Path, dict[str, Any]]:
    known = json.loads((GOLDEN / f"{name}.json").read_text())
    return GOLDEN / f"{name}.onnx", known


@pytest.mark.parametrize(
    ("name", "first"),
    [("keras", "unit 0"), ("jax", "unit 0"), ("torch", "unit 0"), ("lightgbm", "x0"),
     ("xgboost", "x0")],
)  # fmt: skip
def test_other_exporters(name: str, first: str) -> None:
    path, known = golden(name)
    rows = np.array(known["X"], dtype=np.float32)
    ev = shafer.Explainer(path, rows)(rows)
    assert ev.component_names[0] == first
    assert_allclose(ev.probability, known["probability"], **SINGLE)
    assert_array_equal(ev.classes, known.get("classes", range(ev.n_classes)))


def test_shapley_values_of_trees_are_those_of_lightgbm() -> None:
    """The background is the training data, so its counts are those of the training."""
    path, known = golden("lightgbm")
    rows = np.array(known["X"], dtype=np.float32)
    ev = shafer.Explainer(str(path), rows)(rows)
    given = np.array(known["contributions"]).reshape(len(rows), 3, 5)[:, :, :4].transpose(0, 2, 1)
    weights = given - given.mean(axis=2, keepdims=True)
    weights = weights - weights.mean(axis=0)
    assert_allclose(ev.weights[:, :-1], weights, rtol=0, atol=1e-6)
