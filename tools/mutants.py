"""Mutation testing: change the code in small ways and see whether the tests notice.

``make mutants`` samples mutants of the folders that hold the mathematics. The tests of each folder
(``tests/<folder>``) run once, to learn which of them run each line. Then every mutant runs against
those that run its line, up to the first failure. This happens in a copy of the tree, so the working
tree is never touched. At the end it prints the score of every folder and each surviving mutant as
``file:line  before → after``. A survivor needs a test, or the code is not needed, or a line in
``explained_mutants.txt`` that gives the reason why both versions give the same results.

Outcomes are kept in ``out/mutants``, by folder, as long as neither source nor the folder's tests
have changed. A run that was stopped continues there.
"""

from __future__ import annotations

import argparse
import itertools
import os
import queue
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from covering_tests import folder_of
from mutant_records import Records
from mutant_run import Outcome, Tree
from mutant_sites import Mutant, mutants_of

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (
    "belief",
    "_kernels",
    "_masses",
    "conformal",
    "decision",
    "evidence",
    "fusion",
    "metrics",
)
EXCLUDED = ("triton_kernels.py", "triton_located.py")  # need a CUDA device
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


@contextmanager
def copies(count: int) -> Iterator[queue.SimpleQueue[Tree]]:
    """Copy the tree for each worker; the copies are gone afterwards."""
    trees: queue.SimpleQueue[Tree] = queue.SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="shafer-mutants-") as scratch:
        for number in range(count):
            trees.put(Tree.copy(ROOT, Path(scratch) / str(number)))
        yield trees


@contextmanager
def borrowed(trees: queue.SimpleQueue[Tree]) -> Iterator[Tree]:
    """Take one of the copies, and give it back in the end."""
    tree = trees.get()
    try:
        yield tree
    finally:
        trees.put(tree)


def run(chosen: list[Mutant], records: dict[str, Records], workers: int, ends: float) -> None:
    """Run the mutants whose outcome is not known yet, until the time is up."""
    waiting = [mutant for mutant in chosen if records[folder_of(mutant)].get(mutant) is None]
    done, started = itertools.count(1), time.monotonic()

    def trace(folder: str) -> None:
        with borrowed(trees) as tree:
            records[folder].trace(tree)
        tell(f"traced the tests of {folder}")

    def attempt(mutant: Mutant) -> None:
        if time.monotonic() > ends:
            return
        record = records[folder_of(mutant)]
        with borrowed(trees) as tree:
            outcome = tree.outcome(mutant, record.covering())
        if outcome is not Outcome.STOPPED:
            record.put(mutant, outcome)
        tell(f"{next(done)}/{len(waiting)}  {outcome.value:8}  {mutant}")

    def tell(line: str) -> None:
        print(f"{time.monotonic() - started:5.0f} s  {line}", flush=True)

    with copies(workers) as trees, ThreadPoolExecutor(workers) as pool:
        try:
            list(pool.map(trace, sorted({folder_of(mutant) for mutant in waiting})))
            list(pool.map(attempt, waiting))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def report(chosen: list[Mutant], records: dict[str, Records]) -> float:
    """Print the score of every folder and the survivors; return the share that was killed."""
    reasons = explanations()
    tried, killed, explained = Counter[str](), Counter[str](), Counter[str]()
    survivors = []
    for mutant in chosen:
        folder = folder_of(mutant)
        outcome = records[folder].get(mutant)
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
        left = len(chosen) - tried.total()
        print(f"{left} of {len(chosen)} mutants are left. The same command continues with them.")
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
    parser.add_argument("--results", type=Path, default=ROOT / "out" / "mutants")
    given = parser.parse_args()
    every = all_mutants(given.folders)
    chosen = random.Random(given.seed).sample(every, min(given.count, len(every)))
    print(f"{len(chosen)} of {len(every)} mutants, seed {given.seed}")
    records = {folder: Records(given.results, ROOT, folder) for folder in given.folders}
    run(chosen, records, given.workers, time.monotonic() + 60 * given.minutes)
    return int(report(chosen, records) < given.at_least)


if __name__ == "__main__":
    sys.exit(main())
