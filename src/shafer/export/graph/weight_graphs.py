"""From the terms of a model to its weights of evidence, and to the pooled weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, TensorProto, helper

from shafer._typing import FloatArray
from shafer.export.graph.graph_values import GraphNodes, Value, tensor_info

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
