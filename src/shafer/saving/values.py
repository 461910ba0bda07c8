"""Python values as JSON: plain values as they are, arrays and objects by their number.

A value that JSON does not have becomes an object with a ``"type"``. Nothing here makes an object of
a class that the file names.
"""

from __future__ import annotations

import json
import math
import sys
from abc import ABC, abstractmethod
from collections import OrderedDict, defaultdict
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Json: TypeAlias = Any

_PLAIN = (bool, int, str, type(None))
_DICTS = (dict, OrderedDict, defaultdict)  # all are read as dict
_SCALARS = "biufU"
_ARRAYS = "biufcUSmM"


class ValueSink(ABC):
    """Where arrays and objects go while a value is written."""

    @abstractmethod
    def array(self, array: NDArray[Any]) -> str:
        """Keep an array, and return its name."""

    @abstractmethod
    def object(self, value: Any) -> Json:
        """Keep an object of any class, and return how it is referred to."""


class ValueSource(ABC):
    """Where arrays and objects come from while a value is read."""

    @abstractmethod
    def array(self, name: str) -> NDArray[Any]:
        """Return an array by its name."""

    @abstractmethod
    def object(self, node: Json) -> Any:
        """Return an object that :meth:`ValueSink.object` referred to."""

    @abstractmethod
    def tensor(self, array: NDArray[Any], dtype: str) -> Any:
        """Return an array as a torch tensor."""


def write_value(value: Any, sink: ValueSink) -> Json:
    """Return a value as JSON."""
    kind = type(value)
    if kind in _PLAIN or (kind is float and math.isfinite(value)):
        return value
    if kind is list:
        return [write_value(item, sink) for item in value]
    if kind is float:
        return {"type": "float", "value": repr(value)}
    if kind in (tuple, set, frozenset):
        items = [write_value(item, sink) for item in value]
        if kind is not tuple:  # its order changes with the process
            items.sort(key=json.dumps)
        return {"type": kind.__name__, "items": items}
    if kind in _DICTS:
        pairs = [[write_value(k, sink), write_value(v, sink)] for k, v in value.items()]
        return {"type": "dict", "items": pairs}
    if kind is slice:
        bounds = [write_value(part, sink) for part in (value.start, value.stop, value.step)]
        return {"type": "slice", "items": bounds}
    if isinstance(value, np.generic) and value.dtype.kind in _SCALARS:
        content = write_value(value.item(), sink)
        return {"type": "scalar", "dtype": value.dtype.str, "value": content}
    if isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray):
        return _written_array(np.asarray(value), sink)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _written_tensor(value, torch, sink)
    return sink.object(value)


def _written_array(array: NDArray[Any], sink: ValueSink) -> Json:
    if array.dtype.kind in _ARRAYS:
        return {"type": "array", "name": sink.array(array)}
    if array.dtype.kind != "O":
        return sink.object(array)
    items = [write_value(item, sink) for item in array.reshape(-1).tolist()]
    return {"type": "objects", "shape": list(array.shape), "items": items}


def _written_tensor(tensor: Any, torch: Any, sink: ValueSink) -> Json:
    held, dtype = tensor.detach().cpu(), str(tensor.dtype).removeprefix("torch.")
    if tensor.dtype is torch.bfloat16:  # NumPy does not have it
        held = held.view(torch.int16)
    return {"type": "tensor", "dtype": dtype, "name": sink.array(held.numpy())}


def read_value(node: Json, source: ValueSource) -> Any:
    """Return the value that :func:`write_value` wrote."""
    if isinstance(node, list):
        return [read_value(item, source) for item in node]
    if not isinstance(node, dict):
        return node
    kind = node["type"]
    if kind == "float":
        return float(node["value"])
    if kind == "dict":
        return {read_value(k, source): read_value(v, source) for k, v in node["items"]}
    if kind in ("tuple", "set", "frozenset", "slice"):
        items = [read_value(item, source) for item in node["items"]]
        return _collected(kind, items)
    if kind == "scalar":
        return _scalar(node["dtype"], read_value(node["value"], source))
    if kind == "array":
        return source.array(node["name"])
    if kind == "objects":
        return _object_array(node, source)
    if kind == "tensor":
        return source.tensor(source.array(node["name"]), node["dtype"])
    return source.object(node)


def _collected(kind: str, items: list[Any]) -> Any:
    if kind == "slice":
        start, stop, step = items
        return slice(start, stop, step)
    return {"tuple": tuple, "set": set, "frozenset": frozenset}[kind](items)


def _scalar(dtype: str, value: Any) -> Any:
    found = np.dtype(dtype)
    if found.kind not in _SCALARS or not isinstance(value, bool | int | float | str):
        raise ValueError("a number in its description is damaged")
    return np.asarray(value, dtype=found)[()]


def _object_array(node: Json, source: ValueSource) -> NDArray[Any]:
    items = [read_value(item, source) for item in node["items"]]
    flat = np.empty(len(items), dtype=object)
    flat[:] = items
    return flat.reshape([int(size) for size in node["shape"]])
