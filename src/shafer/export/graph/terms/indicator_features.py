"""``BernoulliNB``: a feature is 1 above the model's threshold."""

from __future__ import annotations

from onnx import TensorProto

from shafer.export.graph.encoded_rows import EncodedRows
from shafer.export.graph.terms.model_terms import ModelTerms
from shafer.models.readers.adapted_model import AdaptedModel


def terms(model: AdaptedModel, rows: EncodedRows) -> ModelTerms:
    """Compare the inputs with the threshold."""
    values, threshold = rows.numbers(), model.core.binarize
    if threshold is None:
        return ModelTerms(values)
    above = values.op("Greater", float(threshold)).cast(TensorProto.DOUBLE)
    # A comparison with NaN is false; what is added keeps it NaN.
    return ModelTerms(above + (values - values))
