"""Linear models on their inputs: the features are the encoded rows."""

from __future__ import annotations

from shafer.export.graph.encoded_rows import EncodedRows
from shafer.export.graph.terms.model_terms import ModelTerms
from shafer.models.readers.adapted_model import AdaptedModel


def terms(model: AdaptedModel, rows: EncodedRows) -> ModelTerms:  # noqa: ARG001 - as in each family
    """Return the encoded rows."""
    return ModelTerms(rows.numbers())
