"""Operators of ONNX written as Python expressions: ``(a * b).exp()`` adds two nodes to a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from shafer._typing import FloatArray

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
        texts = array.dtype.kind == "O"
        content = "\0".join(array.ravel().tolist()).encode() if texts else array.tobytes()
        key = (array.dtype.str, array.shape, content)
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

    def sum_of_others(self) -> Value:
        """Return the sum over the other entries of axis 1, without a difference."""
        return self.cumulative_sum() + self.cumulative_sum(before=False)

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

    def first_largest(self, axis: int = 1) -> Value:
        """Return the position of the first of the largest entries along an axis."""
        return self.op("ArgMax", axis=axis, keepdims=0)

    def largest(self, count: int) -> tuple[Value, Value]:
        """Return the largest entries along axis 1, and their positions, the largest first."""
        k = self.graph.constant(np.asarray([count], dtype=np.int64))
        values, positions = self.graph.ops("TopK", [self, k], 2, axis=1)
        return values, positions

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


# The version of ONNX that graphs are written in.

OPSET = 19
"""Standard operators; ONNX Runtime has them since 1.15."""

OPSET_ML = 2
"""Operators of ``ai.onnx.ml``, for categories that are texts."""

IR_VERSION = 9
"""The file format."""


# Nodes and constants of transformers, in the containers of skl2onnx.

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


# From the terms of a model to its weights of evidence, and to the pooled weights.

# Weights of all rows together that are held at once, 32 MB. Above it they are summed one component
# after another.
_MOST_AT_ONCE = 2**22
# Largest matrix with one column for each group and class, most of it zeros.
_LARGEST_BLOCK = 2**20


def linear_weights(
    features: Value, means: FloatArray, beta: FloatArray, offset: FloatArray
) -> Value:
    """Return the weights of a linear head, (n, J, K)."""
    return _of_centred(features - means, beta, offset)


def _of_centred(centred: Value, beta: FloatArray, offset: FloatArray) -> Value:
    return centred.with_axis(2) * beta + offset


def grouped_linear_weights(
    features: Value,
    means: FloatArray,
    beta: FloatArray,
    offset: FloatArray,
    groups: Sequence[Sequence[int]],
) -> Value:
    """Return the weights of groups of features, (n, H, K)."""
    centred = features - means
    (n_features, n_classes), n_groups = beta.shape, len(groups)
    if n_features * n_groups * n_classes > _LARGEST_BLOCK:
        sums = [centred.gather(_positions(group)) @ beta[list(group)] for group in groups]
        parts = [part.with_axis(1) for part in sums]
        return features.graph.op("Concat", *parts, axis=1) + offset
    block = np.zeros((n_features, n_groups, n_classes))
    for h, group in enumerate(groups):
        block[list(group), h] = beta[list(group)]
    flat = centred @ block.reshape(n_features, -1)
    shape = np.asarray([-1, n_groups, n_classes], dtype=np.int64)
    return flat.op("Reshape", shape) + offset


def grouped_terms(terms: Value, groups: Sequence[Sequence[int]]) -> Value:
    """Sum contributions (n, G, K) in each group, (n, H, K)."""
    members = np.zeros((len(groups), sum(map(len, groups))))
    for h, group in enumerate(groups):
        members[h, list(group)] = 1.0
    return terms.graph.constant(members) @ terms


def _positions(group: Sequence[int]) -> NDArray[np.int64]:
    return np.asarray(group, dtype=np.int64)


def pooled_weights(weights: Value, n_classes: int) -> Value:
    """Sum the positive and the negative parts of weights (n, G, K); the result is (n, 2 K)."""
    positive = weights.op("Relu").sum(1, keepdims=False)
    if n_classes == 2:  # the weights of two classes are opposite
        return positive.gather(np.asarray([0, 1, 1, 0], dtype=np.int64))
    negative = (-weights).op("Relu").sum(1, keepdims=False)
    return positive.op("Concat", negative, axis=1)


def pooled_linear(
    features: Value, means: FloatArray, beta: FloatArray, offset: FloatArray
) -> Value:
    """Pool the weights of a linear head; for many rows (n, J, K) weights are never held."""
    centred, graph, n_classes = features - means, features.graph, beta.shape[1]

    def at_once(inner: GraphNodes) -> Value:
        weights = _of_centred(centred.in_graph(inner), beta, offset)
        return pooled_weights(weights, n_classes)

    def one_by_one(inner: GraphNodes) -> Value:
        return _scanned(centred.in_graph(inner), beta, offset)

    limit = np.asarray(_MOST_AT_ONCE // n_classes, dtype=np.int64)
    many = centred.op("Size").op("Greater", limit)
    return many.op(
        "If",
        then_branch=graph.branch(one_by_one, "one_by_one"),
        else_branch=graph.branch(at_once, "at_once"),
    )


def _scanned(centred: Value, beta: FloatArray, offset: FloatArray) -> Value:
    """Add up the weights of one component after another, (n, 2 K)."""
    graph, n_classes = centred.graph, beta.shape[1]
    rows = centred.op("Shape", start=0, end=1)
    shape = rows.op("Concat", np.asarray([n_classes], dtype=np.int64), axis=0)
    zero = helper.make_tensor("zero", TensorProto.DOUBLE, [1], [0.0])
    start = shape.op("ConstantOfShape", value=zero)
    positive, negative = graph.ops(
        "Scan",
        [start, start, centred, graph.constant(beta)],
        2,
        body=_one_component(graph, offset, n_classes),
        num_scan_inputs=2,
        scan_input_axes=[1, 0],
    )
    return positive.op("Concat", negative, axis=1)


def _one_component(graph: GraphNodes, offset: FloatArray, n_classes: int) -> GraphProto:
    inner = graph.inside()
    names = [graph.name() for _ in range(4)]
    positive, negative, feature, row = (inner.value(name) for name in names)
    weights = feature.with_axis(1) * row + offset
    results = (positive + weights.op("Relu"), negative + (-weights).op("Relu"))
    pooled: list[int | str] = ["N", n_classes]
    shapes: list[list[int | str]] = [pooled, pooled, ["N"], [n_classes]]
    double = TensorProto.DOUBLE
    return helper.make_graph(
        inner.nodes,
        "one_component",
        [tensor_info(name, double, shape) for name, shape in zip(names, shapes, strict=True)],
        [tensor_info(value.name, double, pooled) for value in results],
    )
