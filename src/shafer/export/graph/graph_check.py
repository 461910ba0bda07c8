"""Compare a finished graph with the explainer it was made from."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto
from scipy import sparse

from shafer._errors import UnsupportedModelError
from shafer._text import shortened
from shafer._validation import frame_of, to_numpy
from shafer.evidence import Evidence
from shafer.models import Explainer
from shafer.models.inputs.frame_order import in_order
from shafer.models.inputs.row_access import n_rows, take_rows

_MOST_ROWS = 16
_TOLERANCE = {"float64": 1e-9, "float32": 1e-4}
_LARGEST_CHECKED = 2**31 - 2**20
"""Bytes; a larger model is checked by ONNX only when it is a file."""


def check_graph(
    model: ModelProto, explainer: Explainer, outputs: Sequence[str], dtype: str
) -> None:
    """Check the form of a graph, and its numbers on rows of the background.

    Raises
    ------
    UnsupportedModelError
        If the graph gives other numbers than the explainer.
    """
    if model.ByteSize() < _LARGEST_CHECKED:
        _check_form(model)
    background = explainer._background
    if background is None or importlib.util.find_spec("onnxruntime") is None:
        return
    rows = take_rows(background, list(range(min(_MOST_ROWS, n_rows(background)))))
    feed = graph_inputs(model, in_order(rows, explainer._weighed.columns))
    found = _ran(model, feed)
    wanted = explainer.bet(_doubled(rows, rounded=dtype == "float32"))
    for name, values in zip(outputs, found, strict=True):
        _compare(name, values, wanted, dtype)


def _check_form(model: ModelProto) -> None:
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        reason = shortened(str(error).strip().split("\n")[0], 200)
        raise UnsupportedModelError(
            "The transformers of this model do not give a valid graph, most often because skl2onnx "
            "has written one of them in single precision. Encode the rows in front of the graph, "
            f"and export an Explainer of the classifier alone. The reason: {reason}"
        ) from error


def _ran(model: ModelProto, feed: dict[str, NDArray[Any]]) -> list[NDArray[Any]]:
    import onnxruntime

    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        found: list[NDArray[Any]] = session.run(None, feed)
    except Exception as error:  # its errors have no common type
        raise UnsupportedModelError(
            "ONNX Runtime cannot run this graph, most often because skl2onnx has written a "
            "transformer in single precision. Encode the rows in front of the graph, and export "
            f"an Explainer of the classifier alone. Its message: {error}"
        ) from error
    return found


def _doubled(rows: Any, *, rounded: bool) -> Any:
    """Return rows in double precision, as the graph computes; on request rounded to single."""
    frame = frame_of(rows)
    if frame is not None:
        narrow = [name for name in frame.columns if frame[name].dtype == nw.Float32]
        numbers = [name for name in frame.columns if frame[name].dtype.is_numeric()]
        columns = [nw.col(name) for name in (numbers if rounded else narrow)]
        cast = [column.cast(nw.Float32) if rounded else column for column in columns]
        return frame.with_columns([column.cast(nw.Float64) for column in cast]).to_native()
    dense = rows.toarray() if sparse.issparse(rows) else np.asarray(rows)
    if dense.dtype.kind not in "biuf":
        return dense
    return (dense.astype(np.float32) if rounded else dense).astype(np.float64)


def _compare(name: str, found: NDArray[Any], wanted: Evidence, dtype: str) -> None:
    expected = to_numpy(getattr(wanted, name)).astype(np.float64)
    scale = np.maximum(1.0, np.abs(expected))
    gap = float(np.max(np.abs(found - expected) / scale, initial=0.0))
    if not gap <= _TOLERANCE[dtype]:
        raise UnsupportedModelError(
            f"The graph does not give the numbers of this explainer: {name} differs by {gap:.2g} "
            "on the background. Most often skl2onnx writes a transformer in single precision, or "
            "reads categories that are numbers in another way. Encode the rows in front of the "
            "graph, and export an Explainer of the classifier alone."
        )


def graph_inputs(model: ModelProto, X: Any) -> dict[str, NDArray[Any]]:
    """Return the rows of an array or a data frame as the inputs of a graph."""
    given = model.graph.input
    if sparse.issparse(X):
        X = X.toarray()
    if len(given) == 1 and given[0].name == "X":
        return {"X": _typed(to_numpy(X) if frame_of(X) is None else X, given[0])}
    frame = frame_of(X)
    if frame is None:
        values = np.asarray(X, dtype=object)
        return {info.name: _typed(values[:, [j]], info) for j, info in enumerate(given)}
    columns = [frame[name].to_numpy()[:, None] for name in frame.columns]
    return {info.name: _typed(column, info) for column, info in zip(columns, given, strict=True)}


def _typed(values: Any, info: onnx.ValueInfoProto) -> NDArray[Any]:
    element = info.type.tensor_type.elem_type
    if element == TensorProto.STRING:
        array = np.asarray(values, dtype=object)
        missing = np.vectorize(lambda x: x is None or x != x, otypes=[bool])(array)
        return np.where(missing, "", array.astype(str)).astype(object)
    return np.asarray(values, dtype=np.float64 if element == TensorProto.DOUBLE else np.float32)
