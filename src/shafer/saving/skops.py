"""Everything else: scikit-learn and the user's classes, in skops, checked when written too."""

from __future__ import annotations

import importlib
import io
import json
import sys
import zipfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from types import FunctionType, MethodType
from typing import Any, BinaryIO, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from shafer._checks.arrays import check_compressed, check_indices
from shafer._files.archive import check_array, open_archive, read_array, read_member
from shafer._text import listed, one_line, printable, shortened
from shafer.models.sklearn.wrappers import without_search
from shafer.saving.canonical import canonical
from shafer.saving.formats import (
    PLACEHOLDER,
    ObjectFormat,
    ObjectSink,
    ObjectSource,
    TakenOut,
    class_name,
    imported,
    with_parts,
)
from shafer.saving.trusted import (
    BY_LOADER,
    DTYPES,
    FORMER_NAMES,
    NEVER,
    SPLINES,
    TRUSTABLE,
    TrustWording,
    current_name,
    is_known,
    without_array_libraries,
)
from shafer.saving.values import Json

_SEARCH_OF_A_THRESHOLD = (
    "sklearn.model_selection._classification_threshold.TunedThresholdClassifierCV"
)
_FUNCTIONS_OF_THE_USER = "shafer.models.heads.Contributions"
# Packages whose trained models are not stored, and what to do.
_NOT_STORED = {
    "pyspark": (
        "it lives in Spark. Save the model with its own save(path) and make the Explainer again, "
        "or save its numbers, shafer.LinearHead(coef, intercept)."
    ),
    "skorch": (
        "it holds its training. Make an Explainer of its module, net.module_, with the same "
        "background and classes=, and save that."
    ),
    "statsmodels": (
        "it holds functions and its training data. Save its numbers, shafer.LinearHead(coef, "
        "intercept), with an Explainer of its own, whose rows are those of the design matrix."
    ),
}


def skops_io() -> Any:
    """Import ``skops.io``, which asks scikit-learn for all its estimators."""
    with without_array_libraries():
        return imported("skops.io", "'.[save]' in a copy of the repository")


@final
class SkopsFormat(ObjectFormat):
    """A skops file. A part with a format of its own is taken out and stored in that."""

    name = "skops"

    def __init__(self, others: tuple[ObjectFormat, ...]) -> None:
        self._others = others

    def takes(self, value: Any) -> bool:
        """Tell that any object may be tried."""
        del value
        return True

    def write(self, value: Any, sink: ObjectSink) -> dict[str, Json]:
        """Write an object, unless it holds what is never loaded again."""
        if class_name(value) == _FUNCTIONS_OF_THE_USER:
            raise ValueError(
                "Contributions cannot be saved: it holds a function, and functions are not "
                "stored. Save the function's numbers instead, as a LinearHead or in a file of "
                "your own, and make the Explainer again."
            )
        package = type(value).__module__.partition(".")[0]
        if package in _NOT_STORED:
            name = type(value).__name__
            raise ValueError(f"{name} of {package} cannot be saved: {_NOT_STORED[package]}")
        skops = skops_io()
        parts: list[Json] = []

        def taken_out(part: Any) -> Any:
            if class_name(part) == _SEARCH_OF_A_THRESHOLD:
                return with_parts(without_search(part), taken_out)
            if isinstance(part, FunctionType) and _is_known_function(part):
                return part
            if isinstance(part, FunctionType | MethodType):
                raise ValueError(
                    f"{type(value).__name__} cannot be saved: it holds the function "
                    f"{part.__module__}.{part.__qualname__}, and functions are never loaded from a "
                    "file. Remove it from the model. For a search, explain its best_estimator_."
                )
            if not any(other.takes(part) for other in self._others):
                return part
            parts.append(sink.object(part))
            return TakenOut(len(parts) - 1)

        rest = with_parts(value, taken_out)
        try:
            content = canonical(skops.dumps(rest))
            with open_archive(io.BytesIO(content)) as archive:
                audit(archive)
        except Exception as error:  # the user's objects can fail in any way
            reason = printable(" ".join(str(error).split()))
            raise ValueError(
                f"{type(value).__name__} cannot be saved without pickle: {shortened(reason, 300)}."
            ) from error
        return {
            "class": class_name(value),
            "file": sink.member("skops", content),
            "parts": parts,
        }

    def read(self, node: dict[str, Json], source: ObjectSource) -> Any:
        """Load the object, and put its parts back."""
        rest = source.skops(source.member(node["file"]), (PLACEHOLDER,))
        parts = [source.object(part) for part in node["parts"]]
        return with_parts(rest, lambda part: _put_back(part, parts))


