"""The evidence of rows as a pandas table, and the names and types of its columns for MLflow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from mlflow.models import ModelSignature
from mlflow.types import ColSpec, DataType, Schema, TensorSpec

from shafer._validation import frame_of, to_numpy
from shafer.export.text_columns import text_columns
from shafer.models import Explainer
from shafer.models.inputs.row_access import n_rows, take_rows
from shafer.models.inputs.texts.text_inputs import first_vectorizer
from shafer.models.score_columns import score_column_names, score_columns
from shafer.models.set_decisions import SetDecisions

_TYPES = {"b": DataType.boolean, "i": DataType.long, "u": DataType.long, "f": DataType.double}
_TEXT = "text"
"""The column of a model that takes texts."""


def score_table(explainer: Explainer, rows: Any, reasons: int) -> pd.DataFrame:
    """Return the evidence and the reasons of rows, with their index.

    A text is empty where a row has fewer reasons.
    """
    frame = isinstance(rows, pd.DataFrame)
    given = rows
    if _takes_texts(explainer) and frame:
        given = rows[_TEXT if _TEXT in rows else rows.columns[0]].tolist()
    decisions = pyfunc_decisions(explainer)
    groups = None if decisions.column is None else to_numpy(rows[decisions.column])
    columns = score_columns(explainer, given, reasons, decisions, groups)
    # MLflow turns a missing text into the text "nan" on Spark, so there are none.
    plain = {name: _texts(x) if isinstance(x, list) else x for name, x in columns.items()}
    return pd.DataFrame(plain, index=rows.index if frame else None)


def pyfunc_decisions(explainer: Explainer) -> SetDecisions:
    """Return what ``decision`` holds. MLflow passes on the columns of the signature only."""
    return SetDecisions.of(explainer, explainer._weighed.columns or ())


def _texts(values: list[str | None]) -> list[str]:
    return ["" if value is None else value for value in values]


def _takes_texts(explainer: Explainer) -> bool:
    return first_vectorizer(explainer._weighed.model.encoders) is not None


def model_signature(explainer: Explainer, reasons: int) -> ModelSignature:
    """Return the columns that go in and out, and their types."""
    kinds = {True: DataType.double, False: DataType.string}
    outputs: list[ColSpec | TensorSpec] = [
        ColSpec(kinds[number], name)
        for name, number in score_column_names(explainer, reasons).items()
    ]
    return ModelSignature(inputs=_inputs(explainer), outputs=Schema(outputs))


def input_example(explainer: Explainer) -> Any:
    """Return two rows of the background, a pandas frame or an array; None if there are none."""
    if explainer._background is None:
        return None
    rows = take_rows(explainer._background, list(range(min(2, n_rows(explainer._background)))))
    if _takes_texts(explainer):
        return _named(pd.DataFrame({_TEXT: [str(text) for text in rows]}))
    frame = frame_of(rows)
    if frame is None:
        return np.asarray(to_numpy(rows.toarray() if hasattr(rows, "toarray") else rows))
    table = frame.select(list(explainer._weighed.columns or frame.columns)).to_pandas()
    kinds = {name: object for name, kind in table.dtypes.items() if str(kind) == "category"}
    return _named(table.astype(kinds))  # MLflow has no type for categories


def _named(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose names are Python objects: MLflow compares them with numbers."""
    return table.set_axis(pd.Index(list(table.columns), dtype=object), axis=1)


def _inputs(explainer: Explainer) -> Schema:
    if _takes_texts(explainer):
        return Schema([ColSpec(DataType.string, _TEXT)])
    columns, rows = explainer._weighed.columns, input_example(explainer)
    if columns is None:
        width = explainer._weighed.means.shape[0] if rows is None else rows.shape[1]
        return Schema([TensorSpec(np.dtype(np.float64), (-1, int(width)))])
    if rows is None:
        texts = text_columns(explainer._weighed.model, columns, len(columns))
        kinds = ["O" if j in texts else "f" for j in range(len(columns))]
    else:
        kinds = [getattr(kind, "kind", "O") for kind in rows.dtypes]
    types = [_TYPES.get(kind, DataType.string) for kind in kinds]
    return Schema([ColSpec(kind, name) for kind, name in zip(types, columns, strict=True)])
