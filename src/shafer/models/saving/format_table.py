"""The formats of stored objects, in the order in which they are tried."""

from __future__ import annotations

from typing import Any

from shafer.models.saving.formats.booster_formats import LightGBMFormat, XGBoostFormat
from shafer.models.saving.formats.catboost_format import CatBoostFormat
from shafer.models.saving.formats.skops_format import SkopsFormat
from shafer.models.saving.formats.state_format import StateFormat
from shafer.models.saving.formats.torch_format import TorchFormat
from shafer.models.saving.object_format import ObjectFormat

_OWN_FORMATS: tuple[ObjectFormat, ...] = (
    StateFormat(),
    XGBoostFormat(),
    LightGBMFormat(),
    CatBoostFormat(),
    TorchFormat(),
)
FORMATS: tuple[ObjectFormat, ...] = (*_OWN_FORMATS, SkopsFormat(_OWN_FORMATS))


def format_of(value: Any) -> ObjectFormat:
    """Return the format that an object is stored in."""
    return next(found for found in FORMATS if found.takes(value))


def named_format(name: Any) -> ObjectFormat:
    """Return a format by its name in a file."""
    for found in FORMATS:
        if found.name == name:
            return found
    raise ValueError(f"it holds an object of the unknown format {name!r}")
