"""Mutation testing: change the code in small ways and see whether the tests notice.

``make mutants`` samples mutants of the folders that hold the mathematics. Each runs against its
folder's own tests (``tests/<folder>``, stopping at the first failure) in a copy of the tree, so the
working tree is never touched. At the end it prints the score of every folder and each surviving
mutant as ``file:line  before → after``. A survivor needs a test, or the code is not needed, or a
line in ``explained_mutants.txt`` that gives the reason why both versions give the same results.

Outcomes are kept in ``out/mutants.json``. A run that was stopped continues there, as long as
neither source nor tests have changed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import queue
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from mutant_run import Outcome, Tree
from mutant_sites import Mutant, mutants_of

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("belief", "kernels", "opinion", "decision", "evidence", "fusion", "metrics")
EXCLUDED = ("triton_kernels.py",)  # needs a CUDA device
EXPLAINED = Path(__file__).with_name("explained_mutants.txt")


def all_mutants(folders: Iterable[str]) -> list[Mutant]:
    """List every mutant of the folders, in the order of files and lines."""
    return [
        mutant
        for folder in folders
        for path in sorted((ROOT / "src" / "shafer" / folder).rglob("*.py"))
        if path.name not in EXCLUDED
        for mutant in mutants_of(path.read_text(), path.relative_to(ROOT).as_posix())
    ]


def folder_of(mutant: Mutant) -> str:
    """Return the folder of src/shafer that a mutant belongs to."""
    return Path(mutant.path).parts[2]


def fingerprint() -> str:
    """Return a digest of all source and test files."""
    digest = hashlib.sha256()
    for path in sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py")]):
        digest.update(path.relative_to(ROOT).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def explanations() -> dict[tuple[str, str], str]:
    """Read why some mutants give the same results: lines of ``path | before → after | reason``."""
    lines = EXPLAINED.read_text().splitlines()
    entries = (line.split(" | ") for line in lines if line and not line.startswith("#"))
    return {(path, change): reason for path, change, reason in entries}


def reason_for(mutant: Mutant, reasons: dict[tuple[str, str], str]) -> str | None:
    """Return why a mutant gives the same results, if that is known."""
    for after in (mutant.after, "*"):
        reason = reasons.get((mutant.path, f"{mutant.before} → {after}"))
        if reason is not None:
            return reason
    return None


class Results:
    """The outcomes so far, on disk, so that a stopped run can continue."""

    def __init__(self, path: Path) -> None:
        self.path, self.tree = path, fingerprint()
        self.outcomes: dict[str, str] = {}
        if path.exists():
            stored = json.loads(path.read_text())
            if stored["tree"] == self.tree:
                self.outcomes = stored["outcomes"]

    def get(self, mutant: Mutant) -> str | None:
        """Return the known outcome of a mutant."""
        return self.outcomes.get(f"{mutant.path}#{mutant.number}")

    def put(self, mutant: Mutant, outcome: Outcome) -> None:
        """Keep the outcome of a mutant."""
        self.outcomes[f"{mutant.path}#{mutant.number}"] = outcome.value
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps({"tree": self.tree, "outcomes": self.outcomes}))


def run(chosen: list[Mutant], results: Results, workers: int, ends: float) -> None:
    """Run the mutants whose outcome is not known yet, until the time is up."""
    waiting: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
    for mutant in chosen:
        if results.get(mutant) is None:
            waiting.put(mutant)
    total, lock, started = waiting.qsize(), threading.Lock(), time.monotonic()
    done: list[Mutant] = []
    errors: list[BaseException] = []

    def work(folder: Path) -> None:
        try:
            tree = Tree.copy(ROOT, folder)
            while time.monotonic() < ends and not errors:
                mutant = waiting.get_nowait()
                outcome = tree.outcome(mutant)
                with lock:
                    results.put(mutant, outcome)
                    done.append(mutant)
                    spent = time.monotonic() - started
                    print(f"{len(done)}/{total} {spent:.0f} s  {outcome.value:8}  {mutant}")
                    sys.stdout.flush()
        except queue.Empty:
            return
        except BaseException as error:  # shown by the main thread
            errors.append(error)

    scratch = Path(tempfile.mkdtemp(prefix="shafer-mutants-"))
    try:
        threads = [
            threading.Thread(target=work, args=(scratch / str(number),))
            for number in range(min(workers, total))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if errors:
        raise errors[0]


def report(chosen: list[Mutant], results: Results) -> float:
    """Print the score of every folder and the survivors; return the share that was killed."""
    reasons = explanations()
    tried, killed, explained = Counter[str](), Counter[str](), Counter[str]()
    survivors = []
    for mutant in chosen:
        outcome, folder = results.get(mutant), folder_of(mutant)
        if outcome is None:
            continue
        tried[folder] += 1
        if outcome != Outcome.SURVIVED.value:
            killed[folder] += 1
            continue
        reason = reason_for(mutant, reasons)
        explained[folder] += reason is not None
        survivors.append(f"{mutant}" + (f"\n    same results: {reason}" if reason else ""))
    print(f"\n{'folder':10} {'tried':>6} {'killed':>7} {'share':>7} {'explained':>10}")
    for folder in [*tried, "all"]:
        counts = [c.total() if folder == "all" else c[folder] for c in (tried, killed, explained)]
        share = counts[1] / max(counts[0], 1)
        print(f"{folder:10} {counts[0]:6} {counts[1]:7} {share:7.1%} {counts[2]:10}")
    print("\nSurvivors:" if survivors else "\nNo survivors.")
    print("\n".join(survivors))
    if tried.total() < len(chosen):
        print(f"{len(chosen) - tried.total()} of {len(chosen)} mutants were not run: time is up.")
    return killed.total() / max(tried.total(), 1)


def main() -> int:
    """Sample, run and report; exit code 1 if fewer mutants die than asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", default=FOLDERS, help="folders of src/shafer")
    parser.add_argument("--count", type=int, default=200, help="how many mutants to sample")
    parser.add_argument("--seed", type=int, default=0, help="which sample")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="time budget")
    parser.add_argument("--at-least", type=float, default=0.85, help="share that must be killed")
    parser.add_argument("--results", type=Path, default=ROOT / "out" / "mutants.json")
    given = parser.parse_args()
    every = all_mutants(given.folders)
    chosen = random.Random(given.seed).sample(every, min(given.count, len(every)))
    print(f"{len(chosen)} of {len(every)} mutants, seed {given.seed}")
    results = Results(given.results)
    run(chosen, results, given.workers, time.monotonic() + 60 * given.minutes)
    return int(report(chosen, results) < given.at_least)


if __name__ == "__main__":
    sys.exit(main())
