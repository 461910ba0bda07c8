"""The version of ONNX that graphs are written in."""

from __future__ import annotations

OPSET = 19
"""Standard operators; ONNX Runtime has them since 1.15."""

OPSET_ML = 2
"""Operators of ``ai.onnx.ml``, for categories that are texts."""

IR_VERSION = 9
"""The file format."""