def _is_known_function(function: FunctionType) -> bool:
    """Tell whether a function is one of those that only compute, and not another of its name."""
    module, name = function.__module__, function.__qualname__
    here = getattr(sys.modules.get(module), name, None)
    return here is function and is_known("FunctionNode", f"{module}.{name}")


def _put_back(part: Any, parts: list[Any]) -> Any:
    if not isinstance(part, TakenOut):
        return part
    number = part.number
    if type(number) is not int or not 0 <= number < len(parts):
        raise ValueError("a part of its model is missing")
    return parts[number]


# A model from a skops file, after its content was checked.


def read_skops(file: BinaryIO, source: str, trusted: Collection[str], wording: TrustWording) -> Any:
    """Load a model from a skops file.

    Parameters
    ----------
    file : binary file
    source : str
        The name of the file, for messages.
    trusted : collection of str
        Full names of classes that the user trusts, besides the list in ``saving/trusted.py``.
        Functions and methods are never loaded.
    wording : TrustWording

    Raises
    ------
    ValueError
        In one line, if the file is damaged or forged, or holds classes that are not trusted.
    """
    try:
        file = _with_current_names(file)
        with open_archive(file) as archive:
            found = audit(archive)
    except Exception as error:  # a forged file can fail in any way
        raise ValueError(f"{source} is not loaded: {one_line(error)}. {wording.again}") from error
    unknown = [name for name in found.unknown if name not in trusted]
    if unknown:
        _refuse(source, unknown, wording)
    for name in found.unknown:
        _check_class(name, wording)
    skops = skops_io()  # now that the file is known to be harmless

    file.seek(0)
    try:
        model = skops.load(file, trusted=list(found.names))
    except Exception as error:  # its attributes may be anything
        raise ValueError(f"{source} cannot be loaded: {one_line(error)}") from error
    check_vocabularies(model, source)
    make_splines_again(model, source)
    return model


def _with_current_names(file: BinaryIO) -> BinaryIO:
    """Return the file with the classes of earlier versions under the names of today.

    Only names that the table has are changed; the result is checked like any other file.
    """
    with open_archive(file) as archive:
        raw = read_member(archive, "schema.json", most=_LARGEST_SCHEMA)
        if not any(name.rpartition(".")[0].encode() in raw for name in FORMER_NAMES):
            return file
        schema, changed = _schema(archive), False
        for node in _nodes(schema):
            held = f"{node.get('__module__')}.{node.get('__class__')}"
            module, _, name = current_name(held).rpartition(".")
            if held in FORMER_NAMES and f"{module}.{name}" != held:
                node["__module__"], node["__class__"], changed = module, name, True
        if not changed:
            return file
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as renamed:
            for member in archive.namelist():
                same = member != "schema.json"
                renamed.writestr(
                    member, read_member(archive, member) if same else json.dumps(schema)
                )
    return content


def _refuse(source: str, unknown: list[str], wording: TrustWording) -> None:
    own = [name for name in unknown if name.startswith("shafer.")]
    if own:
        raise ValueError(
            f"{source} is not loaded: it holds {listed(own)}, which this version of shafer does "
            "not write into model files. The file comes from another version, or is forged. Save "
            "the model again with this version."
        )
    calls = [name for name in unknown if _is_known_not_to_be_a_class(name)]
    if calls:
        raise ValueError(
            f"{source} is not loaded: it holds {listed(calls)}, which is not a class. Functions "
            "are never loaded from a model file. The file may be forged."
        )
    raise ValueError(
        f"{source} holds classes that are not known to be safe. {wording.advice(unknown)}"
    )


def _is_known_not_to_be_a_class(name: str) -> bool:
    """Look a name up in the modules that are loaded; nothing is imported for a name in a file."""
    module, _, attribute = name.rpartition(".")
    loaded = sys.modules.get(module)
    return loaded is not None and not isinstance(vars(loaded).get(attribute, object), type)


