"""Nodes and constants of transformers, in the containers of skl2onnx."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from onnx import TensorProto

from shafer.export.graph.graph_version import OPSET

_KINDS = {
    "f": TensorProto.DOUBLE,
    "i": TensorProto.INT64,
    "U": TensorProto.STRING,
    "b": TensorProto.BOOL,
}


def add_node(
    scope: Any,
    container: Any,
    kind: str,
    inputs: list[str],
    *,
    output: str | None = None,
    **attributes: Any,
) -> str:
    """Add a node of one output, and return the name of the output."""
    name: str = output or scope.get_unique_variable_name(kind.lower())
    container.add_node(
        kind,
        inputs,
        [name],
        op_version=OPSET,
        name=scope.get_unique_operator_name(kind),
        **attributes,
    )
    return name


def constant(scope: Any, container: Any, given: NDArray[Any]) -> str:
    """Add a constant, and return its name."""
    name: str = scope.get_unique_variable_name("constant")
    values = given.ravel().tolist()
    if given.dtype.kind == "U":
        values = [text.encode() for text in values]
    container.add_initializer(name, _KINDS[given.dtype.kind], list(given.shape), values)
    return name
