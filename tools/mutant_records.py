"""What is known about the mutants of one folder, on disk, so that a stopped run can continue."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path

from covering_tests import CoveringTests, fingerprint
from mutant_run import Outcome, Tree
from mutant_sites import Mutant


class Records:
    """The tests that run each line, and the outcomes so far, of one version of a folder."""

    def __init__(self, store: Path, root: Path, folder: str) -> None:
        self.folder = folder
        self.home = store / folder / fingerprint(root, folder)[:16]
        self.lock = threading.Lock()
        self.outcomes: dict[str, str] = {}
        if self._file.exists():
            self.outcomes = json.loads(self._file.read_text())

    @property
    def _file(self) -> Path:
        return self.home / "outcomes.json"

    def trace(self, tree: Tree) -> None:
        """Run the folder's tests without a change, unless that was done before."""
        if self._seconds.exists():
            return
        shutil.rmtree(self.home.parent, ignore_errors=True)  # other versions
        self.home.mkdir(parents=True)
        tree.trace(self.folder, self._data, self._seconds)

    @property
    def _data(self) -> Path:
        return self.home / "lines.coverage"

    @property
    def _seconds(self) -> Path:
        return self.home / "seconds.json"

    def covering(self) -> CoveringTests:
        """Read which tests run each line."""
        return CoveringTests.read(self._data, self._seconds)

    def get(self, mutant: Mutant) -> str | None:
        """Return the known outcome of a mutant."""
        return self.outcomes.get(f"{mutant.path}#{mutant.number}")

    def put(self, mutant: Mutant, outcome: Outcome) -> None:
        """Keep the outcome of a mutant."""
        with self.lock:
            self.outcomes[f"{mutant.path}#{mutant.number}"] = outcome.value
            self._file.write_text(json.dumps(self.outcomes))