def _check_class(name: str, wording: TrustWording) -> None:
    """Refuse a name that the user trusts but that is not the name of a class."""
    module, _, attribute = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f"{wording.given([name])}: this class cannot be imported ({one_line(error)}). Install "
            "its package, or check the name."
        ) from error
    if not isinstance(found, type) or f"{found.__module__}.{found.__qualname__}" != name:
        raise ValueError(
            f"{wording.given([name])}: this is not a class. Functions and methods are never loaded "
            "from a model file."
        )


# Reading what a skops file would load, before anything of it is loaded.

Node: TypeAlias = dict[str, Any]

_NEWEST_PROTOCOL = 2  # of skops, whose nodes the audit knows
_LARGEST_SCHEMA = 256 * 2**20
_MOST_CONTAINERS = 4_000_000
_KEY_TYPES = tuple(set(BY_LOADER["TypeNode"]) - {"collections.OrderedDict", *DTYPES})


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
    if protocol > _NEWEST_PROTOCOL:  # early versions of skops read any number
        raise ValueError("it was written by a version of skops that is too new")
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
    met: set[tuple[Any, ...]] = field(default_factory=set)  # what was checked once, for all nodes

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

    def _new(self, node: Any, loader: str, purpose: str) -> list[Node]:
        """Return the same, if all are of one loader; nothing for a number met before.

        A dictionary of 60,000 words names the type of its keys 60,000 times, under one number.
        """
        number = node.get("__id__") if isinstance(node, dict) else None
        if number is not None:
            if (number, loader, purpose) in self.met:
                return []
            self.met.add((number, loader, purpose))
        nodes = self._alternatives(node)
        if any(other["__loader__"] != loader for other in nodes):
            raise ValueError("its schema.json is damaged (a part has the wrong loader)")
        return nodes

    def _values(self, node: Any, purpose: str) -> list[Any]:
        """Return the plain values that a node could stand for."""
        return [_loaded_json(other) for other in self._new(node, "JsonNode", purpose)]

    def _items(self, node: Any, purpose: str) -> list[Node]:
        """Return what a node for a dict could hold."""
        contents = []
        for other in self._new(node, "DictNode", purpose):
            content = other.get("content")
            if not isinstance(content, dict):
                raise ValueError("its schema.json is damaged (a dictionary has no content)")
            contents.append(content)
        return contents

    def _check_bytes(self, node: Node) -> None:
        if self._first_time(node, "bytes"):
            read_member(self.archive, str(node.get("file")))

    def _first_time(self, node: Node, purpose: str) -> bool:
        """Tell whether a member is named for the first time: many nodes may name it."""
        file = (str(node.get("file")), purpose)
        new = file not in self.met
        self.met.add(file)
        return new

    def _check_array(self, node: Node) -> None:
        if node.get("type") == "numpy":
            check_array(self.archive, str(node.get("file")))
        elif node.get("type") != "json" or node["__class__"] != "ndarray":
            raise ValueError("an array in its schema.json is of an unknown type")

    def _check_sparse(self, node: Node) -> None:
        if self._first_time(node, "matrix"):
            check_sparse(read_member(self.archive, str(node.get("file"))))

    def _check_dtype(self, node: Node) -> None:
        self._new(node.get("content"), "NdArrayNode", "dtype")

    def _check_keys(self, node: Node) -> None:
        """Refuse keys that would be made by anything but a plain type: skops calls the type."""
        for types in self._new(node.get("key_types"), "ListNode", "key types"):
            for item in types.get("content", ()):
                for key in self._new(item, "TypeNode", "key type"):
                    if f"{key.get('__module__')}.{key.get('__class__')}" not in _KEY_TYPES:
                        raise ValueError("a dictionary in its schema.json has keys of a wrong type")

    def _check_random_state(self, node: Node) -> None:
        """NumPy reads the position in its table of 624 numbers without a check."""
        for content in self._items(node.get("content"), "random state"):
            for state in self._items(content.get("state"), "state"):
                for position in self._values(state.get("pos"), "position"):
                    if type(position) is not int or not 0 <= position <= 624:
                        raise ValueError("a random state in its schema.json is damaged")

    def _check_generator(self, node: Node) -> None:
        """Accept NumPy's default generator, whose state is numbers alone."""
        parts = node.get("content")
        if not isinstance(parts, dict):
            raise ValueError("a random generator in its schema.json is damaged")
        for part, name, only in (
            ("bit_generator", "bit_generator", "PCG64"),
            ("seed_seq", "pool_size", "4"),
        ):
            for item in self._items(parts[part], part):
                for value in self._values(item.get(name), name):
                    if str(value) != only:
                        raise ValueError(
                            "it holds a random generator that is not NumPy's default, PCG64"
                        )


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


