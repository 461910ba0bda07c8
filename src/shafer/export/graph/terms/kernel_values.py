"""Support vector machines: the features are kernels with the support vectors, or the inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from shafer._typing import FloatArray
from shafer.export.graph.encoded_rows import EncodedRows
from shafer.export.graph.graph_values import Value
from shafer.export.graph.terms.model_terms import ModelTerms
from shafer.models.readers.adapted_model import AdaptedModel


def terms(model: AdaptedModel, rows: EncodedRows) -> ModelTerms:
    """Return the kernel between each row and each support vector."""
    machine, values = model.core, rows.numbers()
    return ModelTerms(values if model.by_column else _kernel(machine, values))


def _kernel(machine: Any, values: Value) -> Value:
    if machine.kernel == "precomputed":
        return values.gather(np.asarray(machine.support_, dtype=np.int64))
    vectors = machine.support_vectors_
    vectors = vectors.toarray() if sparse.issparse(vectors) else np.asarray(vectors)
    columns: FloatArray = np.asarray(vectors.T, dtype=np.float64)
    gamma = float(machine._gamma)  # what gamma="scale" came to on the training data
    # Factors belong into the matrix: ONNX Runtime rounds a factor on a product to single precision.
    if machine.kernel == "linear":
        return values @ columns
    if machine.kernel == "rbf":
        squares: Value = (values * values).sum() + np.sum(columns**2, axis=0)
        return ((squares - values @ (2.0 * columns)).at_least(0.0) * -gamma).exp()
    inside = values @ (gamma * columns) + float(machine.coef0)
    if machine.kernel == "sigmoid":
        return inside.op("Tanh")
    return inside.op("Pow", float(machine.degree))  # "poly"; functions are refused by the reader
