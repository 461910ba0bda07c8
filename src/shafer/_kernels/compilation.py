"""Compiled kernels on disk, and whether one may be compiled now. Needs no numba.

numba has a cache of its own. It refuses to work where it cannot write, so a read-only folder that
was filled before is of no use to it, and a full disk is an error. Here reading and writing are
apart: kernels are read from every folder, and written to the first that takes them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import sys
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent
_SOURCES = ("compiled/numba_*.py", "arithmetic.py", "pooling.py", "trees.py")
_ENDING = ".kernel"


class NotCompiledError(RuntimeError):
    """A kernel is not on disk, and to compile it would take longer than to do without."""


class UnusableError(RuntimeError):
    """numba is installed, but does not compile here; the message says why."""


# May a kernel be compiled?


@dataclass
class Permission:
    """Whether to compile what is not on disk, and what was compiled.

    Attributes
    ----------
    granted : bool
    compiled : list of str
        The kernels that were compiled.
    stored : list of Path
        The files that were written.
    """

    granted: bool = True
    compiled: list[str] = field(default_factory=list)
    stored: list[Path] = field(default_factory=list)


_PERMISSION: ContextVar[Permission | None] = ContextVar("permission to compile", default=None)


@contextlib.contextmanager
def permission(granted: bool) -> Iterator[Permission]:
    """Let kernels be compiled meanwhile, or raise ``NotCompiledError`` instead."""
    given = Permission(granted)
    token = _PERMISSION.set(given)
    try:
        yield given
    finally:
        _PERMISSION.reset(token)


def ask_to_compile(name: str) -> None:
    """Raise ``NotCompiledError`` unless a kernel may be compiled; without a rule it may."""
    given = _PERMISSION.get()
    if given is None:
        return
    if not given.granted:
        raise NotCompiledError(name)
    given.compiled.append(name)


# Where they are kept.


def folders() -> list[Path]:
    """Return the folders for compiled kernels: that of the user's choice, ours, the user's own."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    found = [Path(chosen, "shafer")] if chosen else []
    return [*found, _HERE / "compiled" / "__pycache__", *_own_folder()]


def _own_folder() -> list[Path]:
    """Return the user's cache. Nobody else may have written it: its content is run."""
    try:
        home = Path.home()
    except RuntimeError:  # a user without a home
        return []
    if sys.platform == "win32":
        place = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        place = home / "Library" / "Caches"
    else:
        place = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    folder = place / "shafer"
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            held = folder.lstat()
            if held.st_uid not in (0, os.geteuid()) or held.st_mode & 0o002:
                return []
    return [folder]


@cache
def source_stamp() -> str:
    """Return a digest of all code that is compiled: a kernel may contain any of it."""
    found = hashlib.sha256()
    for pattern in _SOURCES:
        for path in sorted(_HERE.glob(pattern)):
            found.update(path.read_bytes())
    return found.hexdigest()[:16]


def is_any_stored() -> bool:
    """Tell whether a folder has kernels of this version of the code."""
    return any(any(_stored(folder)) for folder in folders())


def _stored(folder: Path) -> list[Path]:
    try:
        return list(folder.glob(f"{source_stamp()}-*{_ENDING}"))
    except OSError:
        return []


def _file(name: str) -> str:
    return f"{source_stamp()}-{name}{_ENDING}"


def stored_kernel(name: str) -> bytes | None:
    """Return a compiled kernel; None if no folder has it whole."""
    for folder in folders():
        try:
            held = (folder / _file(name)).read_bytes()
        except OSError:
            continue
        if hashlib.sha256(held[32:]).digest() == held[:32]:
            return held[32:]
    return None


def store_kernel(name: str, content: bytes) -> Path | None:
    """Keep a compiled kernel in the first folder that takes it, and return its path.

    If none does, warn once, and return None.
    """
    problem: OSError | None = None
    for folder in folders():
        path = folder / _file(name)
        unfinished = path.with_name(f".{secrets.token_hex(8)}{_ENDING}")
        try:
            folder.mkdir(mode=0o755, parents=True, exist_ok=True)
            try:
                unfinished.write_bytes(hashlib.sha256(content).digest() + content)
                unfinished.replace(path)
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise
        except OSError as error:
            problem = problem or error
        else:
            asked = _PERMISSION.get()
            if asked is not None:
                asked.stored.append(path)
            return path
    _warn_not_stored(str(problem))
    return None


def remove_older() -> None:
    """Remove kernels of other versions of the code from the folders that can be written."""
    current = {path for folder in folders() for path in _stored(folder)}
    for folder in folders():
        with contextlib.suppress(OSError):
            for path in folder.glob(f"*{_ENDING}"):
                if path not in current:
                    path.unlink(missing_ok=True)


@cache
def _warn_not_stored(reason: str) -> None:
    warnings.warn(
        f"A compiled kernel cannot be kept on disk ({reason}). Each process compiles again, which "
        "takes seconds. Run `shafer warmup` where the folder of shafer can be written, or set "
        "NUMBA_CACHE_DIR to a folder that can be.",
        RuntimeWarning,
        stacklevel=2,
    )


@cache
def warn_unusable(reason: str) -> None:
    """Say once that NumPy does the work instead."""
    warnings.warn(
        f"numba is installed, but compiled kernels cannot be used: {reason}. NumPy computes the "
        "same numbers, and takes longer.",
        RuntimeWarning,
        stacklevel=2,
    )
