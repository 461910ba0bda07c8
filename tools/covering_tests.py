"""Which tests a mutant has to pass: those that run the changed line."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from coverage.numbits import num_in_numbits
from mutant_pytest import module_of
from mutant_sites import Mutant

FILES = "files of the package"  # modules that lie in no folder
# Where the tests of a folder are, if not in the folder of its name alone.
TESTED_BY = {
    FILES: (".", "evidence", "labels", "rows", "scale"),
    "_checks": ("labels", "rows", "evidence", "explain"),
    "_files": ("saving", "scale", "monitor", "evidence"),
    "_kernels": ("kernels", "masses"),
    "_masses": ("masses", "decision"),
    "explain": ("explain", "labels"),
    "export": ("export", "saving"),
    "models": ("models", "saving"),
    "rows": ("rows", "scale"),
    "scale": ("scale", "cli"),
}
AT_IMPORT = ""  # what coverage calls the time before the first test
# The tests of one mutant end here, in seconds on the unchanged code. They start with its own.
LONGEST = 150.0


@dataclass(frozen=True)
class Trace:
    """What tracing wrote about one test file: the seconds of each test, and the lines it runs."""

    seconds: dict[str, float]
    left_out: dict[str, str]
    """Tests that do not pass on the unchanged code, and how they end."""
    lines: Path

    @classmethod
    def read(cls, lines: Path, tests: Path) -> Trace:
        """Read the two files that tracing writes."""
        found = json.loads(tests.read_text())
        return cls(found["seconds"], found["left_out"], lines)

    def contexts(self, path: str, lines: Iterable[int]) -> set[str]:
        """Return the tests, or modules for their fixtures, that run one of the lines of a file."""
        database = sqlite3.connect(f"file:{self.lines}?mode=ro", uri=True)
        try:
            rows = database.execute(
                "SELECT context.context, numbits FROM line_bits"
                " JOIN file ON file.id = line_bits.file_id"
                " JOIN context ON context.id = line_bits.context_id WHERE file.path = ?",
                (path,),
            ).fetchall()
        finally:
            database.close()
        return {name for name, bits in rows if any(num_in_numbits(n, bits) for n in lines)}


@dataclass(frozen=True)
class CoveringTests:
    """All tests that were traced."""

    traces: tuple[Trace, ...]

    @cached_property
    def seconds(self) -> dict[str, float]:
        """How long each test takes."""
        return {test: time for trace in self.traces for test, time in trace.seconds.items()}

    @cached_property
    def left_out(self) -> dict[str, str]:
        """Return the tests that do not pass on the unchanged code, and how they end."""
        return {test: how for trace in self.traces for test, how in trace.left_out.items()}

    def of(self, mutant: Mutant, longest: float = LONGEST) -> list[str]:
        """List the tests to run: the file's own test module first, then its folders', then others.

        Within a module the shortest come first, and a module with little to run comes before
        one with much. Tests of one module stay together, because they share fixtures.

        All tests of the folder are taken for a line that runs when the file is imported, and for
        one that no test is seen to run: compiled code, other processes. Those that run some line
        of the file come first.
        """
        covering = self._running(mutant.path, mutant.lines)
        if mutant.at_import or AT_IMPORT in covering or not covering:
            covering = self._running(mutant.path, range(1, 100_000))
            homes = tuple(f"{home}/" for home in homes_of(folder_of(mutant)))
            covering.discard(AT_IMPORT)
            chosen = {test for test in self.seconds if test.startswith(homes)} | covering
        else:
            chosen = covering
        return self._in_order(mutant, chosen, covering, longest)

    def _running(self, path: str, lines: range) -> set[str]:
        found: set[str] = set()
        for trace in self.traces:
            contexts = trace.contexts(path, lines)
            found |= {test for test in trace.seconds if contexts & {test, module_of(test)}}
            found |= contexts & {AT_IMPORT}
        return found

    def _in_order(
        self, mutant: Mutant, chosen: set[str], covering: set[str], longest: float
    ) -> list[str]:
        own = f"test_{Path(mutant.path).stem.strip('_')}.py"
        homes = tuple(f"{home}/" for home in homes_of(folder_of(mutant)))
        work: dict[str, float] = {}
        for test in chosen:
            work[module_of(test)] = work.get(module_of(test), 0.0) + self.seconds[test]

        def place(test: str) -> tuple[bool, bool, bool, float, str, float]:
            module = module_of(test)
            return (
                Path(module).name != own,
                test not in covering,
                not module.startswith(homes),
                work[module],
                module,
                self.seconds[test],
            )

        kept, total = [], 0.0
        for test in sorted(chosen, key=place):
            total += self.seconds[test]
            if kept and total > longest:
                break
            kept.append(test)
        return kept

    def duration(self, tests: list[str]) -> float:
        """Return how long tests take on the unchanged code, in seconds."""
        return sum(self.seconds[test] for test in tests)


def folder_of(mutant: Mutant) -> str:
    """Return the folder of src/shafer that a mutant belongs to."""
    parts = Path(mutant.path).parts
    return parts[2] if len(parts) > 3 else FILES


def homes_of(folder: str) -> list[str]:
    """Return where the tests of a folder are."""
    names = TESTED_BY.get(folder, (folder.removeprefix("_"),))
    return ["tests" if name == "." else f"tests/{name}" for name in names]


def files_of(root: Path, folders: Iterable[str]) -> list[str]:
    """List the test files of some folders of the package, the longest first."""
    homes = {home for folder in folders for home in homes_of(folder)}
    files = [
        file
        for home in homes
        for file in (root / home).glob("test_*.py" if home == "tests" else "**/test_*.py")
    ]
    longest_first = sorted(set(files), key=lambda file: (-file.stat().st_size, file))
    return [file.relative_to(root).as_posix() for file in longest_first]


def fingerprint(root: Path, folders: Iterable[str]) -> str:
    """Return a digest of all source files and tests, and of what is traced."""
    files = {file for pattern in ("src/**/*.py", "tests/**/*") for file in root.glob(pattern)}
    digest = hashlib.sha256(json.dumps(files_of(root, folders)).encode())
    for file in sorted(file for file in files if file.is_file()):
        if "__pycache__" not in file.parts:
            digest.update(file.relative_to(root).as_posix().encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()
