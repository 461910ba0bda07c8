"""The last linear layer of a graph, or its trees, and how far it can be written on the inputs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from shafer._text import listed
from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError
from shafer.models.onnx.checked import values_taken
from shafer.models.onnx.graph import GraphIndex, attributes

if TYPE_CHECKING:
    from onnx import NodeProto

TREES = ("TreeEnsembleClassifier", "TreeEnsembleRegressor")
# These are last layers as well, but not sums of contributions that could be read.
_CLOSED = {
    "SVMClassifier": "a support vector machine, whose probabilities do not follow from its scores",
    "MatMulInteger": "a layer of whole numbers; export the model before it is quantised",
    "QLinearMatMul": "a layer of whole numbers; export the model before it is quantised",
    "QLinearConv": "a layer of whole numbers; export the model before it is quantised",
    "ConvInteger": "a layer of whole numbers; export the model before it is quantised",
    "TreeEnsemble": "trees of a newer operator, which is not read yet; export for ai.onnx.ml 3",
}
_SHAPES = ("Shape", "Size")
_SAME = ("Identity", "Cast", "Dropout", "Reshape", "Flatten", "Squeeze", "Unsqueeze")


@final
@dataclass(frozen=True, eq=False)
class LinearLayer:
    """A linear layer: logits are ``features @ coef.T + intercept``.

    Attributes
    ----------
    node : str
        The value that its node makes; of a classifier, the scores.
    features : str
        The value that goes in.
    coef : array of shape (K, J)
    intercept : array of shape (K,)
    channels_first : bool
        The features are in the second axis, as those of a convolution.
    """

    node: str
    features: str
    coef: FloatArray
    intercept: FloatArray
    channels_first: bool = False

    def scaled(self, slope: FloatArray, shift: FloatArray) -> LinearLayer:
        """Return the layer with its logits multiplied and shifted."""
        coef, intercept = self.coef * slope[:, None], self.intercept * slope + shift
        return replace(self, coef=coef, intercept=intercept)

    def behind(self, value: str, slope: FloatArray, shift: FloatArray) -> LinearLayer:
        """Return the layer on another value, of which the features are an affine map."""
        coef = self.coef * slope if slope.ndim == 1 else self.coef @ slope
        return replace(
            self, features=value, coef=coef, intercept=self.intercept + self.coef @ shift
        )


def linear_layer(index: GraphIndex, node: NodeProto) -> LinearLayer | None:
    """Read a node that is a linear layer with constant coefficients; None for any other."""
    found = _coefficients(index, node)
    if found is None:
        return None
    features, coef, intercept = found
    if coef.ndim != 2 or intercept.size not in (1, len(coef)):
        return None
    intercept = np.broadcast_to(intercept.ravel(), (len(coef),)).astype(np.float64)
    first = node.op_type == "Conv"
    return LinearLayer(node.output[-1], features, coef.astype(np.float64), intercept, first)


def _coefficients(index: GraphIndex, node: NodeProto) -> tuple[str, FloatArray, FloatArray] | None:
    """Return the features, the coefficients and the intercept of a node."""
    kind, has = node.op_type, attributes(node)
    none = np.zeros(1)
    if kind in ("LinearClassifier", "LinearRegressor"):
        coef = np.asarray(has.get("coefficients", has.get("coefs", [])), dtype=np.float64)
        n = int(has.get("targets", 1)) if kind == "LinearRegressor" else 0
        intercept = np.asarray(has.get("intercepts", [0.0] * n or [0.0]), dtype=np.float64)
        rows = n or len(intercept)
        return node.input[0], coef.reshape(rows, -1), intercept
    if kind not in ("Gemm", "MatMul", "Conv") or node.input[0] in index.constants:
        return None
    weights = index.constant(node.input[1])
    if weights is None or weights.dtype.kind != "f":
        return None
    given = index.constant(node.input[2]) if len(node.input) > 2 and node.input[2] else none
    if given is None:
        return None
    if kind == "MatMul":
        return (node.input[0], weights.T, none) if weights.ndim == 2 else None
    if kind == "Gemm":
        if has.get("transA", 0):
            return None
        coef = weights if has.get("transB", 0) else weights.T
        return node.input[0], coef * has.get("alpha", 1.0), given * has.get("beta", 1.0)
    return _pointwise(node.input[0], weights, given, has)


def _pointwise(
    value: str, weights: FloatArray, intercept: FloatArray, has: dict[str, Any]
) -> tuple[str, FloatArray, FloatArray] | None:
    """Read a convolution that looks at one place at a time."""
    moved = [*has.get("pads", []), *(step - 1 for step in has.get("strides", []))]
    if has.get("group", 1) != 1 or any(moved) or any(size != 1 for size in weights.shape[2:]):
        return None
    if has.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        return None
    return value, weights.reshape(weights.shape[:2]), intercept


def last_layers(index: GraphIndex, value: str) -> list[NodeProto]:
    """Return the linear layers and trees that are nearest to a value, on all ways to it."""
    seen, found, waiting = set[str](), [], [value]
    while waiting:
        current = waiting.pop()
        node = index.producer.get(current)
        if current in seen or node is None or current in index.constants:
            continue
        seen.update(node.output)
        if node.op_type in _CLOSED:
            raise UnsupportedModelError(
                f"The graph ends in {node.op_type}, {_CLOSED[node.op_type]}. Pass the trained "
                "model itself, or another one."
            )
        if node.op_type in TREES or linear_layer(index, node) is not None:
            found.append(node)
        elif node.op_type not in _SHAPES:
            waiting += values_taken(node)
    return found


def named_layer(index: GraphIndex, layer: str) -> NodeProto:
    """Return the linear layer or trees with this name, or that make a value of this name."""
    nodes: list[NodeProto] = [
        node
        for node in index.model.graph.node
        if node.op_type in TREES or linear_layer(index, node) is not None
    ]
    for node in nodes:
        if layer and layer in (*node.output, node.name):
            return node
    raise ValueError(
        "layer must name a linear layer of the graph, one of "
        f"{listed([node.output[-1] for node in nodes])}; got {layer!r}."
    )


def with_what_follows(index: GraphIndex, layer: LinearLayer) -> list[LinearLayer]:
    """Return a layer, and what it is after each constant that is added or multiplied next."""
    layers, value = [layer], layer.node
    while True:
        following = index.consumers.get(value, [])
        if len(following) != 1:
            return layers
        node = following[0]
        if node.op_type in _SAME:
            value = node.output[0]
            continue
        change = _elementwise(index, node, value, len(layer.coef))
        if change is None:
            return layers
        layers.append(layers[-1].scaled(*change))
        value = node.output[0]


def _elementwise(
    index: GraphIndex, node: NodeProto, value: str, width: int
) -> tuple[FloatArray, FloatArray] | None:
    """Return the slope and the shift of each column, if a node adds or multiplies constants."""
    if node.op_type == "Scaler":
        has = attributes(node)
        scale = np.broadcast_to(np.asarray(has.get("scale", [1.0]), dtype=np.float64), (width,))
        offset = np.asarray(has.get("offset", [0.0]), dtype=np.float64)
        return scale, -scale * offset
    if node.op_type == "BatchNormalization":
        return _normalised(index, node, width)
    if node.op_type not in ("Add", "Sub", "Mul", "Div"):
        return None
    first = node.input[0] == value
    other = index.constant(node.input[1] if first else node.input[0])
    if other is None or other.dtype.kind != "f" or other.size not in (1, width):
        return None
    if other.size == width > 1 and max(other.shape, default=1) != width:
        return None
    c = np.broadcast_to(other.ravel().astype(np.float64), (width,))
    one, none = np.ones(width), np.zeros(width)
    if node.op_type == "Add":
        return one, c
    if node.op_type == "Mul":
        return c, none
    if node.op_type == "Sub":
        return (one, -c) if first else (-one, c)
    return (1.0 / c, none) if first and np.all(c != 0.0) else None


def _normalised(
    index: GraphIndex, node: NodeProto, width: int
) -> tuple[FloatArray, FloatArray] | None:
    parts = [index.constant(value) for value in node.input[1:5]]
    if len(parts) < 4 or any(part is None or part.size != width for part in parts):
        return None
    scale, shift, mean, variance = (np.asarray(part, dtype=np.float64).ravel() for part in parts)
    slope = scale / np.sqrt(variance + attributes(node).get("epsilon", 1e-5))
    return slope, shift - slope * mean


def readings(index: GraphIndex, layer: LinearLayer) -> list[LinearLayer]:
    """Return what may be the logits of a graph whose last layer is known, in one order.

    Of two opposite logits the second alone is one of them.
    """
    found = []
    for given in with_what_follows(index, layer):
        found.append(given)
        both = np.concatenate([given.coef, given.intercept[:, None]], axis=1)
        if len(both) == 2 and np.array_equal(both[0], -both[1]):
            found.append(replace(given, coef=given.coef[1:], intercept=given.intercept[1:]))
    return found


def on_earlier_values(index: GraphIndex, layer: LinearLayer) -> list[LinearLayer]:
    """Return the layer written on each value before it of which the features are an affine map."""
    layers = [layer]
    while True:
        node = index.producer.get(layer.features)
        if node is None or layer.channels_first:
            return layers
        inner = linear_layer(index, node)
        width = layer.coef.shape[1]
        if node.op_type in _SAME:
            layer = replace(layer, features=node.input[0])
        elif inner is not None and node.op_type in ("Gemm", "MatMul") and len(inner.coef) == width:
            layer = layer.behind(inner.features, inner.coef, inner.intercept)
        else:
            values = [value for value in node.input if value and value not in index.constants]
            change = _elementwise(index, node, values[0], width) if len(values) == 1 else None
            if change is None:
                return layers
            layer = layer.behind(values[0], *change)
        layers.append(layer)


# The labels of the classes, where the graph has them.


def labels_of(node: NodeProto) -> list[Any] | None:
    """Return the labels among the attributes of a classifier or a ZipMap."""
    has = attributes(node)
    for name in ("classlabels_strings", "classlabels_int64s", "classlabels_ints"):
        if has.get(name):
            return list(has[name])
    return None


def chosen_labels(index: GraphIndex) -> list[list[Any]]:
    """Return the constant lists of labels that the graph picks the largest class from."""
    found = []
    for node in index.model.graph.node:
        if node.op_type not in ("ArrayFeatureExtractor", "Gather") or len(node.input) < 2:
            continue
        labels, picked = index.constant(node.input[0]), index.producer.get(node.input[1])
        if labels is not None and picked is not None and picked.op_type == "ArgMax":
            found.append(labels.ravel().tolist())
    return found
