"""Writing files all or nothing: a reader never finds half of one."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_WAIT_FOR_READER = 20.0  # seconds


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Give a file to write to. Its content reaches ``path`` on success, and not at all on error.

    A new file gets the usual mode. An existing file keeps its mode and owner. A link stays a link,
    and the file it points to is replaced. A named pipe or a device stays what it is: the content is
    written to it once it is complete.
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{os.fspath(path)!r} is a folder. Give the name of a file.")
    if not target.resolve().parent.is_dir():  # or the error would name our temporary file
        raise FileNotFoundError(
            errno.ENOENT, "No such folder. Make it first", os.fspath(target.parent)
        )
    before = target.stat() if target.exists() else None
    if before is None or stat.S_ISREG(before.st_mode):
        with _beside(target.resolve(), before) as file:
            yield file
        return
    with tempfile.TemporaryFile() as whole:
        yield whole
        whole.seek(0)
        with _opened_special(target, before.st_mode) as special:
            shutil.copyfileobj(whole, special)


@contextmanager
def _beside(target: Path, before: os.stat_result | None) -> Iterator[BinaryIO]:
    """Write a file in the same folder, then move it into place."""
    temporary = target.with_name(f".shafer-{secrets.token_hex(8)}")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    # The mode is right before the first byte is written. The umask applies to new files.
    descriptor = os.open(temporary, flags, 0o666 if before is None else 0o600)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            if before is not None:
                _keep_access(temporary, file.fileno(), before)
            yield file
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _keep_access(path: Path, descriptor: int, before: os.stat_result) -> None:
    """Give a file the owner, group and mode of another, or fewer rights, never more."""
    mode = stat.S_IMODE(before.st_mode) & 0o777
    if sys.platform == "win32":
        path.chmod(mode)
        return
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.fchown(descriptor, before.st_uid, before.st_gid)
        except PermissionError:
            if now.st_gid != before.st_gid:
                mode &= ~0o070  # rights of the old group are not for another group
    os.fchmod(descriptor, mode)


def _opened_special(target: Path, mode: int) -> BinaryIO:
    """Open a device or a named pipe; wait some time for a pipe's reader."""
    if not stat.S_ISFIFO(mode):
        return target.open("wb")
    deadline = time.monotonic() + _WAIT_FOR_READER
    while True:
        try:
            descriptor = os.open(target, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() > deadline:
                raise OSError(
                    errno.ENXIO,
                    f"No program reads the named pipe {os.fspath(target)!r}. Start its reader "
                    "first",
                ) from None
            time.sleep(0.05)
        else:
            os.set_blocking(descriptor, True)
            return os.fdopen(descriptor, "wb")
