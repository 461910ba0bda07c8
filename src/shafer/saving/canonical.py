"""The bytes of a skops file without the accidents of a process: addresses, times, orders of sets.

skops numbers objects by their address, and names files after it. Here they are numbered in the
order in which they are met. Numbers say which objects are one; that is kept for all that can be
changed. Texts, numbers and types have one number for each content.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from typing import Any

from shafer._files.archive import open_archive, read_member

_SCHEMA = "schema.json"
_BY_CONTENT = ("JsonNode", "TypeNode")
_ADDRESSES = ("_stop_words_id",)  # an address that text vectorizers of scikit-learn keep


def canonical(content: bytes) -> bytes:
    """Return a skops file as bytes that depend on the objects alone."""
    with open_archive(io.BytesIO(content)) as archive:
        schema = json.loads(read_member(archive, _SCHEMA))
        numbering = _Numbering()
        numbering.visit(schema)
        members = {new: read_member(archive, old) for old, new in numbering.files.items()}
    members[_SCHEMA] = json.dumps(schema, indent=1).encode()
    return zipped(members)


def zipped(members: dict[str, bytes]) -> bytes:
    """Return a zip archive without the time of day."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        for name, raw in members.items():
            archive.writestr(zipfile.ZipInfo(name), raw)
    return content.getvalue()


class _Numbering:
    """Gives nodes and files their numbers, in place, parents first."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self._numbers: dict[Any, int] = {}

    def visit(self, schema: Any) -> None:
        """Give numbers to all nodes of a tree, which may be deeper than the stack."""
        waiting = [schema]
        while waiting:
            node = waiting.pop()
            if isinstance(node, list):
                waiting.extend(reversed(node))
            elif isinstance(node, dict):
                self._number(node)
                waiting.extend(reversed(list(node.values())))

    def _number(self, node: dict[str, Any]) -> None:
        for name in _ADDRESSES:
            held = node.get(name)
            if isinstance(held, dict) and held.get("__loader__") == "JsonNode":
                held["content"] = "0"
        loader = node.get("__loader__")
        if loader == "SetNode":
            node["content"].sort(key=_content)
        if loader is None or "__id__" not in node:
            return
        held = _content(node) if loader in _BY_CONTENT else node["__id__"]
        node["__id__"] = self._numbers.setdefault(held, len(self._numbers) + 1)
        if isinstance(node.get("file"), str):
            old = node["file"]
            ending = re.sub(r"^\d+", "", old)
            node["file"] = self.files.setdefault(old, f"{len(self.files) + 1}{ending}")


def _content(node: Any) -> str:
    """Return what a node says, without numbers and names of files."""
    return json.dumps([*_said(node)])


def _said(node: Any) -> Iterator[Any]:
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield sorted(part)
            waiting.extend(part[key] for key in sorted(part) if key not in ("__id__", "file"))
        elif isinstance(part, list):
            yield len(part)
            waiting.extend(part)
        else:
            yield part
