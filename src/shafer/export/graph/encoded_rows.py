"""The inputs of a graph, and the rows behind the transformers of a pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, ValueInfoProto

from shafer._errors import UnsupportedModelError
from shafer._validation import numbered
from shafer.export.graph.graph_values import GraphNodes, Value, tensor_info
from shafer.export.graph.transformer_graph import transformer_graph
from shafer.export.text_columns import selects_by_name, text_columns
from shafer.models.inputs.encoded_columns import leaf_transformers
from shafer.models.inputs.texts.text_inputs import first_vectorizer
from shafer.models.weighed_model import WeighedModel

ROWS = "X"
"""The name of the input, where there is one."""


@final
@dataclass(frozen=True, eq=False)
class EncodedRows:
    """The rows of a graph, as the model behind the transformers takes them.

    There is one input for rows of numbers, or of texts. Rows with both have an input for each
    column.

    Attributes
    ----------
    graph : GraphNodes
    inputs : list of descriptions of the inputs
    names : tuple of names of the columns
    texts : frozenset of the positions of columns of texts
    encoders : tuple of fitted transformers
    """

    graph: GraphNodes
    inputs: list[ValueInfoProto]
    names: tuple[str, ...]
    texts: frozenset[int]
    encoders: tuple[Any, ...]

    @classmethod
    def of(cls, graph: GraphNodes, weighed: WeighedModel, element: int) -> EncodedRows:
        """Name the inputs of a model; ``element`` is the type of its numbers."""
        model = weighed.model
        if first_vectorizer(model.encoders) is not None:
            raise UnsupportedModelError(
                "This model takes texts. ONNX has no operator that splits a text into words as "
                "scikit-learn does. Vectorize the texts in front of the graph, and export an "
                "Explainer of the classifier alone."
            )
        n_columns = _n_columns(weighed)
        texts = text_columns(model, weighed.columns, n_columns)
        known = weighed.columns
        names = known if known is not None and len(known) == n_columns else None
        names = names or tuple(f"x{j}" for j in range(n_columns))
        if element == TensorProto.FLOAT:
            _check_narrow(model.encoders)
        kinds = [TensorProto.STRING if j in texts else element for j in range(n_columns)]
        if len(set(kinds)) == 1:
            inputs = [tensor_info(ROWS, kinds[0], ["N", n_columns])]
        else:
            names = tuple(numbered(list(names)))
            inputs = [tensor_info(n, k, ["N", 1]) for n, k in zip(names, kinds, strict=True)]
        return cls(graph, inputs, names, texts, model.encoders)

    @property
    def is_table(self) -> bool:
        """Whether all columns are one input."""
        return self.inputs[0].name == ROWS and len(self.inputs) == 1

    def numbers(self) -> Value:
        """Return the encoded rows, numbers in double precision (n, J)."""
        if not self.encoders:
            return self._whole()
        texts = frozenset(self.names[j] for j in self.texts)
        if not self.is_table:
            return transformer_graph(self.graph, self.encoders, self._columns(), texts, 1)
        if not selects_by_name(self.encoders[0]):
            known = frozenset([ROWS] if texts else [])
            given, width = {ROWS: self._whole()}, len(self.names)
            return transformer_graph(self.graph, self.encoders, given, known, width)
        n = len(self.names)
        parts = self.graph.ops("Split", [self._whole()], n, axis=1, num_outputs=n)
        given = dict(zip(self.names, parts, strict=True))
        return transformer_graph(self.graph, self.encoders, given, texts, 1)

    def columns(self, positions: NDArray[np.int64]) -> Value:
        """Return some columns of encoded rows, or of numbers that the model takes itself."""
        if self.encoders or not self.texts:
            return self.numbers().gather(positions)
        found = self._columns()
        chosen = [found[self.names[j]] for j in positions]
        return chosen[0] if len(chosen) == 1 else self.graph.op("Concat", *chosen, axis=1)

    def strings(self, position: int) -> Value:
        """Return a column of texts, (n, 1)."""
        if self.encoders:
            raise UnsupportedModelError(
                "This model has categories behind transformers, whose output in ONNX is numbers. "
                "Train it without the transformers."
            )
        if self.is_table:
            return self._whole().gather(np.asarray([position], dtype=np.int64))
        return self._columns()[self.names[position]]

    def _whole(self) -> Value:
        return self._wide(self.inputs[0])

    def _columns(self) -> Mapping[str, Value]:
        return {info.name: self._wide(info) for info in self.inputs}

    def _wide(self, info: ValueInfoProto) -> Value:
        """Return an input, numbers in double precision."""
        value = self.graph.value(info.name)
        narrow = info.type.tensor_type.elem_type == TensorProto.FLOAT
        return value.cast(TensorProto.DOUBLE) if narrow else value


def _check_narrow(encoders: tuple[Any, ...]) -> None:
    """Refuse categories that no number in single precision would be equal to."""
    for leaf in (leaf for encoder in encoders for leaf in leaf_transformers(encoder)):
        for category in (x for known in getattr(leaf, "categories_", ()) for x in known.tolist()):
            if isinstance(category, int | float) and _is_rounded(category):
                raise UnsupportedModelError(
                    f"The category {category!r} is not a number in single precision, so "
                    "dtype='float32' cannot find it. Use dtype='float64'."
                )


def _is_rounded(number: float) -> bool:
    with np.errstate(over="ignore"):
        return abs(float(np.float32(number)) - number) > 0.0  # not for NaN


def _n_columns(weighed: WeighedModel) -> int:
    model = weighed.model
    first = model.encoders[0] if model.encoders else model.core
    found = getattr(first, "n_features_in_", None)
    if found is None and weighed.columns is not None:
        found = len(weighed.columns)
    return int(weighed.means.shape[0] if found is None else found)