# Sparse matrices inside a model file: archives in the archive, checked before SciPy reads them.

_FIELDS = {
    "coo": {"row", "col", "data"},
    "csc": {"indices", "indptr", "data"},
    "csr": {"indices", "indptr", "data"},
}


def check_sparse(raw: bytes) -> None:
    """Refuse a matrix written by ``scipy.sparse.save_npz`` whose indices do not fit.

    Raises
    ------
    ValueError
        If the archive is damaged, of another kind than CSR, CSC or COO, or not two-dimensional.
    """
    with open_archive(io.BytesIO(raw)) as archive:
        kind = _kind(archive)
        arrays = {
            name.removesuffix(".npy"): read_array(archive, name)
            for name in archive.namelist()
            if name != "format.npy"
        }
    _check(kind, arrays)


def _kind(archive: zipfile.ZipFile) -> str:
    value = read_array(archive, "format.npy")
    kind = value.item() if value.shape == () else ""
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)
    if kind not in _FIELDS:
        raise ValueError(f"it holds a sparse matrix of format {kind!r}; csr, csc and coo are read")
    return kind


def _check(kind: str, arrays: dict[str, NDArray[Any]]) -> None:
    arrays.pop("_is_array", None)
    shape = arrays.pop("shape", np.empty(0))
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or min(shape.tolist()) < 0:
        raise ValueError("the shape of a sparse matrix in it is damaged")
    if set(arrays) != _FIELDS[kind] or arrays["data"].dtype.kind not in "biuf":
        raise ValueError("a sparse matrix in it is damaged")
    n_rows, n_columns = (int(size) for size in shape)
    data = arrays["data"]
    if kind == "coo":
        for name, size in (("row", n_rows), ("col", n_columns)):
            index = arrays[name]
            if index.dtype.kind not in "iu" or index.shape != data.shape or data.ndim != 1:
                raise ValueError("a sparse matrix in it is damaged")
            check_indices(index, size, name)
        return
    sizes = (n_rows, n_columns) if kind == "csr" else (n_columns, n_rows)
    check_compressed(data, arrays["indices"], arrays["indptr"], *sizes)


# The vocabularies of text vectorizers, whose indices compiled code follows without checks.


def check_vocabularies(model: Any, source: str) -> None:
    """Refuse a model with a vocabulary that does not number its words from 0 without gaps."""
    for part in _parts(model):
        if isinstance(part, CountVectorizer):
            words = getattr(part, "vocabulary_", {})
            if not isinstance(words, dict) or set(words.values()) != set(range(len(words))):
                raise ValueError(f"{source} cannot be loaded: the vocabulary in it is damaged.")


# The splines of SplineTransformer, whose knots compiled code follows without checks.


def make_splines_again(model: Any, source: str) -> None:
    """Give every spline the attributes that SciPy makes of its numbers, after it checked them."""
    for part in _parts(model):
        if class_name(part) in SPLINES:
            try:
                again = type(part)(part.t, part.c, part.k, part.extrapolate, part.axis)
            except Exception as error:  # its attributes may be anything
                raise ValueError(
                    f"{source} cannot be loaded: a spline in it is damaged ({one_line(error)})."
                ) from error
            vars(part).clear()
            vars(part).update(vars(again))


def _parts(model: Any) -> Iterator[Any]:
    """Give every object in a model's attributes, lists and dictionaries once."""
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, str | bytes | int | float):
            continue
        seen.add(id(part))
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, list | tuple | set):
            waiting.extend(part)
        else:
            yield part
            waiting.extend(getattr(part, "__dict__", {}).values())
