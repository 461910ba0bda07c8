"""Which tests a mutant has to pass: the tests of its folder that run the changed line."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import coverage
from mutant_pytest import module_of
from mutant_sites import Mutant

# Folders that the tests of another folder exercise, besides their own.
TESTED_BY = {"_masses": "decision"}
AT_IMPORT = ""  # what coverage calls the time before the first test


@dataclass(frozen=True)
class CoveringTests:
    """The tests of one folder, how long each takes, and the lines that each runs."""

    seconds: dict[str, float]
    lines: coverage.CoverageData

    @classmethod
    def read(cls, data: Path, seconds: Path) -> CoveringTests:
        """Read the two files that tracing writes."""
        lines = coverage.CoverageData(str(data))
        lines.read()
        return cls(json.loads(seconds.read_text()), lines)

    def of(self, mutant: Mutant) -> list[str]:
        """List the tests to run, those of the file's own test module first, then the shortest.

        All tests of the folder follow for a line that runs when the file is imported, and for one
        that no test is seen to run: compiled code, other processes.
        """
        by_line = self.lines.contexts_by_lineno(mutant.path)
        contexts = {context for line in mutant.lines for context in by_line.get(line, ())}
        covering = {test for test in self.seconds if contexts & {test, module_of(test)}}
        everything = AT_IMPORT in contexts or not covering
        own = f"test_{Path(mutant.path).stem}.py"

        def place(test: str) -> tuple[bool, bool, float]:
            return (Path(module_of(test)).name != own, test not in covering, self.seconds[test])

        return sorted(self.seconds if everything else covering, key=place)

    def duration(self, tests: list[str]) -> float:
        """Return how long tests take on the unchanged code, in seconds."""
        return sum(self.seconds[test] for test in tests)


def folder_of(mutant: Mutant) -> str:
    """Return the folder of src/shafer that a mutant belongs to."""
    return Path(mutant.path).parts[2]


def test_folders(folder: str) -> list[str]:
    """Return where the tests of a folder are."""
    names = [name for name in (folder, TESTED_BY.get(folder)) if name]
    return [f"tests/{name.removeprefix('_')}" for name in names]


def fingerprint(root: Path, folder: str) -> str:
    """Return a digest of all source files and the tests of a folder."""
    patterns = ["src/**/*.py", "tests/*.py", *(f"{tests}/**/*" for tests in test_folders(folder))]
    files = {file for pattern in patterns for file in root.glob(pattern) if file.is_file()}
    digest = hashlib.sha256()
    for file in sorted(file for file in files if "__pycache__" not in file.parts):
        digest.update(file.relative_to(root).as_posix().encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()
