"""``GaussianNB``: a component adds the log-density of its feature."""

from __future__ import annotations

import numpy as np

from shafer.export.graph.encoded_rows import EncodedRows
from shafer.export.graph.terms.model_terms import ModelTerms
from shafer.models.readers.adapted_model import AdaptedModel


def terms(model: AdaptedModel, rows: EncodedRows) -> ModelTerms:
    """Return the log-densities, (n, J, K)."""
    bayes = model.core
    mean, variance = (np.asarray(a, dtype=np.float64).T for a in (bayes.theta_, bayes.var_))
    distance = rows.numbers().with_axis(2) - mean
    squares = distance * distance / variance
    return ModelTerms((squares + np.log(2 * np.pi * variance)) * -0.5)
