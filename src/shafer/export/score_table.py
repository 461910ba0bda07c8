"""The evidence of rows as a pandas table, and the names and types of its columns for MLflow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from mlflow.models import ModelSignature
from mlflow.types import ColSpec, DataType, Schema, TensorSpec

from shafer._validation import frame_of, to_numpy
from shafer.evidence import Evidence, MassEvidence, with_weights
from shafer.evidence.io.frame_table import evidence_columns
from shafer.evidence.reason_table import reason_column_names, reason_columns
from shafer.models import Explainer
from shafer.models.inputs.row_access import n_rows, take_rows
from shafer.models.inputs.texts.text_inputs import first_vectorizer
from shafer.models.uncertainty.moderation import Calibration

_TYPES = {"b": DataType.boolean, "i": DataType.long, "u": DataType.long, "f": DataType.double}
_TEXT = "text"
"""The column of a model that takes texts."""


def score_table(explainer: Explainer, rows: Any, reasons: int) -> pd.DataFrame:
    """Return the evidence and the reasons of rows, with their index."""
    frame = isinstance(rows, pd.DataFrame)
    given = rows
    if _takes_texts(explainer) and frame:
        given = rows.iloc[:, 0].tolist()
    evidence = explainer(given)
    columns = evidence_columns(evidence)
    if reasons:
        columns |= reason_columns(with_weights(evidence), reasons)
    return pd.DataFrame(columns, index=rows.index if frame else None)


def _takes_texts(explainer: Explainer) -> bool:
    return first_vectorizer(explainer._weighed.model.encoders) is not None


def model_signature(explainer: Explainer, reasons: int) -> ModelSignature:
    """Return the columns that go in and out, and their types."""
    kinds = {True: DataType.double, False: DataType.string}
    outputs = [ColSpec(kinds[number], name) for name, number in _numbers(explainer, reasons).items()]
    return ModelSignature(inputs=_inputs(explainer), outputs=Schema(outputs))


def _numbers(explainer: Explainer, reasons: int) -> dict[str, bool]:
    """Return the columns of the table, and whether each one holds numbers."""
    weights = np.zeros((1, 1, len(explainer.classes)))
    nothing: MassEvidence = Evidence.from_weights(weights, classes=explainer.classes)
    if _discounts(explainer.calibration):
        nothing = with_weights(nothing).discounted(np.ones(1))
    numbers = {name: not isinstance(x, list) for name, x in evidence_columns(nothing).items()}
    if reasons:
        bars = explainer._errors is not None
        numbers |= reason_column_names(reasons, errors=bars, codes=False)
    return numbers


def _discounts(calibration: Any) -> bool:
    """Say whether the evidence is discounted, by the explainer or by the model inside."""
    while isinstance(calibration, Calibration):
        if calibration.moderation is not None and calibration.moderation.familiarity is not None:
            return True
        calibration = calibration.inner
    return False


def input_example(explainer: Explainer) -> Any:
    """Return two rows of the background, a pandas frame or an array; None if there are none."""
    if explainer._background is None:
        return None
    rows = take_rows(explainer._background, list(range(min(2, n_rows(explainer._background)))))
    if _takes_texts(explainer):
        return pd.DataFrame({_TEXT: [str(text) for text in rows]})
    frame = frame_of(rows)
    if frame is None:
        return np.asarray(to_numpy(rows.toarray() if hasattr(rows, "toarray") else rows))
    return frame.select(list(explainer._weighed.columns or frame.columns)).to_pandas()


def _inputs(explainer: Explainer) -> Schema:
    if _takes_texts(explainer):
        return Schema([ColSpec(DataType.string, _TEXT)])
    columns, rows = explainer._weighed.columns, input_example(explainer)
    if columns is None:
        width = explainer._weighed.means.shape[0] if rows is None else rows.shape[1]
        return Schema([TensorSpec(np.dtype(np.float64), (-1, int(width)))])
    if rows is None:
        return Schema([ColSpec(DataType.double, name) for name in columns])
    kinds = [getattr(kind, "kind", "O") for kind in rows.dtypes]
    types = [_TYPES.get(kind, DataType.string) for kind in kinds]
    return Schema([ColSpec(kind, name) for kind, name in zip(types, columns, strict=True)])
