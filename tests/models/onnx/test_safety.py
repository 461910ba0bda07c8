"""Files that are damaged, or made to do harm, are refused in one line, before anything runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import shafer
from shafer.errors import UnsupportedModelError
from shafer.models.onnx import checked

X = np.random.default_rng(0).normal(size=(5, 2)).astype(np.float32)


def model() -> ModelProto:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["z"]),
        helper.make_node("Softmax", ["z"], ["y"]),
    ]
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 2])
    made = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])
    held = [numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(2, 3), "w")]
    graph = helper.make_graph(nodes, "g", [given], [made], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def nested(depth: int) -> Any:
    value = [helper.make_empty_tensor_value_info("v")]
    nodes = [helper.make_node("Identity", ["x"], ["v"])]
    for _ in range(depth):
        inner = helper.make_graph(nodes, "inner", [], value)
        nodes = [helper.make_node("If", ["c"], ["v"], then_branch=inner, else_branch=inner)]
        nodes[0].attribute.pop()
        nodes[0].attribute.append(helper.make_attribute("else_branch", helper.make_graph(
            [helper.make_node("Identity", ["x"], ["v"])], "other", [], value)))  # fmt: skip
    return nodes[0]


def external(given: ModelProto) -> None:
    tensor = given.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "/etc/passwd"


def external_in_an_attribute(given: ModelProto) -> None:
    tensor = TensorProto(name="t", data_type=TensorProto.FLOAT, dims=[1])
    tensor.data_location = TensorProto.EXTERNAL
    given.graph.node.append(helper.make_node("Constant", [], ["c"], value=tensor))


def custom(given: ModelProto) -> None:
    given.graph.node[1].domain = "com.evil"


def of_one_runtime(given: ModelProto) -> None:
    given.graph.node[1].domain = "com.microsoft"


def custom_in_a_branch(given: ModelProto) -> None:
    given.graph.node.append(nested(2))
    inner = given.graph.node[2].attribute[0].g.node[0]
    inner.attribute[0].g.node[0].domain = "com.evil"


def with_functions(given: ModelProto) -> None:
    given.functions.add().name = "f"


def too_deep(given: ModelProto) -> None:
    given.graph.node.append(nested(checked.DEEPEST + 1))


def in_a_circle(given: ModelProto) -> None:
    given.graph.node[0].input[0] = "y"


def of_wrong_length(given: ModelProto) -> None:
    given.graph.initializer[0].raw_data = b"\x00" * 5


def of_too_many_numbers(given: ModelProto) -> None:
    given.graph.initializer[0].dims[0] = 2**40


HOSTILE = {
    external: "keeps numbers in other files",
    external_in_an_attribute: "keeps numbers in other files",
    custom: "uses 'Softmax' of 'com.evil'",
    of_one_runtime: "uses 'Softmax' of 'com.microsoft'",
    custom_in_a_branch: "uses 'Identity' of 'com.evil'",
    with_functions: "has 1 functions of its own",
    too_deep: "more than 8 deep",
    in_a_circle: "is damaged",
    of_wrong_length: "is damaged",
    of_too_many_numbers: "is damaged",
}


@pytest.mark.parametrize("change", HOSTILE, ids=lambda change: change.__name__)
@pytest.mark.parametrize("from_file", [True, False])
def test_hostile_graphs(change: Any, from_file: bool, tmp_path: Path) -> None:
    given: Any = model()
    change(given)
    if from_file:
        path = tmp_path / "model.onnx"
        path.write_bytes(given.SerializeToString())
        given = path
    with pytest.raises(UnsupportedModelError, match=HOSTILE[change]) as caught:
        shafer.Explainer(given, X)
    assert "\n" not in str(caught.value)


def test_too_many_nodes_and_too_many_bytes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(model().SerializeToString())
    monkeypatch.setattr(checked, "MOST_NODES", 1)
    with pytest.raises(UnsupportedModelError, match="more than 1 nodes"):
        shafer.Explainer(path, X)
    monkeypatch.setattr(checked, "LARGEST", 10)
    for given in (path, model()):
        with pytest.raises(UnsupportedModelError, match="graphs of up to 10 bytes are read"):
            shafer.Explainer(given, X)


@pytest.mark.parametrize("content", [b"", b"no graph", b"\x08\x08", bytes(range(256)) * 20])
def test_files_that_are_no_graphs(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(UnsupportedModelError, match="holds no ONNX graph") as caught:
        shafer.Explainer(str(path), X)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["model.shafer", "model.skops", "model.pkl", "model.pt"])
def test_files_of_other_kinds(name: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedModelError, match="is not an ONNX file. Load"):
        shafer.Explainer(tmp_path / name, X)


def test_cut_and_changed_files_are_refused_or_read(tmp_path: Path) -> None:
    """Any change of a byte leads to evidence or to one error, never to another exception."""
    content = model().SerializeToString()
    choice = np.random.default_rng(0)
    path = tmp_path / "model.onnx"
    outcomes = set()
    for place in choice.integers(0, len(content), 60).tolist():
        changed = bytearray(content)
        changed[place] = int(choice.integers(256))
        path.write_bytes(bytes(changed[: place + 1] if place % 3 == 0 else changed))
        outcomes.add(outcome(path))
    assert outcomes == {"read", "refused"}


def outcome(path: Path) -> str:
    try:
        shafer.Explainer(path, X)
    except ValueError as error:
        return "refused" if "\n" not in str(error) else str(error)
    return "read"


def test_a_changed_graph_in_a_saved_file_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    from shafer.saving.file import loaded_bytes, saved_bytes

    content = saved_bytes(shafer.Explainer(model(), X))
    assert loaded_bytes(content)(X).belief.shape == (5, 3)
    monkeypatch.setattr(checked, "MOST_NODES", 1)
    with pytest.raises(ValueError, match="more than 1 nodes"):
        loaded_bytes(content)


def test_onnx_is_loaded_with_the_first_graph_only() -> None:
    code = "import shafer, sys; assert not {'onnx', 'onnxruntime', 'google'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
