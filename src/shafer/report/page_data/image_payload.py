"""The data of images: small pictures, and the evidence of their locations."""

from __future__ import annotations

import base64
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer._validation import to_numpy
from shafer.evidence import Evidence, GridLayout, RegionLayout
from shafer.models.inputs.row_access import take_rows
from shafer.plots.drawing.evidence_map.location_disagreement import disagreement_with_others
from shafer.plots.drawing.evidence_map.shown_image import ShownImage, read_image
from shafer.report.page_data.json_text import few_digits
from shafer.report.study import Study

STORED = 12
"""Classes whose maps are stored for a row, the most probable."""
_LONGEST = 96  # pixels of a picture
_SMALL = 48 * 48  # up to this size a picture is stored without loss
_LEVELS = 32767


def images_payload(study: Study) -> dict[str, Any]:
    """Return where the components lie in the images; None if the rows are not images."""
    layout = study.undiscounted.layout
    if isinstance(layout, GridLayout):
        size, labels = [layout.height, layout.width], None
    elif isinstance(layout, RegionLayout):
        shared = layout.label_map.ndim == 2
        size = list(_small_labels(layout.label_map).shape[-2:])
        labels = _packed(_small_labels(layout.label_map), "<u2") if shared else None
    else:
        return {"images": None}
    named = layout.n_components
    return {"images": {"size": size, "cells": named, "labels": labels, "levels": _LEVELS}}


def image_entries(study: Study, rows: list[int]) -> dict[int, dict[str, Any]]:
    """Return the picture of each row and the weights of its locations; empty without images."""
    if images_payload(study)["images"] is None:
        return {row: {} for row in rows}
    return {row: {"image": _entry(study.undiscounted[row], study.X, row)} for row in rows}


def _entry(one: Evidence, X: Any, row: int) -> dict[str, Any]:
    layout = one.layout
    assert layout is not None
    probability = to_numpy(one.probability)[0]
    kept = np.sort(np.argsort(-probability, kind="stable")[:STORED])
    every = to_numpy(one.weights)[0].astype(np.float64)
    weights = every[: layout.n_components, kept]
    most = float(np.abs(weights).max()) or 1.0
    ignorance = to_numpy(one.components.ignorance)[0][: layout.n_components]
    disagreement = disagreement_with_others(every)[: layout.n_components]
    entry = {
        **_picture(X, row),
        "k": kept.tolist(),
        "most": few_digits(most, 9),
        "w": _packed(np.round(weights.T / most * _LEVELS), "<i2"),
        "ignorance": _packed(np.round(ignorance * _LEVELS), "<i2"),
        "disagreement": _packed(np.round(disagreement * _LEVELS), "<i2"),
    }
    if isinstance(layout, RegionLayout) and layout.label_map.ndim == 3:
        entry["labels"] = _packed(_small_labels(layout.label_map)[0], "<u2")
    return entry


def _picture(X: Any, row: int) -> dict[str, Any]:
    """Return the picture of a row as a data address; none if the input is not a picture."""
    one = take_rows(X, [row])
    try:
        pixels = to_numpy(one[0]) if len(one) == 1 else to_numpy(one)
        image = read_image(pixels, channels="first" if pixels.ndim == 3 else None)
    except (ValueError, TypeError, IndexError):
        return {"src": None, "note": "The input of this row is not a picture."}
    return {"src": _data_address(image), "note": image.note}


def _data_address(image: ShownImage) -> str:
    """Return a small picture as PNG, or as JPEG if it is larger."""
    from PIL import Image

    pixels = _shrunk(image.colours)
    picture = Image.fromarray(np.round(255.0 * pixels).astype(np.uint8))
    if np.ptp(pixels, axis=2).max() < 1e-9:
        picture = picture.convert("L")
    lossless = pixels.shape[0] * pixels.shape[1] <= _SMALL
    file, kind = BytesIO(), "png" if lossless else "jpeg"
    picture.save(file, kind, **({"optimize": True} if lossless else {"quality": 85}))
    return f"data:image/{kind};base64,{base64.b64encode(file.getvalue()).decode()}"


def _shrunk(colours: FloatArray) -> FloatArray:
    """Average blocks of pixels until the longer side is short enough."""
    times = -(-max(colours.shape[:2]) // _LONGEST)
    if times == 1:
        return colours
    height, width = (max(1, side // times) for side in colours.shape[:2])
    cut = colours[: height * times, : width * times]
    return np.asarray(cut.reshape(height, -1, width, cut.shape[1] // width, 3).mean(axis=(1, 3)))


def _small_labels(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Keep every so many pixels of a segmentation."""
    times = -(-max(labels.shape[-2:]) // _LONGEST)
    return labels[..., times // 2 :: times, times // 2 :: times]


def _packed(values: NDArray[Any], kind: str) -> str:
    """Return whole numbers as base64, little-endian."""
    return base64.b64encode(np.ascontiguousarray(values).astype(kind).tobytes()).decode()
