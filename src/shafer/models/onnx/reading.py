"""``Reading``: what a graph makes of its last layer, found on a few rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto

from shafer._text import listed
from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError
from shafer.models.onnx.columns import ColumnTracer
from shafer.models.onnx.forms import OTHER, agrees, forms_of, n_numbers, precision_of
from shafer.models.onnx.graph import GraphIndex
from shafer.models.onnx.head import (
    TREES,
    LinearLayer,
    chosen_labels,
    labels_of,
    last_layers,
    linear_layer,
    named_layer,
    on_earlier_values,
    readings,
)
from shafer.models.onnx.inputs import GraphInputs
from shafer.models.onnx.run import GraphRun
from shafer.models.onnx.trees import raw_scores, scores, tree_tables
from shafer.rows.access import n_rows, take_rows

Logits: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""From features to logits, and the size of what was added up to them."""

_FEW = 8
_APART = 0.1  # of the largest feature; layers quantised by the batch differ by less
_NOT_NUMBERS = (TensorProto.STRING, TensorProto.BOOL, TensorProto.INT32, TensorProto.INT64)


@final
@dataclass(frozen=True, eq=False)
class Reading:
    """What was found in a graph.

    Attributes
    ----------
    node : NodeProto
        The last layer.
    answer : str
        The value that is put out.
    form : str
        What it is of the logits: a name in ``forms.ONE`` or ``forms.SEVERAL``.
    n_logits : int
    width : int
        The number of features.
    layer : LinearLayer or None
        None for trees.
    after : int
        The position of the layer in ``head.readings``: with more of the constants that follow it.
    labels : list or None
    widths : tuple of int
        The number of columns of each input; none if they are not tables.
    by_step : bool
        Each row has several rows of features.
    cover : array or None
        For trees: rows of the background in each node.
    """

    node: NodeProto
    answer: str
    form: str
    n_logits: int
    width: int
    layer: LinearLayer | None
    after: int = 0
    labels: list[Any] | None = None
    widths: tuple[int, ...] = ()
    by_step: bool = False
    cover: FloatArray | None = None

    @property
    def features(self) -> str:
        """The value that goes into the last layer."""
        return self.node.input[0] if self.layer is None else self.layer.features

    @property
    def numbers(self) -> tuple[str, ...]:
        """The initializers that belong to the last layer."""
        return tuple(self.node.input[1:])

    def rows(self, features: NDArray[Any]) -> int:
        """Return the number of rows in an array of features."""
        return features.size // self.width

    def flat(self, features: NDArray[Any]) -> NDArray[Any]:
        """Return features as one row for each step of each row."""
        first = self.layer is not None and self.layer.channels_first
        return (np.moveaxis(features, 1, -1) if first else features).reshape(-1, self.width)

    def numbers_in(self, given: NDArray[Any], n: int) -> NDArray[Any]:
        """Return what the graph puts out, as one row for each row of features."""
        m = n_numbers(self.form, self.n_logits)
        first = self.layer is not None and self.layer.channels_first
        if first and given.ndim > 2 and given.shape[1] == m:
            given = np.moveaxis(given, 1, -1)
        return given.reshape(n, m)

    def fits(self, features: NDArray[Any], given: NDArray[Any], n: int) -> bool:
        """Return whether features and output have whole rows."""
        rows = self.rows(features)
        whole = features.ndim > 0 and features.size == rows * self.width and rows % n == 0
        in_order = features.ndim < 3 or len(features) == n
        in_order = in_order and len(features) % n == 0
        m = n_numbers(self.form, self.n_logits)
        return bool(whole and rows and in_order and given.size == rows * m)

    def kept(self) -> dict[str, Any]:
        """Return what :meth:`restored` needs."""
        return {
            "node": self.node.output[-1],
            "answer": self.answer,
            "form": self.form,
            "n_logits": self.n_logits,
            "width": self.width,
            "after": self.after,
            "features": self.features,
            "widths": list(self.widths),
            "by_step": self.by_step,
            "labels": self.labels,
            "cover": self.cover,
        }

    @classmethod
    def restored(cls, index: GraphIndex, kept: Mapping[str, Any]) -> Reading:
        """Find again what an earlier reading has found."""
        node = named_layer(index, kept["node"])
        layer, linear = None, linear_layer(index, node)
        if linear is not None:
            read = readings(index, linear)[int(kept["after"])]
            earlier = {one.features: one for one in reversed(on_earlier_values(index, read))}
            layer = earlier[str(kept["features"])]
        n_logits = int(kept["n_logits"])
        if kept["form"] not in forms_of(n_logits) or str(kept["answer"]) not in index.producer:
            raise ValueError("what was kept of an ONNX graph does not fit to it.")
        return cls(
            node,
            str(kept["answer"]),
            str(kept["form"]),
            n_logits,
            int(kept["width"]),
            layer,
            int(kept["after"]),
            kept["labels"],
            tuple(int(width) for width in kept["widths"]),
            bool(kept["by_step"]),
            kept["cover"],
        )


