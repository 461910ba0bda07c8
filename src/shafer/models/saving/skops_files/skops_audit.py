"""Reading what a skops file would load, before anything of it is loaded.

skops keeps a tree of nodes in ``schema.json``. Each names a loader, a module and an attribute, and
some loaders call what they name. Every node is checked against ``trusted_classes``, wherever it
stands in the tree, and so is every file that a node refers to.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from shafer._safe_archive import check_array, read_member
from shafer.models.saving.skops_files.sparse_members import check_sparse
from shafer.models.saving.skops_files.trusted_classes import BY_LOADER, NEVER, TRUSTABLE, is_known

Node: TypeAlias = dict[str, Any]

_LARGEST_SCHEMA = 256 * 2**20
_MOST_CONTAINERS = 4_000_000
_KEY_TYPES = tuple(name for name in BY_LOADER["TypeNode"] if name != "collections.OrderedDict")


@final
@dataclass(frozen=True)
class Audit:
    """The names in a skops file, all through loaders that may be used.

    Attributes
    ----------
    names : tuple of strings
        Every name, known or not.
    unknown : tuple of strings
        Those of classes that are not known to be safe.
    """

    names: tuple[str, ...]
    unknown: tuple[str, ...]


def audit(archive: zipfile.ZipFile) -> Audit:
    """Check a skops file.

    Raises
    ------
    ValueError
        If the file is damaged, or holds something that is never loaded.
    """
    schema = _schema(archive)
    nodes = list(_nodes(schema))
    if not nodes or nodes[0] is not schema:
        raise ValueError("its schema.json does not describe a model")
    tree = _Tree(archive, _by_id(nodes))
    names, unknown = set(), set()
    for node in nodes:
        name = tree.check(node)
        names.add(name)
        if not is_known(node["__loader__"], name):
            unknown.add(name)
    return Audit(tuple(sorted(names)), tuple(sorted(unknown)))


def _schema(archive: zipfile.ZipFile) -> Node:
    raw = read_member(archive, "schema.json", most=_LARGEST_SCHEMA)
    if raw.count(b"{") + raw.count(b"[") > _MOST_CONTAINERS:
        raise ValueError(f"its schema.json has more than {_MOST_CONTAINERS:,} parts")
    try:
        schema = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise ValueError("its schema.json is not readable JSON") from error
    if not isinstance(schema, dict):
        raise ValueError("its schema.json does not describe a model")
    protocol = schema.get("protocol")
    # Protocol 0 names functions in a place of its own.
    if type(protocol) is not int or protocol < 1:
        raise ValueError("it was written by a version of skops that is too old")
    return schema


def _nodes(schema: Node) -> Iterator[Node]:
    """Give every node of the tree, also where skops would not look."""
    waiting: list[Any] = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if "__loader__" in value:
                yield value
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def _by_id(nodes: list[Node]) -> dict[int, list[Node]]:
    found: dict[int, list[Node]] = {}
    for node in nodes:
        if "__id__" in node:
            if type(node["__id__"]) is not int:
                raise ValueError("its schema.json is damaged (a part has a wrong number)")
            found.setdefault(node["__id__"], []).append(node)
    return found


@final
@dataclass(frozen=True)
class _Tree:
    """The archive and its nodes by number; skops takes a number it has met before for the same."""

    archive: zipfile.ZipFile
    by_id: dict[int, list[Node]]

    def check(self, node: Node) -> str:
        """Check one node and return the name it loads."""
        loader, module, attribute = (
            node.get(key) for key in ("__loader__", "__module__", "__class__")
        )
        if not (isinstance(loader, str) and isinstance(module, str) and isinstance(attribute, str)):
            raise ValueError("its schema.json is damaged (a part has no loader, module or class)")
        name = f"{module}.{attribute}"
        if not all(part.isidentifier() and part.isascii() for part in name.split(".")):
            raise ValueError(
                f"it names the class {name!r}, which is not a Python name: the file is damaged or "
                "forged"
            )
        if loader in NEVER and not is_known(loader, name):
            raise ValueError(
                f"it holds {NEVER[loader]} {name}, which could run any code, so no option admits "
                "it; remove it from the model"
            )
        if loader not in BY_LOADER:
            raise ValueError(f"it needs {loader!r} of skops, which is not known here")
        if not (loader in TRUSTABLE or is_known(loader, name)):
            raise ValueError(f"it holds {name} as a {loader}, which no option admits")
        self._check_content(loader, node)
        return name

    def _check_content(self, loader: str, node: Node) -> None:
        check: Callable[[Node], None] | None = {
            "BytearrayNode": self._check_bytes,
            "BytesNode": self._check_bytes,
            "DTypeNode": self._check_dtype,
            "DictNode": self._check_keys,
            "JsonNode": _check_json,
            "NdArrayNode": self._check_array,
            "RandomGeneratorNode": self._check_generator,
            "RandomStateNode": self._check_random_state,
            "SliceNode": _check_slice,
            "SparseMatrixNode": self._check_sparse,
        }.get(loader)
        if check is not None:
            check(node)

    def _alternatives(self, node: Any) -> list[Node]:
        """Return all nodes that skops could take for this one."""
        if not isinstance(node, dict):
            raise ValueError("its schema.json is damaged (a part is missing)")
        found = [node, *self.by_id.get(node.get("__id__", 0), [])]
        return [other for other in found if "__loader__" in other] or [{"__loader__": None}]

    def _only(self, node: Any, loader: str) -> list[Node]:
        nodes = self._alternatives(node)
        if any(other["__loader__"] != loader for other in nodes):
            raise ValueError("its schema.json is damaged (a part has the wrong loader)")
        return nodes

    def _value(self, node: Any) -> Any:
        """Return the one plain value that a node stands for."""
        values = [_loaded_json(other) for other in self._only(node, "JsonNode")]
        if any(value != values[0] for value in values):
            raise ValueError("its schema.json is damaged (a value has two meanings)")
        return values[0]

    def _items(self, node: Any) -> list[Node]:
        """Return what a node for a dict may hold."""
        return [
            content
            for other in self._only(node, "DictNode")
            if isinstance(content := other.get("content"), dict)
        ]

    def _check_bytes(self, node: Node) -> None:
        read_member(self.archive, str(node.get("file")))

    def _check_array(self, node: Node) -> None:
        if node.get("type") == "numpy":
            check_array(self.archive, str(node.get("file")))
        elif node.get("type") != "json" or node["__class__"] != "ndarray":
            raise ValueError("an array in its schema.json is of an unknown type")

    def _check_sparse(self, node: Node) -> None:
        check_sparse(read_member(self.archive, str(node.get("file"))))

    def _check_dtype(self, node: Node) -> None:
        self._only(node.get("content"), "NdArrayNode")

    def _check_keys(self, node: Node) -> None:
        """Refuse keys that would be made by anything but a plain type: skops calls the type."""
        for types in self._only(node.get("key_types"), "ListNode"):
            for item in types.get("content", ()):
                for key in self._only(item, "TypeNode"):
                    if f"{key.get('__module__')}.{key.get('__class__')}" not in _KEY_TYPES:
                        raise ValueError("a dictionary in its schema.json has keys of a wrong type")

    def _check_random_state(self, node: Node) -> None:
        """NumPy reads the position in its table of 624 numbers without a check."""
        for content in self._items(node.get("content")):
            for state in self._items(content.get("state")):
                position = self._value(state.get("pos"))
                if type(position) is not int or not 0 <= position <= 624:
                    raise ValueError("a random state in its schema.json is damaged")

    def _check_generator(self, node: Node) -> None:
        """Accept NumPy's default generator, whose state is numbers alone."""
        parts = node.get("content")
        if not isinstance(parts, dict):
            raise ValueError("a random generator in its schema.json is damaged")
        names = [self._value(c.get("bit_generator")) for c in self._items(parts["bit_generator"])]
        sizes = [self._value(c.get("pool_size")) for c in self._items(parts["seed_seq"])]
        if set(map(str, names)) != {"PCG64"} or set(map(str, sizes)) != {"4"}:
            raise ValueError("it holds a random generator that is not NumPy's default, PCG64")


def _loaded_json(node: Node) -> Any:
    try:
        return json.loads(node["content"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError("a value in its schema.json is damaged") from error


def _check_json(node: Node) -> None:
    _loaded_json(node)


def _check_slice(node: Node) -> None:
    content = node.get("content")
    bounds = content.values() if isinstance(content, dict) else [()]
    if any(not (bound is None or isinstance(bound, int | str)) for bound in bounds):
        raise ValueError("a slice in its schema.json is damaged")
