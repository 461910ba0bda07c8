"""Run another process that may write nowhere but where all may: as in a hardened container."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

NOBODY = 65534
_OVERRIDES = (1, 2, 3)  # of Linux: write anywhere, read anywhere, change any mode
_DROP_FROM_BOUNDING_SET = 24


def without_rights() -> dict[str, Any]:
    """Return arguments of ``subprocess.run`` that take the rights of the superuser away.

    The process runs as nobody. Where nobody may not read the interpreter, as in a home folder, it
    keeps its name, and loses what lets the superuser write to folders that are read-only.
    """
    if os.geteuid() != 0:
        return {}
    needed = [Path(name) for name in (sys.executable, sys.prefix, sys.base_prefix, np.__file__)]
    above = {folder for path in needed for folder in path.resolve().parents}
    above |= {folder for path in needed for folder in path.absolute().parents}
    if all(folder.stat().st_mode & 0o001 for folder in above):
        return {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    return {"preexec_fn": _lose_overrides}


def _lose_overrides() -> None:
    system = ctypes.CDLL(None, use_errno=True)
    for number in _OVERRIDES:
        if system.prctl(_DROP_FROM_BOUNDING_SET, number, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


def run_without_rights(
    command: Sequence[str], folder: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, without rights and without a home, and return what it printed."""
    kept = {name: os.environ[name] for name in ("PATH", "OMP_NUM_THREADS") if name in os.environ}
    return subprocess.run(
        command,
        env={
            **kept,
            "HOME": str(folder / "no home"),
            "PYTHONDONTWRITEBYTECODE": "1",
            **environment,
        },
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **without_rights(),
    )


def close_to_all(folder: Path) -> None:
    """Let everyone read a folder and what is in it, and nobody write."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)


def reopen(folder: Path) -> None:
    """Let the owner write again, so that the folder can be removed."""
    folder.chmod(0o755)
    for path in folder.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)
