"""``MLPClassifier``: the features are the units of the last hidden layer."""

from __future__ import annotations

import numpy as np

from shafer.export.graph.encoded_rows import EncodedRows
from shafer.export.graph.terms.model_terms import ModelTerms
from shafer.models.readers.adapted_model import AdaptedModel

_OPERATORS = {"identity": "Identity", "logistic": "Sigmoid", "relu": "Relu", "tanh": "Tanh"}


def terms(model: AdaptedModel, rows: EncodedRows) -> ModelTerms:
    """Pass the inputs through the hidden layers."""
    network, values = model.core, rows.numbers()
    for weights, bias in zip(network.coefs_[:-1], network.intercepts_[:-1], strict=True):
        summed = values @ np.asarray(weights, dtype=np.float64) + np.asarray(bias, dtype=np.float64)
        values = summed.op(_OPERATORS[network.activation])
    return ModelTerms(values)
