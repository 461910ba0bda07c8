"""Graphs written node by node: heads in every spelling, inputs of every kind, and refusals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from onnx import ModelProto, TensorProto, helper, numpy_helper
from scipy.special import expit, softmax

import shafer
from shafer.errors import UnsupportedModelError

_RNG = np.random.default_rng(1)
X = _RNG.normal(size=(20, 3)).astype(np.float32)
W = _RNG.normal(size=(3, 4)).astype(np.float32)
B = _RNG.normal(size=4).astype(np.float32)
WANTED = softmax(X.astype(np.float64) @ W + B, axis=1)
SINGLE = {"rtol": 0, "atol": 1e-6}
FLOAT, DOUBLE, HALF = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16
KINDS = {np.dtype(np.float32): FLOAT, np.dtype(np.float64): DOUBLE, np.dtype(np.float16): HALF}

Node = tuple[str, Sequence[str], Sequence[str], dict[str, Any]]


def node(kind: str, given: str, made: str, /, **attributes: Any) -> Any:
    domain = "ai.onnx.ml" if kind in ML else ""
    return helper.make_node(kind, given.split(), made.split(), domain=domain, **attributes)


ML = ("LinearClassifier", "Scaler", "ZipMap", "Normalizer", "SVMClassifier", "OneHotEncoder")


def graph(
    nodes: Sequence[Any],
    constants: dict[str, Any],
    inputs: Sequence[tuple[str, int, Sequence[Any]]] = (("x", FLOAT, ("n", 3)),),
    outputs: Sequence[str] = ("y",),
) -> ModelProto:
    held = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    given = [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in inputs]
    made = [helper.make_empty_tensor_value_info(name) for name in outputs]
    for one, known in zip(made, outputs, strict=True):
        one.type.tensor_type.elem_type = FLOAT
        assert one.name == known
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    whole = helper.make_graph(list(nodes), "g", given, made, held)
    return helper.make_model(whole, opset_imports=versions, ir_version=8)


LINEAR = [node("MatMul", "x w", "xw"), node("Add", "xw b", "z")]
HEAD = {"w": W, "b": B}
AXIS = {"axis": np.array([1])}
SPELLED = [
    node("ReduceMax", "z", "most", axes=[1]),
    node("Sub", "z most", "lower"),
    node("Exp", "lower", "e"),
    node("ReduceSum", "e axis", "sum"),
    node("Div", "e sum", "y"),
]
HEADS: dict[str, list[Any]] = {
    "softmax": [*LINEAR, node("Softmax", "z", "y")],
    "bias first": [
        node("MatMul", "x w", "xw"),
        node("Add", "b xw", "z"),
        node("Softmax", "z", "y"),
    ],
    "gemm": [node("Gemm", "x w b", "z"), node("Softmax", "z", "y", axis=-1)],
    "transposed gemm": [
        node("Transpose", "w", "wt"),
        node("Gemm", "x wt b2", "z", transB=1, alpha=2.0, beta=0.5),
        node("Mul", "z half", "z2"),
        node("Add", "b3 z2", "z3"),
        node("Softmax", "z3", "y"),
    ],
    "log-softmax": [*LINEAR, node("LogSoftmax", "z", "y")],
    "logarithm of a softmax": [*LINEAR, node("Softmax", "z", "p"), node("Log", "p", "y")],
    "logits": [*LINEAR, node("Identity", "z", "y")],
    "spelled out": [*LINEAR, *SPELLED],
    "spelled out with a logarithm": [
        *LINEAR,
        node("ReduceLogSumExp", "z", "total", axes=[1]),
        node("Sub", "z total", "y"),
    ],
    "shaped again": [
        *LINEAR,
        node("Softmax", "z", "p"),
        node("Unsqueeze", "p axis", "p3"),
        node("Squeeze", "p3 axis", "p2"),
        node("Cast", "p2", "y", to=FLOAT),
    ],
    "normalised": [*LINEAR, node("Softmax", "z", "p"), node("Normalizer", "p", "y", norm="L1")],
}
MORE = {"half": np.float32(0.5), "b2": 2 * B, "b3": 0.5 * B, **AXIS}


@pytest.mark.parametrize("case", HEADS)
def test_every_spelling_of_a_softmax(case: str) -> None:
    explainer = shafer.Explainer(graph(HEADS[case], {**HEAD, **MORE}), X)
    assert explainer.component_names == ("x0", "x1", "x2", "base rate")
    ev = explainer(X)
    assert_allclose(ev.probability, WANTED, **SINGLE)
    assert_allclose(ev.weights.sum(axis=1), ev.logits, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("dtype", "atol"), [(np.float64, 1e-12), (np.float32, 1e-6), (np.float16, 1e-2)]
)
def test_every_precision(dtype: Any, atol: float) -> None:
    kind = KINDS[np.dtype(dtype)]
    constants = {"w": W.astype(dtype), "b": B.astype(dtype)}
    model = graph(HEADS["softmax"], constants, [("x", kind, ("n", 3))])
    model.graph.output[0].type.tensor_type.elem_type = kind
    found = shafer.Explainer(model, X)(X).probability
    rows = X.astype(dtype).astype(np.float64)
    assert_allclose(
        found, softmax(rows @ constants["w"] + constants["b"], axis=1), rtol=0, atol=atol
    )


def test_coefficients_that_are_computed_from_whole_numbers() -> None:
    whole = np.round(20 * W).astype(np.int8)
    nodes = [node("DequantizeLinear", "q s", "w"), *HEADS["softmax"]]
    model = graph(nodes, {"q": whole, "s": np.float32(0.05), "b": B})
    wanted = softmax(X @ (whole * np.float32(0.05)) + B, axis=1)
    assert_allclose(shafer.Explainer(model, X)(X).probability, wanted, **SINGLE)


def test_float16_is_computed_without_further_rounding() -> None:
    constants = {"w": W.astype(np.float16), "b": B.astype(np.float16)}
    model = graph(HEADS["softmax"], constants, [("x", HALF, ("n", 3))])
    model.graph.output[0].type.tensor_type.elem_type = HALF
    rows = X.astype(np.float16).astype(np.float64)
    wanted = softmax(rows @ constants["w"] + constants["b"], axis=1)
    assert_allclose(shafer.Explainer(model, X)(X).probability, wanted, rtol=0, atol=1e-12)


def test_a_hidden_layer_makes_units() -> None:
    model = graph(
        [node("MatMul", "x v", "h"), node("Relu", "h", "r"), node("MatMul", "r w", "xw"),
         node("Add", "xw b", "z"), node("Softmax", "z", "y")],
        {**HEAD, "v": np.eye(3, dtype=np.float32)},
    )  # fmt: skip
    explainer = shafer.Explainer(model, X, classes=["a", "b", "c", "d"])
    assert explainer.component_names[0] == "unit 0"
    assert_array_equal(explainer.classes, ["a", "b", "c", "d"])
    assert_allclose(explainer(X).probability, softmax(np.maximum(X, 0) @ W + B, axis=1), **SINGLE)


def test_several_inputs_of_several_columns() -> None:
    inputs = [("x", FLOAT, ("n", 2)), ("u", FLOAT, ("n", 1))]
    nodes = [
        node("Concat", "x u", "xu", axis=1),
        node("MatMul", "xu w", "xw"),
        *HEADS["softmax"][1:],
    ]
    model = graph(nodes, HEAD, inputs)
    rows = {"u": X[:, 2], "x": X[:, :2]}
    explainer = shafer.Explainer(model, rows)
    assert explainer.component_names == ("x_0", "x_1", "u", "base rate")
    for given in (rows, (X[:, :2], X[:, 2:]), X):
        assert_allclose(explainer(given).probability, WANTED, **SINGLE)
    with pytest.raises(ValueError, match="has the inputs 'x', 'u'; got 'x'"):
        explainer({"x": X[:, :2]})
    with pytest.raises(ValueError, match="same number of rows"):
        explainer({"x": X[:, :2], "u": X[:5, 2]})


def test_a_fixed_number_of_rows() -> None:
    model = graph(HEADS["softmax"], HEAD, [("x", FLOAT, (7, 3))])
    explainer = shafer.Explainer(model, X)
    for n in (1, 7, 20):
        assert_allclose(explainer(X[:n]).probability, WANTED[:n], **SINGLE)


def test_one_logit_with_a_sigmoid() -> None:
    nodes = [node("Gemm", "x w b", "z"), node("Sigmoid", "z", "y")]
    model = graph(nodes, {"w": W[:, :1], "b": B[:1]})
    p = expit(X @ W[:, 0] + B[0])
    found = shafer.Explainer(model, X, classes=["no", "yes"])(X)
    assert_allclose(found.probability, np.stack([1 - p, p], axis=1), **SINGLE)
    assert_array_equal(found.classes, ["no", "yes"])


def test_labels_that_the_graph_picks_from() -> None:
    nodes = [
        *HEADS["softmax"],
        node("ArgMax", "y", "k", axis=1, keepdims=0),
        helper.make_node("ArrayFeatureExtractor", ["labels", "k"], ["label"], domain="ai.onnx.ml"),
    ]
    model = graph(nodes, {**HEAD, "labels": np.array([10, 20, 30, 40])})
    assert_array_equal(shafer.Explainer(model, X).classes, [10, 20, 30, 40])


def test_channels_of_a_convolution_at_each_place_are_steps() -> None:
    signal = _RNG.normal(size=(6, 3, 5)).astype(np.float32)
    nodes = [
        node("Relu", "x", "r"),
        node("Conv", "r w b", "z", kernel_shape=[1]),
        node("Softmax", "z", "y", axis=1),
    ]
    model = graph(nodes, {"w": W.T[:, :, None], "b": B}, [("x", FLOAT, ("n", 3, "t"))])
    ev = shafer.Explainer(model, signal)(signal)
    assert list(ev.index[:6]) == [*((0, step) for step in range(5)), (1, 0)]
    by_step = np.maximum(signal, 0).transpose(0, 2, 1).reshape(-1, 3)
    assert_allclose(ev.probability, softmax(by_step @ W + B, axis=1), **SINGLE)


def branch(name: str, nodes: list[Any]) -> Any:
    return helper.make_graph(nodes, name, [], [helper.make_empty_tensor_value_info("z")])


def with_branches() -> ModelProto:
    slow = branch("slow", [node("MatMul", "r w", "t"), node("Add", "t b", "z")])
    fast = branch("fast", [node("MatMul", "r v", "t"), node("Add", "t b", "z")])
    nodes = [
        node("Relu", "x", "r"),
        node("Equal", "rate eight", "is_slow"),
        node("If", "is_slow", "chosen", then_branch=slow, else_branch=fast),
        node("Softmax", "chosen", "y"),
    ]
    constants = {**HEAD, "v": 2 * W, "eight": np.int64(8000)}
    inputs = [("x", FLOAT, ("n", 3)), ("rate", TensorProto.INT64, ())]
    return graph(nodes, constants, inputs)


def test_a_constant_input_chooses_a_branch(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"'rate' .* constants=\{'rate': …\}"):
        shafer.Explainer(with_branches(), X)
    for rate, coef in ((8000, W), (16000, 2 * W)):
        explainer = shafer.Explainer(with_branches(), X, constants={"rate": rate})
        wanted = softmax(np.maximum(X, 0) @ coef + B, axis=1)
        assert_allclose(explainer(X).probability, wanted, **SINGLE)
        explainer.save(tmp_path / "model.shafer")
        again = shafer.Explainer.load(tmp_path / "model.shafer")
        assert_array_equal(again(X).weights, explainer(X).weights)


def test_the_last_layer_by_name() -> None:
    two = [*HEADS["softmax"], node("Gemm", "x v", "u"), node("Softmax", "u", "other")]
    model = graph(two, {**HEAD, "v": W[:, :2]}, outputs=("y", "other"))
    assert shafer.Explainer(model, X)(X).n_classes == 4  # the first output
    assert shafer.Explainer(model, X, layer="u")(X).n_classes == 2
    with pytest.raises(ValueError, match="one of 'xw', 'u'; got 'nothing'"):
        shafer.Explainer(model, X, layer="nothing")


def test_missing_inputs_of_a_linear_graph() -> None:
    gaps = X.copy()
    gaps[0, 1] = np.nan
    model = graph(HEADS["softmax"], HEAD)
    with pytest.raises(shafer.BadRowsError, match="NaN, the first in row 0, column 1"):
        shafer.Explainer(model, X)(gaps)
    ev = shafer.Explainer(model, X, missing="vacuous")(gaps)
    assert_allclose(ev.weights[0, 1], 0.0, atol=1e-12)


def test_a_graph_that_is_changed_is_noticed() -> None:
    model = graph(HEADS["gemm"], HEAD)
    explainer = shafer.Explainer(model, X)
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(2 * W, "w"))
    with pytest.raises(ValueError, match="trained again"):
        explainer(X)


# What is not a softmax of the last layer, and inputs that do not fit.

REFUSED: dict[str, tuple[list[Any], str]] = {
    "sigmoids": ([*LINEAR, node("Sigmoid", "z", "y")], "separate labels, not one set of classes"),
    "clipped": (
        [*LINEAR, node("Clip", "z low high", "c"), node("Softmax", "c", "y")],
        "through Add, Clip, Softmax, which is not its softmax",
    ),
    "normalised sigmoids": (
        [*LINEAR, node("Sigmoid", "z", "s"), node("Normalizer", "s", "y", norm="L1")],
        "through Add, Sigmoid, Normalizer, which is not its softmax",
    ),
    "one number": ([node("Gemm", "x w1 b1", "z"), node("Identity", "z", "y")], "not its softmax"),
    "no layer": ([node("Softmax", "x", "y")], "comes from no Gemm, MatMul"),
    "two layers": (
        [*LINEAR, node("Gemm", "x w b", "u"), node("Add", "z u", "s"), node("Softmax", "s", "y")],
        "depends on 2 layers",
    ),
    "a softmax over rows": ([*LINEAR, node("Softmax", "z", "y", axis=0)], "not its softmax"),
    "mixed rows": (
        [node("ReduceSum", "x", "s", keepdims=1), node("Add", "x s", "v"),
         node("Gemm", "v w b", "z"), node("Softmax", "z", "y")],
        "depend on the rows beside it",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    nodes, words = REFUSED[case]
    more = {"low": np.float32(-0.5), "high": np.float32(0.5), "w1": W[:, :1], "b1": B[:1]}
    with pytest.raises(UnsupportedModelError, match=words):
        shafer.Explainer(graph(nodes, {**HEAD, **more}), X)


def test_every_row_is_compared_with_the_graph() -> None:
    """A limit that no row of the background reaches."""
    nodes = [*LINEAR, node("Clip", "z low high", "c"), node("Softmax", "c", "y")]
    limits = {"low": np.float32(-50), "high": np.float32(50)}
    explainer = shafer.Explainer(graph(nodes, {**HEAD, **limits}), X)
    with pytest.raises(
        UnsupportedModelError, match=r"In row 2 the graph puts out .* such as a limit"
    ):
        explainer(np.concatenate([X[:2], 1000 * X[:1]]))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (X[:, :2], r"takes 'x': float32 \(n, 3\); got an array of shape \(20, 2\)"),
        (X[0], "got an array of shape"),
        (X[:0], "at least one row"),
        (np.full((4, 3), 1e300), "which this type cannot hold"),
        (np.full((4, 3), "a"), "Pass numbers"),
    ],
)
def test_rows_that_do_not_fit(rows: Any, words: str) -> None:
    explainer = shafer.Explainer(graph(HEADS["softmax"], HEAD), X)
    with pytest.raises(ValueError, match=words):
        explainer(rows)
