"""Run the tests of one mutant in a copy of the tree."""

from __future__ import annotations

import contextlib
import enum
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pytest
from covering_tests import CoveringTests
from mutant_pytest import HEAVY
from mutant_sites import Mutant, mutated

COPIED = ("src", "tests", "pyproject.toml")
SERVER = Path(__file__).with_name("mutant_pytest.py")
SHORTEST_TIMEOUT = 60.0  # seconds
PATIENCE = 3  # a mutant may take this many times as long as the unchanged code
COMPILING = 120.0  # seconds more, for a mutant of compiled code
FIRST = 5.0  # seconds of tests to try before all the others are collected
# Memory has a limit of its own, so a killed process was killed by someone else.
STOPPING = {-number for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGKILL)}
# One thread for each worker. SciPy reads SCIPY_ARRAY_API when it is imported, before the tests.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "PASSIVE",
    "SCIPY_ARRAY_API": "1",
    "MPLBACKEND": "agg",
    "CUDA_VISIBLE_DEVICES": "",
    "COVERAGE_CORE": "ctrace",
    "PYTHONDONTWRITEBYTECODE": "",
}


class Outcome(enum.Enum):
    """How a mutant ended."""

    KILLED = "killed"
    TIMEOUT = "timeout"
    SURVIVED = "survived"
    STOPPED = "stopped"
    """Its tests were ended from outside, so nothing is known about it."""


class Ended(NamedTuple):
    """The outcome of a mutant, and the test that failed."""

    outcome: Outcome
    killer: str | None = None


