"""Inputs that are the same for all rows, such as a sampling rate, and the branches they choose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from onnx import ModelProto, NodeProto, numpy_helper

from shafer._text import listed
from shafer.models.onnx.checked import subgraphs
from shafer.models.onnx.graph import GraphIndex, attributes
from shafer.models.onnx.inputs import constant_array, input_spec

if TYPE_CHECKING:
    from onnx import GraphProto

_MOST_BRANCHES = 100


def with_constants(model: ModelProto, constants: Mapping[str, Any] | None) -> GraphIndex:
    """Return the graph with values in the place of some inputs, and the branches they choose."""
    index = GraphIndex(model)
    if not constants:
        return index
    specs = {given.name: input_spec(given) for given in index.inputs}
    unknown = [name for name in constants if name not in specs]
    if unknown or len(constants) == len(specs):
        problem = f"the unknown inputs {listed(unknown)}" if unknown else "all inputs"
        raise ValueError(
            f"constants must name some of the inputs of the graph, {listed(list(specs))}; got "
            f"{problem}. Leave out those that rows go into."
        )
    made = ModelProto()
    made.CopyFrom(model)
    kept = [given for given in made.graph.input if given.name not in constants]
    del made.graph.input[:]
    made.graph.input.extend(kept)
    for name, value in constants.items():
        tensor = numpy_helper.from_array(constant_array(specs[name], value), name)
        made.graph.initializer.append(tensor)
    for _ in range(_MOST_BRANCHES):  # a branch may hold another one
        if not _chose_one(made):
            break
    return GraphIndex(made)


def _chose_one(model: ModelProto) -> bool:
    """Put a branch in the place of the first node whose condition is known."""
    index = GraphIndex(model)
    for place, node in enumerate(model.graph.node):
        condition = index.constant(node.input[0]) if node.op_type == "If" else None
        if condition is not None:
            chosen = attributes(node)["then_branch" if condition.ravel()[0] else "else_branch"]
            _replace(model.graph, place, node, chosen)
            return True
    return False


def _replace(graph: GraphProto, place: int, node: NodeProto, branch: GraphProto) -> None:
    own = [value for inner in branch.node for value in inner.output if value]
    own += [tensor.name for tensor in branch.initializer]
    names = {value: f"{node.output[0]}/{value}" for value in own}
    for tensor in branch.initializer:
        tensor.name = names[tensor.name]
    _rename(branch, names)
    ends = [
        NodeProto(op_type="Identity", input=[given.name], output=[out])
        for out, given in zip(node.output, branch.output, strict=True)
        if out
    ]
    nodes = [*graph.node[:place], *branch.node, *ends, *graph.node[place + 1 :]]
    graph.initializer.extend(branch.initializer)
    graph.ClearField("node")
    graph.node.extend(nodes)


def _rename(graph: GraphProto, names: Mapping[str, str]) -> None:
    """Rename values in a graph, also where the graphs inside it take them."""
    for node in graph.node:
        node.input[:] = [names.get(value, value) for value in node.input]
        node.output[:] = [names.get(value, value) for value in node.output]
        for inner in subgraphs(node):
            _rename(inner, names)
    for given in graph.output:
        given.name = names.get(given.name, given.name)
