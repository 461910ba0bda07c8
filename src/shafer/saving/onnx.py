"""ONNX graphs: their own bytes, which are checked again when they are read."""

from __future__ import annotations

from typing import Any, final

from shafer.models.onnx.checked import check_graph, from_bytes
from shafer.saving.formats import ObjectFormat, ObjectSink, ObjectSource
from shafer.saving.values import Json

_CLASS = "onnx.ModelProto"


@final
class OnnxFormat(ObjectFormat):
    """A ``ModelProto``, with all its numbers inside."""

    name = "onnx"

    def takes(self, value: Any) -> bool:
        """Tell whether it is an ONNX graph."""
        kind = type(value)
        return kind.__name__ == "ModelProto" and kind.__module__.partition(".")[0] == "onnx"

    def write(self, value: Any, sink: ObjectSink) -> dict[str, Json]:
        """Write the graph, in one order of its maps."""
        check_graph(value)
        return {
            "class": _CLASS,
            "file": sink.member("onnx", value.SerializeToString(deterministic=True)),
        }

    def read(self, node: dict[str, Json], source: ObjectSource) -> Any:
        """Read the graph, and check it as one that the user gives."""
        return from_bytes(source.member(node["file"]), "The saved ONNX graph")
