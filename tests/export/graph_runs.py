"""Run graphs with ONNX Runtime, and compare them with the library."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnx import ModelProto

import shafer

EVERYTHING = (
    "probability",
    "belief",
    "plausibility",
    "ignorance",
    "conflict",
    "weights",
    "weights_for",
    "weights_against",
    "weight_of_conflict",
    "pignistic",
    "logits",
)
TOLERANCE = {"float64": 1e-12, "float32": 1e-5}


def session(model: ModelProto) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def feed(model: ModelProto, X: Any) -> dict[str, NDArray[Any]]:
    """Rows as a user would write them: an array, or one column for each input."""
    kinds = {1: np.float32, 11: np.float64, 8: object}
    types = {info.name: kinds[info.type.tensor_type.elem_type] for info in model.graph.input}
    if list(types) == ["X"]:
        return {"X": np.asarray(X, dtype=types["X"])}
    return {name: X[[name]].to_numpy().astype(kind) for name, kind in types.items()}


def check(
    explainer: shafer.Explainer,
    X: Any,
    outputs: tuple[str, ...] = EVERYTHING,
    dtype: str = "float64",
) -> ModelProto:
    """Compare all outputs with the library; numbers above 1 relative to their size."""
    model = shafer.export.to_onnx(explainer, outputs, dtype=dtype, check=False)
    given = feed(model, X)
    found = session(model).run(None, given)
    rows = given["X"] if dtype == "float32" and list(given) == ["X"] else X
    evidence = explainer(rows)
    for name, values in zip(outputs, found, strict=True):
        expected = np.asarray(getattr(evidence, name))
        assert values.dtype == dtype
        assert values.shape == expected.shape, name
        assert np.isfinite(values).all(), name
        gap = np.abs(values - expected) / np.maximum(1.0, np.abs(expected))
        assert gap.max() <= TOLERANCE[dtype], (name, gap.max())
    return model
