"""Saved files: what is written, and how every part is checked when it is read."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import os
import sys
import zipfile
from collections.abc import Collection, Iterable
from typing import Any, BinaryIO, final

import numpy as np
from numpy.typing import NDArray

from shafer._files.archive import open_archive, read_array, read_member
from shafer._files.atomic import replacing
from shafer._text import printable, shortened
from shafer.saving.boosters import CatBoostFormat, LightGBMFormat, XGBoostFormat
from shafer.saving.canonical import zipped
from shafer.saving.formats import (
    ObjectFormat,
    ObjectSink,
    ObjectSource,
    StateFormat,
    class_name,
)
from shafer.saving.onnx import OnnxFormat
from shafer.saving.skops import SkopsFormat, read_skops, skops_io
from shafer.saving.torch import ModuleMismatchError, TorchFormat
from shafer.saving.trusted import STORED_NAMES, TrustWording, current_name, stored_name
from shafer.saving.values import Json, read_value, write_value

_OLDEST = 1
_LARGEST_DESCRIPTION = 2**30


@final
class RefusedFileError(ValueError):
    """A file is whole, but is not read here; the message is complete."""


@final
class ArtefactReader(ObjectSource):
    """The objects of one saved file.

    Attributes
    ----------
    class_name : str
        The class of the saved object: where it lives today.
    """

    def __init__(
        self,
        file: BinaryIO,
        source: str,
        trusted: Collection[str],
        module: Any,
        wording: TrustWording,
    ) -> None:
        self._source, self._trusted, self._wording = source, trusted, wording
        self._given_module, self._module_taken = module, False
        self._archive = stored_archive(file)
        description = described(self._archive)
        self._libraries = description.get("libraries")
        check_version(description, source)
        if description["version"] >= FIRST_WITH_DIGESTS:
            check_digests(self._archive)
        self.class_name = current_name(str(description["class"]))
        self._root, self._objects = description["root"], list(description["objects"])
        self._arrays = open_archive(io.BytesIO(read_member(self._archive, ARRAYS)))
        self._made: dict[int, Any] = {}
        self._waiting: set[int] = set()

    def root(self) -> Any:
        """Return the saved object."""
        return self.object(self._root)

    @property
    def versions(self) -> str:
        """The libraries that wrote the file in other versions than those here, in words."""
        held = self._libraries if isinstance(self._libraries, dict) else {}
        other = []
        for name, version in held.items():
            here = getattr(sys.modules.get(str(name)), "__version__", None)
            if here is not None and here != version:
                other.append(f"{name} {version} (here {here})")
        return shortened(printable(", ".join(other)), 200)

    def value(self, node: Json) -> Any:
        return read_value(node, self)

    def array(self, name: str) -> NDArray[Any]:
        return read_array(self._arrays, f"{name}.npy")

    def member(self, name: str) -> bytes:
        if not str(name).startswith(MODELS):
            raise ValueError(f"it names {name!r} as a model")
        return read_member(self._archive, name)

    def object(self, node: Json) -> Any:
        kind, number = node["type"], node["number"]
        if kind not in ("object", "layer") or type(number) is not int:
            raise ValueError("its description is damaged")
        if number in self._waiting or not 0 <= number < len(self._objects):
            raise ValueError("its description is damaged (an object holds itself)")
        if number not in self._made:
            self._waiting.add(number)
            entry = self._objects[number]
            self._made[number] = named_format(entry["format"]).read(entry, self)
            self._waiting.remove(number)
        made = self._made[number]
        return made if kind == "object" else made.get_submodule(node["name"])

    def module(self) -> Any:
        if self._given_module is None:
            how = "Load it in Python" if self._wording.on_command_line else "Load it"
            raise RefusedFileError(
                f"{self._source} holds the weights of a torch module, not its code. {how} with "
                "load(path, module=…), and pass a module that is built like the saved one."
            )
        import torch

        if not isinstance(self._given_module, torch.nn.Module):
            raise RefusedFileError(
                f"module must be a torch module; got {type(self._given_module).__name__}."
            )
        if self._module_taken:  # a refit has its own weights
            return copy.deepcopy(self._given_module)
        self._module_taken = True
        return self._given_module

    def tensor(self, array: NDArray[Any], dtype: str) -> Any:
        import torch

        kind = getattr(torch, dtype)
        if not isinstance(kind, torch.dtype):
            raise ValueError(f"{dtype!r} is not a type of tensors")
        held = torch.from_numpy(array)
        held = held.view(kind) if kind is torch.bfloat16 else held
        if held.dtype is not kind:
            raise ValueError(f"a tensor of {dtype} in it is damaged")
        first = next(iter(getattr(self._given_module, "parameters", list)()), None)
        return held if first is None else held.to(first.device)

    def skops(self, content: bytes, also: tuple[str, ...]) -> Any:
        skops_io()
        try:
            return read_skops(
                io.BytesIO(content), self._source, {*self._trusted, *also}, self._wording
            )
        except ValueError as error:  # it names the file
            raise RefusedFileError(str(error)) from error


def stored_archive(file: BinaryIO) -> zipfile.ZipFile:
    """Open a saved file, whose members are not compressed."""
    archive = open_archive(file)
    # Archives in the archive have limits of their own, so compression must not multiply them.
    if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
        raise ValueError("a member of it is compressed, which save() does not do")
    return archive


def described(archive: zipfile.ZipFile) -> dict[str, Json]:
    """Return the description of a saved file."""
    try:
        description = json.loads(read_member(archive, DESCRIPTION, most=_LARGEST_DESCRIPTION))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its {DESCRIPTION} is missing or damaged") from error
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise ValueError(f"its {DESCRIPTION} does not describe a saved model of shafer")
    return description


def check_version(description: dict[str, Json], source: str) -> None:
    """Refuse a file of a format that is not read here."""
    version = description.get("version")
    if type(version) is not int:
        raise ValueError(f"its {DESCRIPTION} has no version")
    libraries = description.get("libraries")
    writer = libraries.get("shafer") if isinstance(libraries, dict) else None
    by = f"shafer {shortened(printable(str(writer)), 30)}" if writer else "shafer"
    if version > VERSION:
        raise RefusedFileError(
            f"{source} was written by a newer version, {by} (file format {version}; this version "
            f"reads format {VERSION}). Update shafer."
        )
    if version < _OLDEST:
        raise RefusedFileError(
            f"{source} was written by an older version, {by} (file format {version}; this version "
            f"reads format {VERSION}). Save the model again with this version."
        )


# Writing a saved file: a zip archive with a description, arrays, and the models.

FORMAT = "shafer"
VERSION = 2
FIRST_WITH_DIGESTS = 2
DIGESTS = "SHA256SUMS"
DESCRIPTION = "description.json"
ARRAYS = "arrays.npz"
MODELS = "model/"

_ALWAYS = ("shafer", "numpy", "sklearn")
_FRAMEWORKS = ("catboost", "interpret", "lightgbm", "onnx", "optbinning", "torch", "xgboost")


def written(value: Any) -> bytes:
    """Return the content of the file of an object."""
    writer = _Writer()
    root = writer.object(value)
    description = {
        "format": FORMAT,
        "version": VERSION,
        "class": stored_name(class_name(value)),
        "libraries": writer.libraries(),
        "root": root,
        "objects": writer.objects,
    }
    return _archive(description, writer.arrays, writer.members)


def _archive(
    description: Json, arrays: dict[str, NDArray[Any]], members: dict[str, bytes]
) -> bytes:
    held = io.BytesIO()
    np.savez(held, allow_pickle=False, **arrays)
    text = json.dumps(description, allow_nan=False, indent=1)
    return packed({DESCRIPTION: text.encode(), ARRAYS: held.getvalue(), **members})


def packed(members: dict[str, bytes]) -> bytes:
    """Return a saved file of some members, and of their digests."""
    given = {name: raw for name, raw in members.items() if name != DIGESTS}
    return zipped({**given, DIGESTS: _digests(given)})


def _digests(members: dict[str, bytes]) -> bytes:
    """Return the SHA-256 of each member, as ``sha256sum`` writes and checks them."""
    digests = {name: hashlib.sha256(raw).hexdigest() for name, raw in members.items()}
    return "".join(f"{digests[name]}  {name}\n" for name in sorted(digests)).encode()


def check_digests(archive: zipfile.ZipFile) -> str:
    """Compare every member with its digest, and return the digest of all.

    Raises
    ------
    ValueError
        If a member was changed, added or taken away after the file was written.
    """
    raw = read_member(archive, DIGESTS, most=_LARGEST_DESCRIPTION)
    names = [name for name in archive.namelist() if name != DIGESTS]
    found = _digests({name: read_member(archive, name) for name in names})
    if found != raw:
        told, here = _by_name(raw.decode("utf-8", "replace")), _by_name(found.decode())
        odd = sorted(name for name in {*told, *here} if told.get(name) != here.get(name))
        raise ValueError(
            f"it was changed after it was saved: {', '.join(map(repr, odd[:3]))} is not what "
            f"its {DIGESTS} says"
        )
    return hashlib.sha256(raw).hexdigest()


def _by_name(lines: str) -> dict[str, str]:
    return {line.partition("  ")[2]: line for line in lines.split("\n")}


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


# Saving an object to one file and loading it: without pickle, all or nothing.

SAVED_CLASSES = {
    STORED_NAMES[f"shafer.{name}"]: name
    for name in ("EvidentialVotingClassifier", "EvidentialClassifier", "Explainer")
}
"""The classes with a method ``load``, and their public names."""

_IN_PYTHON = TrustWording(False, "Save it again.")


def saved_bytes(value: Any) -> bytes:
    """Return what :func:`save_object` writes."""
    return written(value)


def save_object(value: Any, path: str | os.PathLike[str]) -> None:
    """Write an object to a file, all or nothing."""
    content = written(value)
    with replacing(path) as file:
        file.write(content)


def loaded_bytes(
    content: bytes, *, wanted: type | None = None, trusted: Iterable[str] = (), module: Any = None
) -> Any:
    """Return the object that :func:`saved_bytes` wrote."""
    return _loaded(io.BytesIO(content), "The saved model", wanted, trusted, module, _IN_PYTHON)


def load_object(
    path: str | os.PathLike[str],
    *,
    wanted: type | None = None,
    trusted: Iterable[str] = (),
    module: Any = None,
    wording: TrustWording = _IN_PYTHON,
) -> Any:
    """Return the object in a file.

    Parameters
    ----------
    path : str or Path
    wanted : class, optional
        The class that the object must have.
    trusted : iterable of str
        Full names of classes that may be loaded, besides those known to be safe.
    module : torch.nn.Module, optional
        Gets the weights of a saved torch module.
    wording : TrustWording
        How errors tell the user to trust a class.

    Raises
    ------
    ValueError
        In one line, if the file is of another version, damaged or forged, or needs ``trusted`` or
        ``module``.
    """
    name = os.fspath(path)  # a number would be an open file
    with open(name, "rb") as file:  # a missing file is an OSError
        return _loaded(file, repr(name), wanted, trusted, module, wording)


def _loaded(
    file: BinaryIO,
    source: str,
    wanted: type | None,
    trusted: Iterable[str],
    module: Any,
    wording: TrustWording,
) -> Any:
    names = _class_names(trusted)
    reader = None
    try:
        reader = ArtefactReader(file, source, names, module, wording)
        _check_wanted(reader.class_name, wanted, source)
        found = reader.root()
    except (RefusedFileError, ModuleMismatchError) as error:
        raise ValueError(str(error)) from error
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # a damaged file can fail in any way
        reason = shortened(printable(" ".join(str(error).split())) or type(error).__name__, 300)
        other = "" if reader is None or not reader.versions else f" It is from {reader.versions}."
        raise ValueError(
            f"{source} cannot be loaded: {reason.rstrip('.')}.{other} The file is damaged, or was "
            "not written by save(). Save the model again."
        ) from error
    if wanted is not None and not isinstance(found, wanted):
        raise ValueError(f"{source} holds {type(found).__name__}; {wanted.__name__} was expected.")
    return found


def _class_names(trusted: Iterable[str]) -> tuple[str, ...]:
    listed = isinstance(trusted, Iterable) and not isinstance(trusted, str | bytes)
    names = tuple(trusted) if listed else ()
    if not listed or not all(isinstance(name, str) for name in names):
        raise ValueError(
            f"trusted must be a list of full class names, such as ['package.module.Class']; got "
            f"{trusted!r}."
        )
    return names


def _check_wanted(held: str, wanted: type | None, source: str) -> None:
    """Refuse a file of another class of ours, and name the right method."""
    if wanted is None or held not in SAVED_CLASSES:
        return
    if held != f"{wanted.__module__}.{wanted.__qualname__}":
        public = SAVED_CLASSES[held]
        raise RefusedFileError(
            f"{source} holds a saved {public}; {wanted.__name__} was expected. Load it with "
            f"shafer.{public}.load."
        )


# The formats of stored objects, in the order in which they are tried.

_OWN_FORMATS: tuple[ObjectFormat, ...] = (
    StateFormat(),
    XGBoostFormat(),
    LightGBMFormat(),
    CatBoostFormat(),
    TorchFormat(),
    OnnxFormat(),
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
