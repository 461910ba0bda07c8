"""What is known about the mutants of one version of the tree, on disk: a stopped run continues."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from covering_tests import CoveringTests, Trace, files_of, fingerprint
from mutant_run import Outcome, Tree
from mutant_sites import Mutant


class Records:
    """Which tests run each line, and the outcomes so far."""

    def __init__(self, store: Path, root: Path, folders: list[str]) -> None:
        self.home = store / fingerprint(root, folders)[:16]
        self.home.mkdir(parents=True, exist_ok=True)
        self.files = files_of(root, folders)
        self.lock = threading.Lock()
        self.outcomes: dict[str, list[str]] = {}
        if self._file.exists():
            self.outcomes = json.loads(self._file.read_text())

    @property
    def _file(self) -> Path:
        return self.home / "outcomes.json"

    def trace(self, file: str, tree: Tree, seconds: float) -> bool:
        """Run a test file without a change, unless that was done before; tell whether it ended."""
        lines, tests = self._trace(file)
        if not tests.exists():
            tree.trace(file, lines, tests, seconds)
        return tests.exists()

    def _trace(self, file: str) -> tuple[Path, Path]:
        name = file.removesuffix(".py").replace("/", ".")
        return self.home / f"{name}.coverage", self.home / f"{name}.json"

    def covering(self) -> CoveringTests:
        """Read which tests run each line, from the files traced so far."""
        traces = [self._trace(file) for file in self.files]
        return CoveringTests(tuple(Trace.read(*paths) for paths in traces if paths[1].exists()))

    def get(self, mutant: Mutant) -> str | None:
        """Return the known outcome of a mutant."""
        known = self.outcomes.get(f"{mutant.path}#{mutant.number}")
        return known and known[0]

    def put(self, mutant: Mutant, outcome: Outcome, killer: str | None = None) -> None:
        """Keep the outcome of a mutant, and the test that killed it."""
        with self.lock:
            self.outcomes[f"{mutant.path}#{mutant.number}"] = [outcome.value, killer or ""]
            self._file.write_text(json.dumps(self.outcomes, indent=0))
