"""Tree ensembles written node by node, against onnxruntime and all coalitions of features."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import onnxruntime
import pytest
from numpy.testing import assert_allclose
from onnx import ModelProto, TensorProto, helper, numpy_helper

import shafer
from shafer.errors import UnsupportedModelError

_RNG = np.random.default_rng(3)
X = _RNG.integers(0, 4, size=(40, 3)).astype(np.float32)  # many values lie on a threshold
X[::5, 1] = np.nan
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE", "BRANCH_EQ", "BRANCH_NEQ"]


def ensemble(modes: list[str], values: Any, leaf: str, **more: Any) -> dict[str, Any]:
    """Return the attributes of trees of depth 2, with one kind of split in each."""
    nodes: dict[str, list[Any]] = {
        name: [] for name in ("treeids", "nodeids", "featureids", "values", "modes",
                              "truenodeids", "falsenodeids", "missing_value_tracks_true")
    }  # fmt: skip
    leaves: dict[str, list[Any]] = {name: [] for name in ("treeids", "nodeids", "ids", "weights")}
    for tree, mode in enumerate(modes):
        for place in range(7):
            split = place < 3
            nodes["treeids"].append(tree)
            nodes["nodeids"].append(place)
            nodes["featureids"].append((tree + place) % 3 if split else 0)
            nodes["values"].append(float(1 + (tree + place) % 2) if split else 0.0)
            nodes["modes"].append(mode if split else "LEAF")
            nodes["truenodeids"].append(2 * place + 1 if split else 0)
            nodes["falsenodeids"].append(2 * place + 2 if split else 0)
            nodes["missing_value_tracks_true"].append((tree + place) % 2 if split else 0)
            if not split:
                leaves["treeids"].append(tree)
                leaves["nodeids"].append(place)
                leaves["ids"].append(int(values.shape[2] * tree / len(modes)))
                leaves["weights"].append(float(values[tree, place - 3, 0]))
    named = {f"nodes_{name}": given for name, given in nodes.items()}
    return {**named, **{f"{leaf}_{name}": given for name, given in leaves.items()}, **more}


def graph(kind: str, attributes: dict[str, Any], *after: Any) -> ModelProto:
    outputs = ["label", "y"] if kind.endswith("Classifier") else ["s"]
    tree = helper.make_node(kind, ["x"], outputs, domain="ai.onnx.ml", **attributes)
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])
    made = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", None])
    whole = helper.make_graph([tree, *after], "g", [given], [made])
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(whole, opset_imports=versions, ir_version=8)


def run(model: ModelProto) -> Any:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(["y"], {"x": X})[0]


def three(modes: list[str], **more: Any) -> dict[str, Any]:
    values = _RNG.normal(size=(len(modes), 4, 3))
    return ensemble(modes, values, "class", classlabels_strings=["a", "b", "c"],
                    post_transform="SOFTMAX", **more)  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_every_kind_of_split(mode: str) -> None:
    model = graph("TreeEnsembleClassifier", three([mode] * 3, base_values=[0.3, 0.0, -0.2]))
    ev = shafer.Explainer(model, X)(X)
    assert list(ev.classes) == ["a", "b", "c"]
    assert_allclose(ev.probability, run(model), rtol=0, atol=1e-6)


def test_a_regressor_with_a_sigmoid_behind() -> None:
    attributes = ensemble(MODES, _RNG.normal(size=(6, 4, 1)), "target", n_targets=1)
    model = graph("TreeEnsembleRegressor", attributes, helper.make_node("Sigmoid", ["s"], ["y"]))
    ev = shafer.Explainer(model, X)(X)
    assert_allclose(ev.probability[:, 1], run(model)[:, 0], rtol=0, atol=1e-6)


def test_shapley_values_of_all_coalitions() -> None:
    """The value of a coalition: splits on other features by their share of the background."""
    values = _RNG.normal(size=(2, 4, 1))
    attributes = ensemble(["BRANCH_LEQ"] * 2, values, "target", n_targets=1)
    model = graph("TreeEnsembleRegressor", attributes, helper.make_node("Sigmoid", ["s"], ["y"]))
    ev = shafer.Explainer(model, X)(X)
    ours = ev.weights[:, :3, 1] - ev.weights[:, :3, 0]
    wanted = np.array([[shapley(attributes, row, j) for j in range(3)] for row in X])
    assert_allclose(ours, wanted - wanted.mean(axis=0), rtol=0, atol=1e-6)


def shapley(trees: dict[str, Any], row: Any, feature: int) -> float:
    others = [j for j in range(3) if j != feature]
    total = 0.0
    for size in range(3):
        for known in combinations(others, size):
            gain = value(trees, row, {*known, feature}) - value(trees, row, set(known))
            total += gain / (3 * comb(2, size))
    return total


def value(trees: dict[str, Any], row: Any, known: set[int]) -> float:
    return sum(expected(trees, 7 * tree, row, known, X) for tree in range(2))


def expected(trees: dict[str, Any], node: int, row: Any, known: set[int], here: Any) -> float:
    if trees["nodes_modes"][node] == "LEAF":
        tree, place = divmod(node, 7)
        return float(trees["target_weights"][4 * tree + place - 3])
    feature = trees["nodes_featureids"][node]
    goes = [bool(side) for side in _true(trees, node, here[:, feature])]
    first = node - node % 7
    sides = {True: first + trees["nodes_truenodeids"][node],
             False: first + trees["nodes_falsenodeids"][node]}  # fmt: skip
    rows = {side: here[[g == side for g in goes]] for side in sides}
    if feature in known:
        side = bool(_true(trees, node, row[[feature]])[0])
        return expected(trees, sides[side], row, known, rows[side])
    share = np.mean(goes) if goes else 0.5
    return sum(
        weight * expected(trees, sides[side], row, known, rows[side])
        for side, weight in ((True, share), (False, 1 - share))
    )


def _true(trees: dict[str, Any], node: int, x: Any) -> Any:
    missing = bool(trees["nodes_missing_value_tracks_true"][node])
    return np.where(np.isnan(x), missing, x <= trees["nodes_values"][node])


def test_missing_values_are_taken() -> None:
    model = graph("TreeEnsembleClassifier", three(["BRANCH_LEQ"] * 3))
    explainer = shafer.Explainer(model, np.nan_to_num(X))
    assert_allclose(explainer(X).probability, run(model), rtol=0, atol=1e-6)


def test_trees_in_double_precision() -> None:
    given = three(["BRANCH_LT"] * 3)
    for name in ("nodes_values", "class_weights"):
        tensor = numpy_helper.from_array(np.array(given.pop(name), dtype=np.float64), name)
        given[f"{name}_as_tensor"] = tensor
    model = graph("TreeEnsembleClassifier", given)
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.DOUBLE
    session = onnxruntime.InferenceSession(model.SerializeToString())
    own = session.run(["y"], {"x": X.astype(np.float64)})[0]
    assert_allclose(shafer.Explainer(model, X)(X).probability, own, rtol=0, atol=1e-6)


def broken(change: str) -> dict[str, Any]:
    given = three(["BRANCH_LEQ"] * 3)
    if change == "two parents":
        given["nodes_truenodeids"][0] = 2
    if change == "no child":
        given["nodes_truenodeids"][0] = 99
    if change == "a circle":
        given["nodes_truenodeids"][1] = 0
    if change == "no trees":
        del given["class_weights"]
    return given


@pytest.mark.parametrize("change", ["two parents", "no child", "a circle", "no trees"])
def test_damaged_trees(change: str) -> None:
    model = graph("TreeEnsembleClassifier", broken(change))
    with pytest.raises(UnsupportedModelError, match="do not fit together|cannot load") as caught:
        shafer.Explainer(model, X)
    assert "\n" not in str(caught.value)


def test_an_average_of_trees_is_refused() -> None:
    attributes = ensemble(
        ["BRANCH_LEQ"] * 2, _RNG.normal(size=(2, 4, 1)), "target",
        n_targets=1, aggregate_function="AVERAGE",
    )  # fmt: skip
    model = graph("TreeEnsembleRegressor", attributes, helper.make_node("Sigmoid", ["s"], ["y"]))
    with pytest.raises(UnsupportedModelError, match="joins its trees by AVERAGE"):
        shafer.Explainer(model, X)
