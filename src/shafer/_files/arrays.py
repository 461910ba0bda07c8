"""Files of plain arrays and a JSON header (``.npz``): nothing is pickled, everything is checked.

The header holds the format, with its version, and a checksum of everything else.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from typing import Any, BinaryIO, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from shafer._files.archive import open_archive, read_array
from shafer._files.atomic import replacing
from shafer._files.codec import StoredFormat
from shafer._text import printable, shortened

Arrays: TypeAlias = dict[str, NDArray[Any]]
Header: TypeAlias = dict[str, Any]
_Content = TypeVar("_Content")


class _OtherFormatError(Exception):
    """The file has a format of another version."""


def write_array_file(path: str | os.PathLike[str], header: Header, arrays: Arrays) -> None:
    """Write a header with a ``format``, and arrays, all or nothing."""
    header = {**header, "checksum": _checksum(header, arrays)}
    with replacing(path) as file:
        np.savez(file, allow_pickle=False, header=np.asarray(json.dumps(header)), **arrays)


def read_array_file(
    path: str | os.PathLike[str],
    format_: StoredFormat,
    understood: Callable[[Header, Arrays], _Content],
    writer: str,
    what: str,
) -> _Content:
    """Read a file that :func:`write_array_file` wrote.

    Parameters
    ----------
    path : str or Path
    format_ : StoredFormat
        The format that is read; the header that is understood is without it.
    understood : function of header and arrays
        Makes the content. Any error in it means that the file is damaged.
    writer, what : str
        For the error: the method that writes such files, and what it saves.

    Raises
    ------
    ValueError
        In one line, if the file is of another format, damaged or forged.
    """
    with open(path, "rb") as file:  # a missing file is an OSError
        try:
            return understood(*_read(file, format_))
        except _OtherFormatError as error:
            raise ValueError(f"{os.fspath(path)!r} {error}") from None
        except MemoryError:
            raise
        except Exception as error:  # a damaged file can fail in any way
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ValueError(
                f"{os.fspath(path)!r} is not a file written by {writer}, or is damaged: "
                f"{shortened(printable(reason), 200)}. Save {what} again."
            ) from error


def _checksum(header: Header, arrays: Arrays) -> str:
    """Return the SHA-256 of the header, and of the names, types, shapes and bytes of all arrays."""
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(repr((name, array.dtype.str, array.shape)).encode())
        if array.size:
            digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _read(file: BinaryIO, format_: StoredFormat) -> tuple[Header, Arrays]:
    with open_archive(file) as archive:
        arrays = {
            name.removesuffix(".npy"): read_array(archive, name) for name in archive.namelist()
        }
    header = json.loads(str(arrays.pop("header", "null")))
    if not isinstance(header, dict):
        raise ValueError("it has no header")
    completed = format_.completed(header)
    if completed.get("format") != format_.current:
        found = shortened(repr(header.get("format")))
        raise _OtherFormatError(
            f"has format {found}; {format_.current!r} is needed here. It is another kind of file, "
            "or comes from another version of shafer. Update shafer, or load it with the method "
            "that belongs to the one that saved it."
        )
    checksum = header.pop("checksum", None)
    if checksum is not None and checksum != _checksum(header, arrays):
        raise ValueError("its content does not match its checksum")
    told = ("format", "checksum")
    return {name: value for name, value in completed.items() if name not in told}, arrays
