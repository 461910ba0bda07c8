"""Evidence outside Python: an ONNX graph, and a model for MLflow.

``to_onnx`` writes an explainer as a graph of standard operators, ``pyfunc`` wraps it for MLflow.
``nodes`` are the operators of a graph; ``transformers``, ``terms`` and ``forms`` write its parts
with them. May import ``models`` and everything below. ONNX and MLflow are loaded when they are
needed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from shafer.export.onnx import to_onnx

if TYPE_CHECKING:
    from shafer.export.mlflow import EvidencePythonModel, pyfunc

__all__ = ["EvidencePythonModel", "pyfunc", "to_onnx"]

# Loaded on first use: MLflow is needed to define a model for it.
_HOME = dict.fromkeys(("EvidencePythonModel", "pyfunc"), "shafer.export.mlflow")


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'shafer.export' has no attribute {name!r}")
