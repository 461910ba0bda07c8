"""Mutation testing: change the code in small ways and see whether the tests notice.

``make mutants`` samples mutants of the folders that compute or read. The tests run once, file by
file, to learn which of them run each line. Then every mutant runs against those that run its line,
up to the first failure, which must not occur without the change. This happens in copies of the
tree, so the working tree is never touched. At the end it prints the score of every folder and each
surviving mutant as ``file:line  before → after``. A survivor needs a test, or the code is not
needed, or a line in ``explained_mutants.txt`` that gives the reason why both versions give the
same results.

Tests that fail or are skipped without a change, because a package is missing, are left out and
counted. Outcomes are kept in ``out/mutants`` as long as neither source nor tests have changed. A
run that was stopped continues there.
"""

from __future__ import annotations

import argparse
import itertools
import json
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

from covering_tests import FILES, folder_of
from mutant_records import Records
from mutant_run import Outcome, Tree
from mutant_sites import Mutant, mutants_of

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (
    "belief",
    "_checks",
    "_files",
    "_kernels",
    "_masses",
    "asking",
    "conformal",
    "decision",
    "deferral",
    "estimators",
    "evidence",
    "explain",
    "export",
    "fusion",
    "metrics",
    "models",
    "monitor",
    "rows",
    "saving",
    "scale",
    "scorecards",
    "texts",
    FILES,
)
EXCLUDED = (
    "triton_kernels.py",  # these two need a CUDA device
    "triton_located.py",
    "__init__.py",
    "__main__.py",
)
EXPLAINED = Path(__file__).with_name("explained_mutants.txt")
# The share of the time that tracing may take, and the longest time for one test file, in seconds.
TRACING, LONGEST_TRACE = 0.4, 180.0


def all_mutants(folders: Iterable[str]) -> list[Mutant]:
    """List every mutant of the folders, in the order of files and lines."""
    return [
        mutant
        for folder in folders
        for path in _sources(folder)
        if path.name not in EXCLUDED
        for mutant in mutants_of(path.read_text(), path.relative_to(ROOT).as_posix())
    ]


def _sources(folder: str) -> list[Path]:
    package = ROOT / "src" / "shafer"
    return sorted(package.glob("*.py") if folder == FILES else (package / folder).rglob("*.py"))


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
        made = [Tree.copy(ROOT, Path(scratch) / str(number)) for number in range(count)]
        for tree in made:
            trees.put(tree)
        try:
            yield trees
        finally:
            for tree in made:
                tree.server.close()


@contextmanager
def borrowed(trees: queue.SimpleQueue[Tree]) -> Iterator[Tree]:
    """Take one of the copies, and give it back in the end."""
    tree = trees.get()
    try:
        yield tree
    finally:
        trees.put(tree)


def run(chosen: list[Mutant], records: Records, workers: int, ends: float) -> None:
    """Run the mutants whose outcome is not known yet, until the time is up."""
    waiting = [mutant for mutant in chosen if records.get(mutant) is None]
    done, started = itertools.count(1), time.monotonic()
    traced = started + TRACING * (ends - started)

    def trace(file: str) -> None:
        seconds = min(LONGEST_TRACE, traced - time.monotonic())
        if seconds > 0.0:
            with borrowed(trees) as tree:
                ended = records.trace(file, tree, seconds)
            tell(f"traced {file}" if ended else f"could not trace {file}")

    def attempt(mutant: Mutant) -> None:
        if time.monotonic() > ends:
            return
        with borrowed(trees) as tree:
            outcome, killer = tree.outcome(mutant, covering, ends)
        if outcome is not Outcome.STOPPED:
            records.put(mutant, outcome, killer)
        tell(f"{next(done)}/{len(waiting)}  {outcome.value:8}  {mutant}")

    def tell(line: str) -> None:
        print(f"{time.monotonic() - started:5.0f} s  {line}", flush=True)

    with copies(workers) as trees, ThreadPoolExecutor(workers) as pool:
        try:
            list(pool.map(trace, records.files if waiting else []))
            covering = records.covering()
            if not covering.seconds:
                raise RuntimeError("No test passes without a change. Mend them first.")
            list(pool.map(attempt, waiting))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def report(chosen: list[Mutant], records: Records) -> tuple[str, float]:
    """Write the score of every folder and the survivors; return the share that was killed too."""
    reasons = explanations()
    counts = {name: Counter[str]() for name in ("tried", "killed", "timeouts", "explained")}
    survivors = []
    for mutant in chosen:
        folder, outcome = folder_of(mutant), records.get(mutant)
        if outcome is None:
            continue
        counts["tried"][folder] += 1
        counts["timeouts"][folder] += outcome == Outcome.TIMEOUT.value
        if outcome != Outcome.SURVIVED.value:
            counts["killed"][folder] += 1
            continue
        reason = reason_for(mutant, reasons)
        counts["explained"][folder] += reason is not None
        survivors.append(f"{mutant}" + (f"\n    same results: {reason}" if reason else ""))
    tried = counts["tried"].total()
    killed = counts["killed"].total() / max(tried, 1)
    lines = [
        f"{'folder':20} {'tried':>6} {'killed':>7} {'share':>7} {'timeouts':>9} {'explained':>10}"
    ]
    for folder in [*sorted(counts["tried"]), "all"]:
        n, dead, late, same = (
            count.total() if folder == "all" else count[folder] for count in counts.values()
        )
        lines.append(f"{folder:20} {n:6} {dead:7} {dead / max(n, 1):7.1%} {late:9} {same:10}")
    lines += ["", "Survivors:" if survivors else "No survivors.", *survivors]
    if tried < len(chosen):
        left = len(chosen) - tried
        lines.append(f"{left} of {len(chosen)} mutants are left. The same command continues there.")
    covering = records.covering()
    how = Counter(covering.left_out.values())
    lines.append(
        f"{len(covering.seconds)} tests of {len(covering.traces)} of {len(records.files)} files"
        f" were used. Left out, because they do not pass without a change: "
        + (", ".join(f"{count} {name}" for name, count in how.items()) or "none")
    )
    failed = [test for test, how in covering.left_out.items() if how == "failed"]
    return "\n".join([*lines, *(f"    failed: {test}" for test in failed)]), killed


def main() -> int:
    """Sample, run and report; exit code 1 if fewer mutants die than asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", default=FOLDERS, help="folders of src/shafer")
    parser.add_argument("--count", type=int, default=200, help="how many mutants to sample")
    parser.add_argument("--seed", type=int, default=0, help="which sample")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="time budget")
    parser.add_argument("--out", type=Path, help="folder for the report and the outcomes")
    parser.add_argument("--at-least", type=float, default=0.88, help="share that must be killed")
    parser.add_argument("--results", type=Path, default=ROOT / "out" / "mutants")
    given, started = parser.parse_args(), time.monotonic()
    every = all_mutants(given.folders)
    chosen = random.Random(given.seed).sample(every, min(given.count, len(every)))
    print(f"{len(chosen)} of {len(every)} mutants, seed {given.seed}")
    records = Records(given.results, ROOT, given.folders)
    run(chosen, records, given.workers, started + given.seconds)
    text, killed = report(chosen, records)
    print(f"\n{text}")
    if given.out is not None:
        given.out.mkdir(parents=True, exist_ok=True)
        (given.out / "report.txt").write_text(text + "\n")
        (given.out / "outcomes.json").write_text(json.dumps(records.outcomes, indent=0))
        (given.out / "left_out.json").write_text(json.dumps(records.covering().left_out, indent=0))
    return int(killed < given.at_least)


if __name__ == "__main__":
    sys.exit(main())
