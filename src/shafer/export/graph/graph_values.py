"""Operators of ONNX written as Python expressions: ``(a * b).exp()`` adds two nodes to a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

Operand: TypeAlias = "Value | NDArray[Any] | float"


@final
@dataclass(frozen=True, eq=False)
class GraphNodes:
    """The nodes and constants of a graph that is being built.

    A graph inside another one, such as a branch, shares its names and constants.
    """

    nodes: list[NodeProto] = field(default_factory=list)
    constants: dict[tuple[Any, ...], TensorProto] = field(default_factory=dict)
    _numbers: Any = field(default_factory=count)

    def inside(self) -> GraphNodes:
        """Return an empty graph inside this one."""
        return GraphNodes([], self.constants, self._numbers)

    def name(self) -> str:
        """Return a new name."""
        return f"shafer_{next(self._numbers)}"

    def value(self, name: str) -> Value:
        """Return the value of a name, such as an input."""
        return Value(self, name)

    def constant(self, given: Any) -> Value:
        """Return a constant; equal ones are stored once. Numbers are in double precision."""
        array = np.ascontiguousarray(given) if np.ndim(given) else np.asarray(given)
        if array.dtype.kind == "f":
            array = array.astype(np.float64)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self.constants:
            self.constants[key] = numpy_helper.from_array(array, self.name())
        return Value(self, self.constants[key].name)

    def op(self, kind: str, *inputs: Operand, **attributes: Any) -> Value:
        """Add a node with one output."""
        return self.ops(kind, inputs, 1, **attributes)[0]

    def ops(
        self, kind: str, inputs: Sequence[Operand], n_outputs: int, **attributes: Any
    ) -> list[Value]:
        """Add a node with several outputs."""
        given = [x if isinstance(x, Value) else self.constant(x) for x in inputs]
        outputs = [self.name() for _ in range(n_outputs)]
        names = [value.name for value in given]
        self.nodes.append(helper.make_node(kind, names, outputs, **attributes))
        return [Value(self, name) for name in outputs]

    def branch(self, build: Callable[[GraphNodes], Value], label: str) -> GraphProto:
        """Return a graph without inputs, which reads the values of this one."""
        inner = self.inside()
        result = build(inner)
        output = helper.make_tensor_value_info(result.name, TensorProto.DOUBLE, None)
        return helper.make_graph(inner.nodes, label, [], [output])


@final
@dataclass(frozen=True, eq=False)
class Value:
    """A tensor of a graph, known by its name."""

    graph: GraphNodes
    name: str

    def in_graph(self, graph: GraphNodes) -> Value:
        """Return the same tensor for nodes of a graph inside."""
        return Value(graph, self.name)

    def op(self, kind: str, *others: Operand, **attributes: Any) -> Value:
        """Apply an operator with this value as its first input."""
        return self.graph.op(kind, self, *others, **attributes)

    def __add__(self, other: Operand) -> Value:
        return self.op("Add", other)

    def __sub__(self, other: Operand) -> Value:
        return self.op("Sub", other)

    def __rsub__(self, other: float) -> Value:
        return self.graph.op("Sub", other, self)

    def __mul__(self, other: Operand) -> Value:
        return self.op("Mul", other)

    def __truediv__(self, other: Operand) -> Value:
        return self.op("Div", other)

    def __matmul__(self, other: Operand) -> Value:
        return self.op("MatMul", other)

    def __neg__(self) -> Value:
        return self.op("Neg")

    def exp(self) -> Value:
        """Return e to the power of each entry."""
        return self.op("Exp")

    def log(self) -> Value:
        """Return the natural logarithm; −∞ at zero."""
        return self.op("Log")

    def at_most(self, limit: Operand) -> Value:
        """Return the smaller of each entry and the limit."""
        return self.op("Min", limit)

    def at_least(self, limit: Operand) -> Value:
        """Return the larger of each entry and the limit."""
        return self.op("Max", limit)

    def sum(self, axis: int = 1, *, keepdims: bool = True) -> Value:
        """Sum over an axis."""
        return self._reduced("ReduceSum", axis, keepdims)

    def product(self, axis: int = 1, *, keepdims: bool = True) -> Value:
        """Multiply over an axis."""
        return self._reduced("ReduceProd", axis, keepdims)

    def max(self, axis: int = 1, *, keepdims: bool = True) -> Value:
        """Return the largest entry over an axis."""
        return self._reduced("ReduceMax", axis, keepdims)

    def mean(self, axis: int = 1, *, keepdims: bool = True) -> Value:
        """Average over an axis."""
        return self._reduced("ReduceMean", axis, keepdims)

    def cumulative_sum(self, *, before: bool = True) -> Value:
        """Return the sum over the entries before each one, along axis 1, or over those after it."""
        axis = np.asarray(1, dtype=np.int64)
        return self.op("CumSum", axis, exclusive=1, reverse=0 if before else 1)

    def with_axis(self, axis: int) -> Value:
        """Add an axis of length one."""
        return self.op("Unsqueeze", np.asarray([axis], dtype=np.int64))

    def without_axis(self, axis: int) -> Value:
        """Remove an axis of length one."""
        return self.op("Squeeze", np.asarray([axis], dtype=np.int64))

    def gather(self, positions: NDArray[np.int64], axis: int = 1) -> Value:
        """Take entries along an axis."""
        return self.op("Gather", positions, axis=axis)

    def halves(self) -> list[Value]:
        """Split axis 1 into two equal parts."""
        return self.graph.ops("Split", [self], 2, axis=1, num_outputs=2)

    def cast(self, element: int) -> Value:
        """Convert to another type of element, a constant of ``TensorProto``."""
        return self.op("Cast", to=element)

    def _reduced(self, kind: str, axis: int, keepdims: bool) -> Value:
        axes = np.asarray([axis], dtype=np.int64)
        return self.op(kind, axes, keepdims=int(keepdims))


def tensor_info(name: str, element: int, shape: Sequence[int | str]) -> ValueInfoProto:
    """Describe an input or output of a graph."""
    return helper.make_tensor_value_info(name, element, list(shape))