class Server:
    """A process that has imported what tests need, and forks for each run."""

    def __init__(self, heavy: Sequence[str] = HEAVY) -> None:
        self._heavy = heavy
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = b""

    def run(self, request: dict[str, object], timeout: float) -> int | None:
        """Return the exit code of the fork, or None if it took too long."""
        server = self._started()
        assert server.stdin is not None
        server.stdin.write(json.dumps(request).encode() + b"\n")
        server.stdin.flush()
        child = int(self._line(None))
        line = self._line(timeout)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)  # the child, if late, and what it started
        if line:
            return int(line)
        self._line(None)
        return None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._unread = b""
            self._process = subprocess.Popen(
                [sys.executable, str(SERVER), *self._heavy],
                env={**os.environ, **ENVIRONMENT},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        return self._process

    def _line(self, timeout: float | None) -> str:
        """Read a line of the server's answer; it is empty if the time is up."""
        assert self._process is not None
        assert self._process.stdout is not None
        ends = None if timeout is None else time.monotonic() + timeout
        while b"\n" not in self._unread:
            left = None if ends is None else max(ends - time.monotonic(), 0.0)
            if not select.select([self._process.stdout], [], [], left)[0]:
                return ""
            read = os.read(self._process.stdout.fileno(), 4096)
            if not read:
                raise RuntimeError("The process that runs the tests has ended.")
            self._unread += read
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


@dataclass(frozen=True)
class Tree:
    """A copy of source and tests in which one file at a time is changed."""

    root: Path
    server: Server = field(default_factory=Server)

    @classmethod
    def copy(cls, original: Path, root: Path) -> Tree:
        """Copy what the tests need."""
        root.mkdir(parents=True)
        for name in COPIED:
            source = original / name
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, root / name, ignore=ignored)
            else:
                shutil.copy(source, root / name)
        return cls(root)

    def trace(self, file: str, lines: Path, tests: Path, seconds: float) -> None:
        """Write which lines the tests of a file run, as far as the time allows.

        Tests that fail or are skipped, because a package is missing, are left out.
        """
        written = self.root / "traced.json"
        written.unlink(missing_ok=True)
        lines.unlink(missing_ok=True)
        self._pytest(2 * seconds + 30, "trace", str(lines), str(written), str(seconds), file)
        if written.exists():
            shutil.move(written, tests)

    def outcome(self, mutant: Mutant, covering: CoveringTests, ends: float = float("inf")) -> Ended:
        """Change the file, run the tests that cover the change, and change the file back.

        A test that fails has to pass, after the same tests, without the change. One that does
        not is left out.
        """
        tests = covering.of(mutant)
        if not tests:
            return Ended(Outcome.SURVIVED)
        short = [test for test in tests if covering.duration(tests[: tests.index(test)]) < FIRST]
        for stage in filter(None, (short, tests[len(short) :])):
            ended = self.stage(mutant, stage, covering.duration, ends)
            if ended.outcome is not Outcome.SURVIVED:
                return ended
        return Ended(Outcome.SURVIVED)

    def stage(
        self,
        mutant: Mutant,
        tests: list[str],
        duration: Callable[[list[str]], float],
        ends: float = float("inf"),
    ) -> Ended:
        """Run tests up to the first failure that does not occur without the change."""
        left, compiled = list(tests), "/compiled/" in mutant.path
        while left:
            timeout = max(SHORTEST_TIMEOUT, PATIENCE * duration(left)) + COMPILING * compiled
            allowed = min(timeout, ends - time.monotonic())
            with self._changed(mutant):
                code, failed = self._run(left, allowed, "numba-mutant" if compiled else "numba")
            if code is None:
                return Ended(Outcome.TIMEOUT if allowed == timeout else Outcome.STOPPED)
            if code in STOPPING:
                return Ended(Outcome.STOPPED)
            if code == pytest.ExitCode.NO_TESTS_COLLECTED:
                raise RuntimeError(f"pytest found no tests for {mutant}.")
            if code == 0:
                return Ended(Outcome.SURVIVED)
            up_to = left[: left.index(failed) + 1] if failed in left else left
            code, failed_again = self._run(up_to, timeout + COMPILING, "numba")
            if code == 0:
                return Ended(Outcome.KILLED, failed)
            if failed_again not in left:
                return Ended(Outcome.STOPPED)
            left.remove(failed_again)
        return Ended(Outcome.SURVIVED)

    def _run(self, tests: list[str], timeout: float, cache: str) -> tuple[int | None, str | None]:
        """Return the exit code of pytest, and the test that failed."""
        chosen, failed = self.root / "chosen.json", self.root / "failed.json"
        chosen.write_text(json.dumps(tests))
        failed.unlink(missing_ok=True)
        if cache != "numba":
            # Code of other files is compiled into callers; their cache does not know that.
            shutil.rmtree(self.root / cache, ignore_errors=True)
        code = self._pytest(timeout, "run", str(chosen), str(failed), cache=cache)
        return code, json.loads(failed.read_text()) if failed.exists() else None

    def _changed(self, mutant: Mutant) -> _Changed:
        return _Changed(self.root / mutant.path, mutant.number)

    def _pytest(self, timeout: float, *arguments: str, cache: str = "numba") -> int | None:
        """Return the exit code of pytest, or None if it took too long."""
        if timeout <= 0:
            return None
        scratch = self.root / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        path = [str(self.root / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        request: dict[str, object] = {
            "arguments": arguments,
            "root": str(self.root),
            "log": str(self.root / "pytest.log"),
            "environment": {
                "PYTHONPATH": os.pathsep.join(path),
                "NUMBA_CACHE_DIR": str(self.root / cache),
                "TMPDIR": str(scratch),
            },
        }
        return self.server.run(request, timeout)


@dataclass
class _Changed:
    """A file that is changed for a while. Compiled code belongs to the time of its last change."""

    file: Path
    number: int

    def __enter__(self) -> None:
        self.unchanged, self.stat = self.file.read_text(), self.file.stat()
        self._write(mutated(self.unchanged, self.number))

    def __exit__(self, *_: object) -> None:
        self._write(self.unchanged)
        os.utime(self.file, ns=(self.stat.st_atime_ns, self.stat.st_mtime_ns))

    def _write(self, text: str) -> None:
        """Write a source and remove its bytecode, which Python keeps by size and whole second."""
        self.file.write_text(text)
        for compiled in (self.file.parent / "__pycache__").glob(f"{self.file.stem}.*.pyc"):
            compiled.unlink()
