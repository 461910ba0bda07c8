"""Reading a saved file: every part is checked, and nothing in it is run."""

from __future__ import annotations

import copy
import io
import json
import sys
import zipfile
from collections.abc import Collection
from typing import Any, BinaryIO, final

from numpy.typing import NDArray

from shafer._safe_archive import open_archive, read_array, read_member
from shafer._text import printable, shortened
from shafer.models.saving.artefact_writer import ARRAYS, DESCRIPTION, FORMAT, MODELS, VERSION
from shafer.models.saving.format_table import named_format
from shafer.models.saving.object_format import ObjectSource
from shafer.models.saving.skops_files.read_skops import read_skops
from shafer.models.saving.skops_files.trust_wording import TrustWording
from shafer.models.saving.stored_values import Json, read_value

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
        The class of the saved object, as the file has it.
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
        self._archive = _stored_archive(file)
        description = _description(self._archive)
        self._libraries = description.get("libraries")
        _check_version(description, source)
        self.class_name = str(description["class"])
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
        try:
            return read_skops(
                io.BytesIO(content), self._source, {*self._trusted, *also}, self._wording
            )
        except ValueError as error:  # it names the file
            raise RefusedFileError(str(error)) from error


def _stored_archive(file: BinaryIO) -> zipfile.ZipFile:
    archive = open_archive(file)
    # Archives in the archive have limits of their own, so compression must not multiply them.
    if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
        raise ValueError("a member of it is compressed, which save() does not do")
    return archive


def _description(archive: zipfile.ZipFile) -> dict[str, Json]:
    try:
        description = json.loads(read_member(archive, DESCRIPTION, most=_LARGEST_DESCRIPTION))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its {DESCRIPTION} is missing or damaged") from error
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise ValueError(f"its {DESCRIPTION} does not describe a saved model of shafer")
    return description


def _check_version(description: dict[str, Json], source: str) -> None:
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
