"""The evidence of an explainer as a graph: inputs, terms, weights, closed forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

from shafer._typing import FloatArray
from shafer._validation import to_numpy
from shafer.evidence import AdditivePool, LinearPool
from shafer.export.graph.encoded_rows import EncodedRows
from shafer.export.graph.graph_forms import CLASS_FORMS, ROW_FORMS, GraphForms
from shafer.export.graph.graph_values import GraphNodes, Value, tensor_info
from shafer.export.graph.graph_version import IR_VERSION, OPSET, OPSET_ML
from shafer.export.graph.terms.family_terms import terms_of
from shafer.export.graph.terms.model_terms import ModelTerms
from shafer.export.graph.weight_graphs import (
    grouped_linear_weights,
    grouped_terms,
    linear_weights,
    pooled_linear,
    pooled_weights,
)
from shafer.models.readers.adapted_model import AdditiveModel
from shafer.models.weighed_model import WeighedModel

OUTPUTS = (*CLASS_FORMS, *ROW_FORMS, "weights")
"""What a graph can return."""


@final
@dataclass(frozen=True, eq=False)
class ExplainerGraph:
    """The graph of a model with its weights.

    Attributes
    ----------
    graph : GraphNodes
    rows : EncodedRows
    weighed : WeighedModel
    factor : float
        The factor on all weights.
    """

    graph: GraphNodes
    rows: EncodedRows
    weighed: WeighedModel
    factor: float

    @classmethod
    def of(cls, weighed: WeighedModel, factor: float, element: int) -> ExplainerGraph:
        """Start a graph; ``element`` is the type of its numbers."""
        graph = GraphNodes()
        return cls(graph, EncodedRows.of(graph, weighed, element), weighed, factor)

    @property
    def _n_classes(self) -> int:
        return len(self.weighed.pool.classes)

    @cached_property
    def _terms(self) -> ModelTerms:
        return terms_of(self.weighed.model, self.rows)

    @cached_property
    def _weights(self) -> Value:
        """The weights of all components but an own base rate, (n, G, K)."""
        pool, model, groups = self.weighed.pool, self.weighed.model, self.weighed.groups
        value = self._terms.value
        if isinstance(pool, LinearPool):
            return linear_weights(value, *self._head(pool))
        assert isinstance(pool, AdditivePool)  # those with feature maps have no terms
        if not isinstance(model, AdditiveModel):
            return self._grouped_head(pool)
        if not self._terms.centred:
            value = value - value.mean(2)
        if groups is not None:
            value = grouped_terms(value, list(groups.values()))
        shift = _wide(pool.offset) - _wide(pool.means)
        return (value + shift) * self.factor

    def _head(self, pool: LinearPool) -> tuple[FloatArray, FloatArray, FloatArray]:
        beta, offset = _wide(pool.beta) * self.factor, _wide(pool.offset) * self.factor
        return _wide(pool.means), beta, offset

    def _grouped_head(self, pool: AdditivePool) -> Value:
        weighed = self.weighed
        plain = weighed.model.identify(weighed.means, None, None)
        assert isinstance(plain, LinearPool)
        assert weighed.groups is not None
        means, beta, _ = self._head(plain)
        offset = _wide(pool.offset) * self.factor
        groups = list(weighed.groups.values())
        return grouped_linear_weights(self._terms.value, means, beta, offset, groups)

    @cached_property
    def _base_rate(self) -> FloatArray | None:
        found = self.weighed.pool.base_rate
        return None if found is None else _wide(found) * self.factor

    def _pooled(self, *, dense: bool) -> Value:
        pool = self.weighed.pool
        if isinstance(pool, LinearPool) and not dense:
            pooled = pooled_linear(self._terms.value, *self._head(pool))
        else:
            pooled = pooled_weights(self._weights, self._n_classes)
        if self._base_rate is None:
            return pooled
        sides = [np.maximum(self._base_rate, 0.0), np.maximum(-self._base_rate, 0.0)]
        return pooled + np.concatenate(sides)

    def _all_weights(self) -> Value:
        if self._base_rate is None:
            return self._weights
        # The same for all rows: a weight of the first component, without its value.
        first = self._weights.gather(np.asarray([0], dtype=np.int64))
        last = (first - first) + self._base_rate
        return self._weights.op("Concat", last, axis=1)

    def model(self, outputs: Sequence[str], element: int, **properties: str) -> ModelProto:
        """Return the finished model.

        Parameters
        ----------
        outputs : sequence of names in ``OUTPUTS``
        element : type of the numbers that go out
        **properties : what is written into the file besides
        """
        forms = GraphForms(self._pooled(dense="weights" in outputs), self._n_classes)
        found = [
            (name, self._all_weights() if name == "weights" else getattr(forms, name))
            for name in outputs
        ]
        kind = "Cast" if element != TensorProto.DOUBLE else "Identity"
        options: dict[str, Any] = {"to": element} if kind == "Cast" else {}
        ends = [helper.make_node(kind, [value.name], [name], **options) for name, value in found]
        return self._assembled(
            ends, [self._described(name, element) for name in outputs], properties
        )

    def _described(self, name: str, element: int) -> ValueInfoProto:
        n_components = len(self.weighed.pool.component_names)
        shape: list[int | str] = ["N"]
        if name == "weights":
            shape.append(n_components)
        if name not in ROW_FORMS:
            shape.append(self._n_classes)
        return tensor_info(name, element, shape)

    def _assembled(
        self, ends: list[NodeProto], outputs: list[ValueInfoProto], properties: dict[str, str]
    ) -> ModelProto:
        nodes = [*self.graph.nodes, *ends]
        constants = list(self.graph.constants.values())
        whole = helper.make_graph(nodes, "evidence", self.rows.inputs, outputs, constants)
        versions = [helper.make_opsetid("", OPSET)]
        if any(node.domain == "ai.onnx.ml" for node in nodes):
            versions.append(helper.make_opsetid("ai.onnx.ml", OPSET_ML))
        model = helper.make_model(whole, opset_imports=versions, producer_name="shafer")
        model.ir_version = IR_VERSION
        helper.set_model_props(model, properties)
        return model


def _wide(given: Any) -> FloatArray:
    """Return an array of any library in double precision."""
    return np.asarray(to_numpy(given), dtype=np.float64)
