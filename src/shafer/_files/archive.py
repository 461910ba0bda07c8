"""Reading zip archives that may be damaged or forged: limits come first, content second.

The size of everything is known from the archive's table of contents, so nothing is unpacked that
is out of proportion to the file itself.
"""

from __future__ import annotations

import math
import zipfile
from collections import Counter
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

# The most bytes that an archive may unpack to: _SMALL, and _MOST_TIMES its own size on top.
_SMALL = 16 * 2**20
_MOST_TIMES = 50
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_HEADERS = {
    (1, 0): npy_format.read_array_header_1_0,
    (2, 0): npy_format.read_array_header_2_0,
}


def open_archive(file: BinaryIO) -> zipfile.ZipFile:
    """Open a zip archive whose members have plain names and sizes in proportion to the file.

    Raises
    ------
    ValueError
        If the file is not a zip archive, or a member could do harm when it is read.
    """
    size = file.seek(0, 2)
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, OSError) as error:
        raise ValueError(f"it is not a complete zip archive ({error})") from error
    _check_members(archive.infolist(), size)
    return archive


def _check_members(members: list[zipfile.ZipInfo], size: int) -> None:
    for member in members:
        name = member.orig_filename
        parts = name.replace("\\", "/").split("/")
        if not name.isprintable() or ".." in parts or "" in parts or ":" in name:
            raise ValueError(f"its member {name!r} does not have a plain file name")
        if member.flag_bits & 0x1:
            raise ValueError(f"its member {name!r} is encrypted")
        if member.compress_type not in _METHODS:
            raise ValueError(
                f"its member {name!r} is compressed by another method than zip's usual one"
            )
    [(name, times)] = Counter(member.filename for member in members).most_common(1) or [("", 0)]
    if times > 1:
        raise ValueError(f"it has {times} members named {name!r}")
    total = sum(member.file_size for member in members)
    if total > _SMALL + _MOST_TIMES * size:
        raise ValueError(f"it would unpack to {total:,} bytes, far more than its {size:,} bytes")


def read_member(archive: zipfile.ZipFile, name: str, most: int | None = None) -> bytes:
    """Return the content of a member of at most ``most`` bytes."""
    try:
        size = archive.getinfo(name).file_size
    except KeyError as error:
        raise ValueError(f"it has no member {name!r}") from error
    if most is not None and size > most:
        raise ValueError(f"its member {name!r} has {size:,} bytes; at most {most:,} are accepted")
    try:
        return archive.read(name)
    except Exception as error:  # a damaged member can fail in any way
        raise ValueError(f"its member {name!r} is damaged ({error})") from error


def check_array(archive: zipfile.ZipFile, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the shape and dtype of a ``.npy`` member, checked to be plain and of the right size.

    Raises
    ------
    ValueError
        If the member is not a NumPy array, holds Python objects (a pickle), or announces another
        number of bytes than it has.
    """
    if name not in archive.NameToInfo:
        raise ValueError(f"it has no member {name!r}")
    try:
        with archive.open(name) as member:
            version = npy_format.read_magic(member)
            shape, _, dtype = _HEADERS[version](member)
            start = member.tell()
    except Exception as error:  # a damaged member can fail in any way
        raise ValueError(f"its member {name!r} is not a NumPy array") from error
    if dtype.hasobject or dtype.subdtype is not None:
        raise ValueError(f"its array {name!r} holds Python objects, which are not read")
    held = archive.getinfo(name).file_size - start
    if min(shape, default=0) < 0 or dtype.itemsize * math.prod(shape) != held:
        raise ValueError(f"its array {name!r} has {held:,} bytes, not those of shape {shape}")
    if dtype.itemsize == 0 and math.prod(shape) > 0:
        raise ValueError(f"its array {name!r} has elements of 0 bytes")
    return shape, dtype


def read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Return the array of a ``.npy`` member, after :func:`check_array`."""
    check_array(archive, name)
    try:
        with archive.open(name) as member:
            array: NDArray[Any] = npy_format.read_array(member, allow_pickle=False)
    except Exception as error:
        raise ValueError(f"its array {name!r} is damaged ({error})") from error
    return array
