"""``contents_of``: what a saved file holds and what it needs, without making an object of it."""

from __future__ import annotations

import importlib.metadata
import io
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from numpy.typing import NDArray

from shafer._files.archive import open_archive, read_array, read_member
from shafer._text import one_line
from shafer.saving.file import (
    ARRAYS,
    FIRST_WITH_DIGESTS,
    SAVED_CLASSES,
    check_digests,
    check_version,
    described,
    stored_archive,
)
from shafer.saving.formats import PLACEHOLDER
from shafer.saving.skops import audit
from shafer.saving.trusted import current_name, stored_name
from shafer.saving.values import Json, ValueSource, read_value

_PACKAGES = {"interpret": "interpret-core", "sklearn": "scikit-learn"}
_OF_FORMATS = {
    "onnx": ("onnx", "onnxruntime"),
    "skops": ("skops",),
    "torch": ("torch", "safetensors"),
}
_PYTHON = ("builtins", "collections", "shafer")


@final
@dataclass(frozen=True)
class SavedContents:
    """What is in a saved file.

    Attributes
    ----------
    size : int
        Bytes of the file.
    class_name : str
        Of the saved object, such as ``"shafer.Explainer"``.
    format : int
    digest : str or None
        SHA-256 of the list of digests of all members; None in files of format 1.
    libraries : dict
        The versions of the libraries that wrote the file.
    models : tuple of strings
        The classes of the models in it.
    trusted : tuple of strings
        The classes that ``load`` must be told to trust.
    needs_module : bool
        Whether ``load`` needs a torch module.
    packages : dict
        The packages that loading imports, with the version here, or None if one is not installed.
    members : dict
        The size of each member.
    state : dict
        The attributes of the object as plain values; an object in it is a dictionary as well.
    """

    size: int
    class_name: str
    format: int
    digest: str | None
    libraries: Mapping[str, str]
    models: tuple[str, ...]
    trusted: tuple[str, ...]
    needs_module: bool
    packages: Mapping[str, str | None]
    members: Mapping[str, int]
    state: Mapping[str, Any]


def contents_of(path: str | os.PathLike[str]) -> SavedContents:
    """Read a saved file, without loading its models.

    Raises
    ------
    ValueError
        In one line, if the file is damaged, was changed, or is of a version that is not read here.
    """
    name = repr(os.fspath(path))
    content = Path(path).read_bytes()
    try:
        archive = stored_archive(io.BytesIO(content))
        description = described(archive)
    except ValueError as error:
        raise ValueError(f"{name} cannot be read: {one_line(error)}. Save it again.") from error
    check_version(description, name)  # its message is complete
    try:
        return _contents(archive, description, len(content))
    except Exception as error:  # a damaged file can fail in any way
        raise ValueError(f"{name} cannot be read: {one_line(error)}. Save it again.") from error


def _contents(
    archive: zipfile.ZipFile, description: Mapping[str, Json], size: int
) -> SavedContents:
    digest = check_digests(archive) if description["version"] >= FIRST_WITH_DIGESTS else None
    plain = _Plain(archive, list(description["objects"]))
    models = [entry for entry in description["objects"] if entry["format"] != "state"]
    names, unknown = set(), set()
    for entry in models:
        names.add(str(entry.get("class", entry["format"])))
        if entry["format"] == "skops":
            with open_archive(io.BytesIO(read_member(archive, entry["file"]))) as inner:
                found = audit(inner)
            names.update(found.names)
            unknown.update(set(found.unknown) - {PLACEHOLDER})
    formats = {str(entry["format"]) for entry in models}
    held = current_name(str(description["class"]))
    libraries = description.get("libraries")
    return SavedContents(
        size,
        f"shafer.{SAVED_CLASSES[held]}" if held in SAVED_CLASSES else held,
        int(description["version"]),
        digest,
        {str(k): str(v) for k, v in libraries.items()} if isinstance(libraries, dict) else {},
        tuple(str(entry.get("class", f"a booster of {entry['format']}")) for entry in models),
        tuple(sorted(unknown)),
        "torch" in formats,
        _packages(names, formats),
        {member.filename: member.file_size for member in archive.infolist()},
        plain.object(description["root"]),
    )


def _packages(names: set[str], formats: set[str]) -> dict[str, str | None]:
    roots = {name.partition(".")[0] for name in names} - set(_PYTHON)
    needed = {_PACKAGES.get(root, root) for root in roots} | {"numpy"}
    for format_ in formats:
        needed |= set(_OF_FORMATS.get(format_, ()))
    return {name: _installed(name) for name in sorted(needed)}


def _installed(package: str) -> str | None:
    for name in (package, f"{package}-cpu"):
        try:
            return importlib.metadata.version(name)
        except (importlib.metadata.PackageNotFoundError, ValueError):
            continue
    return None


@final
class _Plain(ValueSource):
    """The values of a file; an object is its class and its attributes."""

    def __init__(self, archive: zipfile.ZipFile, objects: list[Json]) -> None:
        self._arrays = open_archive(io.BytesIO(read_member(archive, ARRAYS)))
        self._objects, self._inside = objects, set[int]()

    def array(self, name: str) -> NDArray[Any]:
        return read_array(self._arrays, f"{name}.npy")

    def tensor(self, array: NDArray[Any], dtype: str) -> Any:
        del dtype
        return array

    def object(self, node: Json) -> Any:
        number = node["number"]
        entry = self._objects[number]
        found = {"class": stored_name(str(entry.get("class", entry["format"])))}
        if entry["format"] != "state" or number in self._inside:
            return found
        self._inside.add(number)
        state = read_value(entry["state"], self)
        self._inside.remove(number)
        return {**state, **found}