# From the graph and a few rows to what the graph makes of its logits.


def found_reading(
    index: GraphIndex, inputs: GraphInputs, background: Any, layer: str | None
) -> Reading:
    """Find the last layer, and what the first output that fits is of its logits.

    Raises
    ------
    UnsupportedModelError
        With the reason for the first output, if none fits.
    """
    few = take_rows(background, slice(0, min(_FEW, n_rows(background))))
    arrays = inputs.arrays(few)
    tables = all(array.ndim <= 2 for array in arrays.values())
    widths = tuple(array.size // len(array) for array in arrays.values()) if tables else ()
    reasons: list[str] = []
    for answer, labels in _answers(index):
        nodes = last_layers(index, answer) if layer is None else [named_layer(index, layer)]
        if len(nodes) != 1:
            reasons.append(_no_layer(index, answer, nodes))
            continue
        found = _form_of(index, inputs, few, nodes[0], answer, reasons)
        if found is not None:
            known = [labels, labels_of(nodes[0]), *chosen_labels(index)]
            _check_rows_apart(index, inputs, found, few)
            n_classes = max(2, found.n_logits)
            fitting = (one for one in known if one is not None and len(one) == n_classes)
            named = replace(found, labels=next(fitting, None), widths=widths)
            return _on_columns(index, inputs, named)
    raise UnsupportedModelError(
        reasons[0] if reasons else "The graph puts out no numbers. Pass a classifier."
    )


def _answers(index: GraphIndex) -> list[tuple[str, list[Any] | None]]:
    """Return the values that are put out as numbers, with the labels of their columns."""
    found: list[tuple[str, list[Any] | None]] = []
    for given in index.model.graph.output:
        value, labels = given.name, None
        node = index.producer.get(value)
        while node is not None and node.op_type in ("ZipMap", "Identity"):
            labels = labels_of(node) if node.op_type == "ZipMap" else labels
            value = node.input[0]
            node = index.producer.get(value)
        tensor = given.type.WhichOneof("value") in ("tensor_type", None)
        if tensor and given.type.tensor_type.elem_type in _NOT_NUMBERS:
            continue
        if node is not None and (tensor or labels is not None):
            found.append((value, labels))
    return found


def _no_layer(index: GraphIndex, answer: str, nodes: Sequence[NodeProto]) -> str:
    if nodes:
        return (
            f"The output {answer!r} of the graph depends on {len(nodes)} layers that are last on "
            f"their way: {listed([node.output[-1] for node in nodes])}. Name one with layer=, if "
            "the output is its softmax or sigmoid."
        )
    branches = any(node.op_type in ("If", "Loop", "Scan") for node in index.model.graph.node)
    inside = (
        " It has branches or loops: a last layer inside one is not read. Export it without them."
        if branches
        else " Pass the last layer as arrays, shafer.LinearHead(coef, intercept), with its "
        "features as X."
    )
    return (
        f"The output {answer!r} of the graph comes from no Gemm, MatMul, 1×1 Conv, "
        f"LinearClassifier or TreeEnsembleClassifier with constant coefficients.{inside}"
    )


def _form_of(
    index: GraphIndex,
    inputs: GraphInputs,
    few: Any,
    node: NodeProto,
    answer: str,
    reasons: list[str],
) -> Reading | None:
    """Return what an output is of the logits of a layer; None, and a reason, if it is none."""
    values = [node.input[0], answer]
    blocks = list(GraphRun(index.model, inputs, values)(few))
    _, _, n_run, (features, given) = blocks[0]
    if given.dtype.kind != "f":
        reasons.append(f"The output {answer!r} of the graph is not of floating numbers.")
        return None
    trials = _trials(index, node, features)
    for found, logits in trials:
        for form in (*forms_of(found.n_logits), *OTHER):
            tried = replace(found, answer=answer, form=form)
            if not tried.fits(features, given, n_run):
                continue
            flat = tried.flat(features)
            numbers = tried.numbers_in(given, len(flat))
            z, size = logits(flat)
            holds = agrees(form, z, numbers, size, precision_of(features, given))
            if holds.all() and form in OTHER:
                reasons.append(_separate(answer, tried.n_logits))
                return None
            if holds.all():
                return replace(tried, by_step=len(flat) > n_run)
    reasons.append(_other(index, node, answer, given))
    return None


def _check_rows_apart(index: GraphIndex, inputs: GraphInputs, found: Reading, few: Any) -> None:
    """Refuse a graph whose features of a row are others if the row is alone."""
    run = GraphRun(index.model, inputs, [found.features])
    _, n, _, (together,) = next(run(few))
    _, _, _, (alone,) = next(run(take_rows(few, [0])))
    among, one = found.flat(together), found.flat(alone)
    steps = len(among) // len(together) if found.by_step else 1
    gap = np.abs(among[:steps].astype(np.float64) - one[:steps].astype(np.float64))
    if n > 1 and np.max(gap, initial=0.0) > _APART * np.abs(among).max(initial=0.0):
        raise UnsupportedModelError(
            "The features of a row in this graph depend on the rows beside it, as in a network "
            "that carries a state from row to row. Pass batch_size=1, if each row stands alone."
        )


def _trials(
    index: GraphIndex, node: NodeProto, features: NDArray[Any]
) -> list[tuple[Reading, Logits]]:
    """Return what may be the logits, each with its function, the last possible first."""
    linear = linear_layer(index, node)
    if linear is None:
        width = features.shape[-1]
        tables = tree_tables(node)
        n_logits = 1 + max(table.output for table in tables)
        found = Reading(node, "", "", n_logits, width, None)
        return [(found, tree_logits(index, node, width, n_logits))]
    trials: list[tuple[Reading, Logits]] = []
    for after, layer in enumerate(readings(index, linear)):
        n_logits, width = layer.coef.shape
        found = Reading(node, "", "", n_logits, width, layer, after)
        trials.append((found, partial(linear_logits, layer)))
    return trials[::-1]


def linear_logits(layer: LinearLayer, features: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the logits, and the size of what was added up."""
    wide = features.astype(np.float64)
    largest = float(np.sqrt((layer.coef**2).sum(axis=1)).max(initial=0.0))
    size = np.sqrt((wide**2).sum(axis=1)) * largest + np.abs(layer.intercept).max(initial=0.0)
    return wide @ layer.coef.T + layer.intercept, size


def tree_logits(index: GraphIndex, node: NodeProto, width: int, n_logits: int) -> Logits:
    """Return the function from features to the sums of leaves."""
    session = raw_scores(index, node, width)

    def logits(features: FloatArray) -> tuple[FloatArray, FloatArray]:
        found = scores(session, n_logits, features)
        return found, 1.0 + np.abs(found).max(axis=1)

    return logits


def _separate(answer: str, n_logits: int) -> str:
    if n_logits == 1:
        return f"The output {answer!r} of the graph could not be read as a classifier."
    return (
        f"The output {answer!r} of the graph is a sigmoid of each of {n_logits} numbers. These are "
        "separate labels, not one set of classes. Explain each label by itself."
    )


def _other(index: GraphIndex, node: NodeProto, answer: str, given: NDArray[Any]) -> str:
    """Return why an output is neither a softmax nor a sigmoid of the last layer."""
    if node.op_type in TREES:
        return (
            f"The output {answer!r} of the graph is not a softmax or sigmoid of the sum of its "
            "trees; forests average votes. Use boosted trees."
        )
    behind = index.between(node.output[-1], answer)
    operators = f"through {listed(behind, written=str)}" if behind else "as it is"
    return (
        f"The output {answer!r} of the graph, of shape {given.shape}, comes from its last layer "
        f"{node.output[-1]!r} {operators}, which is not its softmax or sigmoid. Name the last "
        "layer with layer=, or pass it as arrays, shafer.LinearHead(coef, intercept)."
    )


# Where each feature is made from one column of the inputs, components are columns.


def tracer_of(index: GraphIndex, inputs: GraphInputs, found: Reading) -> ColumnTracer:
    """Return what finds the column of the data behind each feature."""
    names = [spec.name for spec in inputs.specs]
    return ColumnTracer(index, dict(zip(names, found.widths, strict=bool(found.widths))))


def _on_columns(index: GraphIndex, inputs: GraphInputs, found: Reading) -> Reading:
    """Write a linear layer on the earliest value whose features are columns, if there is one."""
    if found.layer is None or found.by_step or not found.widths:
        return found
    tracer = tracer_of(index, inputs, found)
    for layer in reversed(on_earlier_values(index, found.layer)):
        columns = tracer.columns(layer.features)
        if columns is not None and len(columns) == layer.coef.shape[1]:
            return replace(found, layer=layer, width=layer.coef.shape[1])
    return found
