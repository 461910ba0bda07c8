"""Run the tests of one mutant in a copy of the tree."""

from __future__ import annotations

import enum
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from covering_tests import CoveringTests, test_folders
from mutant_sites import Mutant, mutated

COPIED = ("src", "tests", "pyproject.toml")
PYTEST = Path(__file__).with_name("mutant_pytest.py")
SHORTEST_TIMEOUT = 60.0  # seconds
PATIENCE = 3  # a mutant may take this many times as long as the unchanged code
# Memory has a limit of its own, so a killed process was killed by someone else.
STOPPING = {-number for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGKILL)}
LINES_SHOWN = 20  # of a log
MEMORY = 12 * 2**30  # bytes of address space


class Outcome(enum.Enum):
    """How a mutant ended."""

    KILLED = "killed"
    TIMEOUT = "timeout"
    SURVIVED = "survived"
    STOPPED = "stopped"
    """Its tests were ended from outside, so nothing is known about it."""


@dataclass(frozen=True)
class Tree:
    """A copy of source and tests in which one file at a time is changed."""

    root: Path

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

    def trace(self, folder: str, data: Path, seconds: Path) -> None:
        """Write which lines the tests of a folder run; without a change all of them must pass."""
        paths = [path for path in test_folders(folder) if (self.root / path).exists()]
        if self._pytest(None, "trace", str(data), str(seconds), *paths) != 0:
            shown = self._log.read_text().splitlines()[-LINES_SHOWN:]
            raise RuntimeError(
                "\n".join([f"The tests of {folder} fail without any change. Mend them.", *shown])
            )

    def outcome(self, mutant: Mutant, covering: CoveringTests) -> Outcome:
        """Change the file, run the tests that cover the change, and change the file back."""
        file, chosen = self.root / mutant.path, self.root / "chosen_tests.json"
        tests = covering.of(mutant)
        chosen.write_text(json.dumps(tests))
        unchanged = file.read_text()
        timeout = max(SHORTEST_TIMEOUT, PATIENCE * covering.duration(tests))
        try:
            self._write(file, mutated(unchanged, mutant.number))
            code = self._pytest(timeout, "run", str(chosen))
        finally:
            self._write(file, unchanged)
        if code is None:
            return Outcome.TIMEOUT
        if code in STOPPING:
            return Outcome.STOPPED
        if code == pytest.ExitCode.NO_TESTS_COLLECTED:
            raise RuntimeError(f"pytest found no tests for {mutant}.")
        return Outcome.SURVIVED if code == 0 else Outcome.KILLED

    def _write(self, file: Path, text: str) -> None:
        """Write a source and remove its bytecode, which Python keeps by size and whole second."""
        file.write_text(text)
        for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
            compiled.unlink()

    @property
    def _log(self) -> Path:
        return self.root / "pytest.log"

    def _pytest(self, timeout: float | None, *arguments: str) -> int | None:
        """Return the exit code of pytest, or None if it took too long."""
        with self._log.open("w") as log:
            process = subprocess.Popen(
                [sys.executable, PYTEST, *arguments],
                cwd=self.root,
                env={**os.environ, "PYTHONPATH": str(self.root / "src"), "OMP_NUM_THREADS": "1"},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        resource.prlimit(process.pid, resource.RLIMIT_AS, (MEMORY, MEMORY))
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
