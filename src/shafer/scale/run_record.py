"""``RunRecord``: a JSON file about one run of a command, for those who must account for it."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import click

import shafer
from shafer._files.atomic import replacing
from shafer._terminal import writing
from shafer.scale.plan import file_digest

if TYPE_CHECKING:
    from shafer.scale.folder import Written

RUN = "_run.json"
_LIBRARIES = (
    "numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "numba", "xgboost", "lightgbm",
    "catboost", "torch", "distributed", "pyspark", "ray",
)  # fmt: skip


@final
class RunRecord:
    """What was run, on what, with what result.

    Parameters
    ----------
    path : Path, optional
        The file to write, also if the command is refused.
    command : str
    data, out : Path
    """

    def __init__(self, path: Path | None, command: str, data: Path, out: Path) -> None:
        self._path, self._data, self._out = path, data, out
        self._start = time.monotonic()
        self._found: dict[str, Any] = {
            "format": 1,
            "command": command,
            "started": _now(),
            "data": str(data),
            "out": str(out),
            "versions": versions(),
        }

    def begin(
        self, contents: Mapping[str, Path | None], options: Mapping[str, Any], engine: str | None
    ) -> None:
        """Note what is asked for."""
        given = {name: path for name, path in contents.items() if path is not None}
        self._found["files"] = {name: _described(path) for name, path in given.items()}
        self._found["options"] = {name: value for name, value in options.items() if value}
        self._found["engine"] = engine

    def done(self, written: Written) -> dict[str, Any]:
        """Note the result, write the file, and return what it says."""
        from shafer.scale.folder import input_files

        files, asked, whole = input_files(self._data), self._path is not None, self._out.is_dir()
        if whole:
            known = {part.name: part.sha256 for part in written.parts}
            outputs = [_described(self._out / name, known=text) for name, text in known.items()]
        else:
            outputs = [_described(self._out, digest=asked)]
        self._ended("done", 1 if written.bad else 0)
        self._found |= {
            "rows": written.rows,
            "bad_rows": written.bad,
            "quarantine": None if written.side is None else str(written.side),
            "parts": len(written.parts),
            "kept_parts": written.kept,
            "inputs": [_described(path, digest=asked) for path in files],
            "outputs": outputs,
        }
        if whole and not (written.kept == len(outputs) and (self._out / RUN).exists()):
            self._write(self._out / RUN)
        self._write(self._path)
        return self._found

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Write the file if the command is refused, too."""
        try:
            yield
        except click.ClickException as error:
            self._ended("error", error.exit_code)
            self._found["message"] = error.format_message()
            self._write(self._path)
            raise

    def _ended(self, status: str, exit_code: int) -> None:
        seconds = round(time.monotonic() - self._start, 3)
        self._found |= {
            "status": status, "exit_code": exit_code, "ended": _now(), "seconds": seconds,
        }  # fmt: skip

    def _write(self, path: Path | None) -> None:
        if path is None:
            return
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as file:
                text = json.dumps(self._found, indent=1, default=str, allow_nan=False)
                file.write(text.encode())


def versions() -> dict[str, str]:
    """Return the versions of Python, of this library and of those that rows pass through."""
    found = {"shafer": shafer.__version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _described(path: Path, *, digest: bool = True, known: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {"path": str(path), "bytes": path.stat().st_size}
    return found | ({"sha256": known or file_digest(path)} if digest else {})
