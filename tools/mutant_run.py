"""Run the tests of one mutant in a copy of the tree."""

from __future__ import annotations

import enum
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from mutant_sites import Mutant, mutated

COPIED = ("src", "tests", "pyproject.toml")
# Folders that the tests of the folder above exercise, besides their own.
TESTED_BY = {"opinion": "decision"}
PYTEST = ("-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov")
SHORTEST_TIMEOUT = 60.0  # seconds
PATIENCE = 3  # a mutant may take this many times as long as the unchanged code
MEMORY = 12 * 2**30  # bytes of address space


class Outcome(enum.Enum):
    """How a mutant ended."""

    KILLED = "killed"
    TIMEOUT = "timeout"
    SURVIVED = "survived"


@dataclass
class Tree:
    """A copy of source and tests in which one file at a time is changed."""

    root: Path
    seconds: dict[str, float] = field(default_factory=dict)
    """How long the unchanged code takes, by folder."""

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

    def outcome(self, mutant: Mutant) -> Outcome:
        """Change the file, run the tests, and change the file back."""
        file = self.root / mutant.path
        folder = Path(mutant.path).parts[2]
        if folder not in self.seconds:
            self.seconds[folder] = self._baseline(folder)
        unchanged = file.read_text()
        timeout = max(SHORTEST_TIMEOUT, PATIENCE * self.seconds[folder])
        try:
            self._write(file, mutated(unchanged, mutant.number))
            code = self._pytest(folder, file.stem, timeout)
        finally:
            self._write(file, unchanged)
        if code is None:
            return Outcome.TIMEOUT
        if code in (4, 5):
            raise RuntimeError(f"pytest found no tests for {mutant.path} (exit code {code}).")
        return Outcome.SURVIVED if code == 0 else Outcome.KILLED

    def _baseline(self, folder: str) -> float:
        """Return how long the tests of a folder take on the unchanged code, which must pass."""
        started = time.monotonic()
        code = self._pytest(folder, "", None)
        if code != 0:
            raise RuntimeError(f"The tests of {folder} fail without any change. Mend them first.")
        return time.monotonic() - started

    def _write(self, file: Path, text: str) -> None:
        """Write a source and remove its bytecode, which Python keeps by size and whole second."""
        file.write_text(text)
        for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
            compiled.unlink()

    def _tests(self, folder: str, stem: str) -> list[str]:
        """Return the tests of a folder, the ones named after the file first."""
        folders = [self.root / "tests" / name for name in (folder, TESTED_BY.get(folder)) if name]
        named = [path for tests in folders for path in sorted(tests.rglob(f"test_{stem}.py"))]
        return [str(path.relative_to(self.root)) for path in [*named, *folders]]

    def _pytest(self, folder: str, stem: str, timeout: float | None) -> int | None:
        """Return the exit code of pytest, or None if it took too long."""
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *PYTEST, *self._tests(folder, stem)],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": str(self.root / "src"), "OMP_NUM_THREADS": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
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
