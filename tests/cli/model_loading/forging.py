"""Forged skops files: nodes as skops writes them, with names and contents of an attacker."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

Node = dict[str, Any]


def node(loader: str, name: str, **fields: Any) -> Node:
    """One node, for the attribute ``name`` of a module."""
    module, _, attribute = name.rpartition(".")
    return {"__class__": attribute, "__module__": module, "__loader__": loader, **fields}


def text(value: Any) -> Node:
    return node("JsonNode", "builtins.str", content=json.dumps(value), is_json=True)


def many(*content: Node) -> Node:
    return node("TupleNode", "builtins.tuple", content=list(content))


def mapping(name: str = "builtins.dict", key_type: str = "builtins.str", **content: Any) -> Node:
    types = [node("TypeNode", key_type) for _ in content]
    keys = node("ListNode", "builtins.list", content=types)
    return node("DictNode", name, content=content, key_types=keys)


def model(**attributes: Node) -> Node:
    """A logistic regression with these attributes."""
    name = "sklearn.linear_model._logistic.LogisticRegression"
    return node("ObjectNode", name, content=mapping(**attributes))


def forged(schema: Any, protocol: Any = 2, **members: bytes) -> bytes:
    """A skops file with this schema; members are named ``name_npy`` for ``name.npy``."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        if isinstance(schema, dict):
            schema = json.dumps(schema | {"protocol": protocol, "_skops_version": "0.16.0"})
        archive.writestr("schema.json", schema)
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)
    return buffer.getvalue()


def packed(**arrays: Any) -> bytes:
    """An ``.npz`` archive of arrays."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def array(value: Any, **options: Any) -> bytes:
    """An ``.npy`` file."""
    buffer = io.BytesIO()
    np.save(buffer, value, **options)
    return buffer.getvalue()


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path
