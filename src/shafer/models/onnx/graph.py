"""The nodes of an ONNX graph by what they make and take, and its constants."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from shafer.models.onnx.checked import subgraphs, values_taken

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

_RANDOM = ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli")
_MOST_FOLDED = 1000


@final
class GraphIndex:
    """The main graph of a model, in which a value is known by its name.

    Attributes
    ----------
    model : ModelProto
    producer : dict from a value to the node that makes it
    consumers : dict from a value to the nodes that take it
    """

    def __init__(self, model: ModelProto) -> None:
        self.model = model
        graph = model.graph
        self.producer = {out: node for node in graph.node for out in node.output if out}
        self.consumers: dict[str, list[NodeProto]] = {}
        for node in graph.node:
            for value in dict.fromkeys(values_taken(node)):
                self.consumers.setdefault(value, []).append(node)
        self._initial = {tensor.name: tensor for tensor in graph.initializer}
        self._folded: dict[str, NDArray[Any]] = {}

    @property
    def inputs(self) -> list[Any]:
        """The inputs that rows go into: older graphs list their constants as inputs as well."""
        return [given for given in self.model.graph.input if given.name not in self._initial]

    @cached_property
    def constants(self) -> frozenset[str]:
        """The values that are the same for all rows."""
        known = set(self._initial)
        for node in self.model.graph.node:  # in topological order
            plain = node.op_type not in _RANDOM and not subgraphs(node)
            if plain and all(value in known for value in node.input if value):
                known.update(node.output)
        return frozenset(known)

    def constant(self, value: str) -> NDArray[Any] | None:
        """Return a constant as an array; None for any other value."""
        if value not in self.constants:
            return None
        if value not in self._folded:
            self._folded[value] = self._computed(value)
        return self._folded[value]

    def _computed(self, value: str) -> NDArray[Any]:
        if value in self._initial:
            return np.asarray(numpy_helper.to_array(self._initial[value]))
        from shafer.models.onnx.run import session_of

        needed: dict[str, NodeProto] = {}
        waiting = [value]
        while waiting and len(needed) <= _MOST_FOLDED:
            node = self.producer.get(waiting.pop())
            if node is not None and node.output[0] not in needed:
                needed[node.output[0]] = node
                waiting += node.input
        nodes = [node for node in self.model.graph.node if node.output[0] in needed]
        used = {name for node in nodes for name in node.input}
        held = [self._initial[name] for name in used if name in self._initial]
        wanted = [helper.make_empty_tensor_value_info(value)]
        graph = helper.make_graph(nodes, "constant", [], wanted, held)
        given = session_of(with_graph(self.model, graph)).run([value], {})[0]
        return np.asarray(given)

    def between(self, start: str, end: str) -> list[str]:
        """Return the operators behind one value and before another, for errors."""
        behind, found = {start}, []
        for node in self.model.graph.node:
            if any(value in behind for value in values_taken(node)):
                behind.update(node.output)
                found.append(node)
        needed, names = {end}, []
        for node in reversed(found):
            if any(value in needed for value in node.output):
                needed.update(values_taken(node))
                names.append(node.op_type)
        return names[::-1]


def with_graph(model: ModelProto, graph: GraphProto) -> ModelProto:
    """Return a model with another graph, of the same versions."""
    made: ModelProto = helper.make_model(graph, opset_imports=list(model.opset_import))
    made.ir_version = model.ir_version
    return made


def attributes(node: NodeProto) -> dict[str, Any]:
    """Return the attributes of a node as plain values and arrays."""
    return {given.name: _plain(helper.get_attribute_value(given)) for given in node.attribute}


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, list | tuple) or type(value).__name__.startswith("Repeated"):
        return [_plain(part) for part in value]
    return np.asarray(numpy_helper.to_array(value)) if hasattr(value, "raw_data") else value
