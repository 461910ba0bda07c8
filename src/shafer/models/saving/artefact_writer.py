"""Writing a saved file: a zip archive with a description, arrays, and the models.

``description.json`` has the format, the versions of the libraries and the tree of values;
``arrays.npz`` has the arrays; and ``model/`` has the models in the formats of their frameworks.
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer.models.saving.format_table import format_of
from shafer.models.saving.object_format import ObjectSink, class_name
from shafer.models.saving.stored_values import Json, write_value

FORMAT = "shafer"
VERSION = 1
DESCRIPTION = "description.json"
ARRAYS = "arrays.npz"
MODELS = "model/"

_ALWAYS = ("shafer", "numpy", "sklearn")
_FRAMEWORKS = ("catboost", "interpret", "lightgbm", "optbinning", "torch", "xgboost")


def written(value: Any) -> bytes:
    """Return the content of the file of an object."""
    writer = _Writer()
    root = writer.object(value)
    description = {
        "format": FORMAT,
        "version": VERSION,
        "class": class_name(value),
        "libraries": writer.libraries(),
        "root": root,
        "objects": writer.objects,
    }
    return _archive(description, writer.arrays, writer.members)


def _archive(
    description: Json, arrays: dict[str, NDArray[Any]], members: dict[str, bytes]
) -> bytes:
    packed = io.BytesIO()
    np.savez(packed, allow_pickle=False, **arrays)
    text = json.dumps(description, allow_nan=False, indent=1)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        for name, raw in (
            (DESCRIPTION, text.encode()),
            (ARRAYS, packed.getvalue()),
            *members.items(),
        ):
            archive.writestr(zipfile.ZipInfo(name), raw)  # without the time of day
    return content.getvalue()


@final
class _Writer(ObjectSink):
    """Collects the objects, arrays and members of one file; an object is written once."""

    def __init__(self) -> None:
        self.objects: list[Json] = []
        self.arrays: dict[str, NDArray[Any]] = {}
        self.members: dict[str, bytes] = {}
        self._numbers: dict[
            int, tuple[int, Any]
        ] = {}  # the object is held, so its id stays its own
        self._modules: list[tuple[int, Any]] = []

    def value(self, value: Any) -> Json:
        return write_value(value, self)

    def array(self, array: NDArray[Any]) -> str:
        name = f"a{len(self.arrays)}"
        self.arrays[name] = array
        return name

    def member(self, suffix: str, content: bytes) -> str:
        name = f"{MODELS}{len(self.members)}.{suffix}"
        self.members[name] = content
        return name

    def object(self, value: Any) -> Json:
        if id(value) in self._numbers:
            return {"type": "object", "number": self._numbers[id(value)][0]}
        inside = self._part_of_module(value)
        if inside is not None:
            return inside
        number = len(self.objects)
        self.objects.append(None)
        self._numbers[id(value)] = (number, value)
        chosen = format_of(value)
        if chosen.name == "torch":
            self._modules.append((number, value))
        self.objects[number] = {"format": chosen.name, **chosen.write(value, self)}
        return {"type": "object", "number": number}

    def _part_of_module(self, value: Any) -> Json:
        """Return the place of a layer in a module that is stored already."""
        for number, module in self._modules:
            for name, part in module.named_modules():
                if part is value:
                    return {"type": "layer", "number": number, "name": name}
        return None

    def libraries(self) -> dict[str, str]:
        """Return the versions of the libraries that are needed to read the file."""
        roots = {str(entry.get("class", "")).partition(".")[0] for entry in self.objects}
        roots |= {str(entry["format"]) for entry in self.objects}
        names = (*_ALWAYS, *(name for name in _FRAMEWORKS if name in roots))
        return {name: str(getattr(sys.modules.get(name), "__version__", "")) for name in names}
