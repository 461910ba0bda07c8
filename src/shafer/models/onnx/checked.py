"""An ONNX graph from a file or from memory, checked before anything of it runs.

A graph from elsewhere may be made to do harm. Only operators of ONNX itself are let through, no
file besides the graph is read, and size, number of nodes and nesting are limited. What a checked
graph computes is still the choice of its author: a loop may run for long.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shafer._text import listed, one_line
from shafer.errors import UnsupportedModelError

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto

LARGEST = 2**30
MOST_NODES = 100_000
DEEPEST = 8
DOMAINS = ("", "ai.onnx", "ai.onnx.ml")
_OTHER_FILES = {
    ".shafer": "Load it with shafer.Explainer.load(path).",
    ".skops": "Load the model, and pass it instead of its path.",
    ".pkl": "Load the model, and pass it instead of its path.",
    ".joblib": "Load the model, and pass it instead of its path.",
    ".pt": "Load the module, and pass it instead of its path.",
    ".safetensors": "Load the module, and pass it instead of its path.",
}


def read_file(path: str | os.PathLike[str]) -> ModelProto:
    """Read the graph in a file and check it.

    Raises
    ------
    UnsupportedModelError
        If the file holds no ONNX graph, or one that is refused.
    """
    name = os.fspath(path)
    hint = _OTHER_FILES.get(Path(name).suffix.lower())
    if hint is not None:
        raise UnsupportedModelError(f"{name!r} is not an ONNX file. {hint}")
    size = os.stat(name).st_size  # a missing file is an OSError
    if size > LARGEST:
        _refuse_size(repr(name), size)
    return from_bytes(Path(name).read_bytes(), repr(name))


def from_bytes(content: bytes, name: str) -> ModelProto:
    """Read a graph from the content of a file, and check it."""
    check_installed()
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    model = ModelProto()
    try:
        model.ParseFromString(content)
    except (DecodeError, ValueError, RecursionError) as error:
        raise UnsupportedModelError(
            f"{name} holds no ONNX graph ({one_line(error)}). Pass a file that an exporter wrote, "
            "or a trained model."
        ) from error
    check_graph(model, name)
    return model


def check_installed() -> None:
    """Raise an error that tells what to install."""
    for package in ("onnx", "onnxruntime"):
        if importlib.util.find_spec(package) is None:
            raise ImportError(
                f"Reading ONNX graphs needs {package}. Run: pip install '.[onnx]' in a copy of the "
                "repository"
            )


def check_graph(model: ModelProto, name: str = "The ONNX model") -> None:
    """Refuse a graph that is not whole, too large, or would run or read something else."""
    check_installed()
    import onnx

    if not model.ir_version or not model.opset_import or not len(model.graph.node):
        raise UnsupportedModelError(
            f"{name} holds no ONNX graph (no version, or no nodes). Pass a file that an exporter "
            "wrote, or a trained model."
        )
    if model.ByteSize() > LARGEST:
        _refuse_size(name, model.ByteSize())
    if len(model.functions):
        raise UnsupportedModelError(
            f"{name} has {len(model.functions)} functions of its own. Write them out: "
            "onnx.inliner.inline_local_functions(model)."
        )
    _check_nodes(model, name)
    if any(tensor.data_location == tensor.EXTERNAL for tensor in _tensors(model.graph)):
        raise UnsupportedModelError(
            f"{name} keeps numbers in other files, which are not read. Export it with all numbers "
            "inside, or load it with onnx.load and pass the ModelProto."
        )
    try:
        onnx.checker.check_model(_with_shapes(model))
    except Exception as error:  # a damaged graph can fail in any way
        raise UnsupportedModelError(
            f"{name} is damaged: {one_line(error).rstrip('.')}. Export the model again."
        ) from error


def _with_shapes(model: ModelProto) -> ModelProto:
    """Return a graph whose outputs have shapes, which the check asks for and onnxruntime not."""
    bare = [k for k, one in enumerate(model.graph.output) if not _has_shape(one)]
    if not bare:
        return model
    made = type(model)()
    made.CopyFrom(model)
    for k in bare:
        made.graph.output[k].type.tensor_type.shape.SetInParent()
    return made


def _has_shape(given: Any) -> bool:
    tensor = given.type.WhichOneof("value") == "tensor_type"
    return not tensor or given.type.tensor_type.HasField("shape")


def _refuse_size(name: str, size: int) -> None:
    raise UnsupportedModelError(
        f"{name} has {size:,} bytes; graphs of up to {LARGEST:,} bytes are read. Pass the last "
        "layer as arrays, shafer.LinearHead(coef, intercept), with its features as X."
    )


def _check_nodes(model: ModelProto, name: str) -> None:
    """Check the number of nodes, their nesting and their domains."""
    count = 0
    for depth, graph in _graphs(model.graph):
        if depth > DEEPEST:
            raise UnsupportedModelError(
                f"{name} has graphs inside graphs, more than {DEEPEST} deep. Export it without "
                "nested branches and loops."
            )
        count += len(graph.node)
        if count > MOST_NODES:
            raise UnsupportedModelError(
                f"{name} has more than {MOST_NODES:,} nodes. Pass the last layer as arrays, "
                "shafer.LinearHead(coef, intercept), with its features as X."
            )
        foreign = sorted({node.domain for node in graph.node} - set(DOMAINS))
        if foreign:
            kinds = sorted({node.op_type for node in graph.node if node.domain in foreign})
            raise UnsupportedModelError(
                f"{name} uses {listed(kinds)} of {listed(foreign)}, and only operators of ONNX "
                "itself are run. Export it without operators of one runtime."
            )


def _graphs(graph: GraphProto) -> Iterator[tuple[int, GraphProto]]:
    """Yield a graph and those inside it, with their depth."""
    waiting = [(0, graph)]
    while waiting:
        depth, current = waiting.pop()
        yield depth, current
        waiting += [(depth + 1, inner) for node in current.node for inner in subgraphs(node)]


def subgraphs(node: NodeProto) -> list[GraphProto]:
    """Return the branches and bodies of a node."""
    found: list[GraphProto] = []
    for attribute in node.attribute:
        if attribute.HasField("g"):
            found.append(attribute.g)
        found += attribute.graphs
    return found


def values_taken(node: NodeProto) -> list[str]:
    """Return the values that a node takes, also those that its branches take from outside."""
    inner = [value for graph in subgraphs(node) for value in _free(graph)]
    return [value for value in (*node.input, *inner) if value]


def _free(graph: GraphProto) -> Iterator[str]:
    """Yield the values that a graph inside another takes from outside."""
    own = {given.name for given in graph.input} | {tensor.name for tensor in graph.initializer}
    for node in graph.node:
        yield from (value for value in node.input if value and value not in own)
        for inner in subgraphs(node):
            yield from (value for value in _free(inner) if value not in own)
        own.update(node.output)
    yield from (given.name for given in graph.output if given.name not in own)


def _tensors(graph: GraphProto) -> Iterator[TensorProto]:
    """Yield the tensors of a graph, of its attributes, and of the graphs inside it."""
    for _, current in _graphs(graph):
        yield from current.initializer
        yield from _dense(current.sparse_initializer)
        for node in current.node:
            for attribute in node.attribute:
                if attribute.HasField("t"):
                    yield attribute.t
                yield from attribute.tensors
                if attribute.HasField("sparse_tensor"):
                    yield from _dense([attribute.sparse_tensor])
                yield from _dense(attribute.sparse_tensors)


def _dense(tensors: Iterable[Any]) -> Iterator[TensorProto]:
    for tensor in tensors:
        yield tensor.values
        yield tensor.indices
