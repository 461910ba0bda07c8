"""Run the areas in turn until the time is up: ``make fuzz``, or one seed again after a failure."""

from __future__ import annotations

import argparse
import json
import secrets
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from .areas import AREAS, EVIDENCE_AREAS

MOST_FAILURES = 3  # of one area; then it is left out
SEEDS_ALONE = 10  # that share one process
SEEDS_OF_A_WORKER = 10**7  # apart


def run_seeds(name: str, first: int, count: int) -> int:
    """Return how many cases the seeds of an area tried; AssertionError says which seed failed."""
    warnings.simplefilter("error")
    cases = 0
    for seed in range(first, first + count):
        try:
            cases += AREAS[name].check(seed)
        except Exception as error:
            error.add_note(f"Again: cd tests && python -m fuzz --area {name} --seed {seed}")
            raise
    return cases


def run_alone(name: str, first: int, count: int) -> int:
    """Do the same in a process of its own; a crash is a failure."""
    command = [sys.executable, "-m", "fuzz", "--area", name, "--seed", str(first)]
    ended = subprocess.run(
        [*command, "--count", str(count)], capture_output=True, text=True, check=False
    )
    if ended.returncode:
        raise AssertionError(
            f"exit code {ended.returncode} between seeds {first} and {first + count - 1} of "
            f"{name}\n{ended.stdout}{ended.stderr}"
        )
    return int(ended.stdout.split()[-1])


@dataclass
class Counts:
    """What was tried: time, seeds, cases and failures of each area."""

    spent: Counter[str] = field(default_factory=Counter)
    seeds: Counter[str] = field(default_factory=Counter)
    cases: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    told: list[str] = field(default_factory=list)

    def furthest_behind(self) -> str | None:
        """Return the area furthest behind its share of the time; None if all fail."""
        open_ = [name for name in AREAS if self.failures[name] < MOST_FAILURES]
        return min(open_, key=lambda name: self.spent[name] / AREAS[name].share, default=None)

    def add(self, other: Counts) -> None:
        """Add what another worker tried."""
        for mine, theirs in zip(self._counters(), other._counters(), strict=True):
            mine.update(theirs)
        self.told += other.told

    def _counters(self) -> tuple[Counter[str], ...]:
        return self.spent, self.seeds, self.cases, self.failures

    def show(self) -> None:
        """Print the figures, and each failure with the command that repeats it."""
        print("\n".join(self.told))
        print(f"{'area':12} {'seeds':>8} {'cases':>12} {'seconds':>8} {'failures':>9}")
        for name in AREAS:
            print(
                f"{name:12} {self.seeds[name]:8,} {self.cases[name]:12,} {self.spent[name]:8.0f} "
                f"{self.failures[name]:9}"
            )
        evidences = sum(self.cases[name] for name in EVIDENCE_AREAS)
        print(
            f"{self.cases.total():,} cases, of which {evidences:,} evidences through the "
            f"vectorised path; {self.failures.total()} failures."
        )


def work(seconds: float, base: int, current: Path | None = None) -> Counts:
    """Try seeds of all areas until the time is up; write down which is under way."""
    counts = Counts()
    ends = time.monotonic() + seconds
    while time.monotonic() < ends and (name := counts.furthest_behind()) is not None:
        count = SEEDS_ALONE if AREAS[name].alone else 1
        first = base + counts.seeds[name]
        if current is not None:
            current.write_text(f"--area {name!r} --seed {first} --count {count}")
        before = time.monotonic()
        try:
            counts.cases[name] += (run_alone if AREAS[name].alone else run_seeds)(
                name, first, count
            )
        except Exception as error:
            counts.failures[name] += 1
            counts.told.append("".join(traceback.format_exception(error)))
            print(counts.told[-1], file=sys.stderr, flush=True)
        counts.seeds[name] += count
        counts.spent[name] += time.monotonic() - before
    return counts


def share(seconds: float, base: int, workers: int) -> Counts:
    """Let several processes work, each on seeds of its own; one that dies is a failure."""
    whole, numbers = Counts(), [SEEDS_OF_A_WORKER * n for n in range(workers)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [sys.executable, "-m", "fuzz", "--seconds", str(seconds)]
        processes = [
            subprocess.Popen(
                [*command, "--seed", str(base + n), "--counts", str(folder / f"{n}.json")]
            )
            for n in numbers
        ]
        for process, number in zip(processes, numbers, strict=True):
            process.wait()
            counts, current = folder / f"{number}.json", folder / f"{number}.current"
            if counts.exists():
                whole.add(Counts(**json.loads(counts.read_text())))
            else:
                at = current.read_text() if current.exists() else "the start"
                whole.failures["a dead process"] += 1
                whole.told.append(f"A process ended with code {process.returncode} at {at}")
    return whole


def main() -> int:
    """Read the arguments."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="time for all areas")
    parser.add_argument("--workers", type=int, default=1, help="processes that share the work")
    parser.add_argument("--counts", type=Path, help="write the counts there, for another process")
    parser.add_argument("--area", choices=AREAS, help="run this area only, from --seed on")
    parser.add_argument("--seed", type=int, help="the first seed; a random one by default")
    parser.add_argument("--count", type=int, default=1, help="how many seeds of --area to run")
    given = parser.parse_args()
    warnings.simplefilter("error")
    base = secrets.randbelow(2**31) if given.seed is None else given.seed
    if given.area:
        print(run_seeds(given.area, base, given.count))
        return 0
    if given.counts:
        counts = work(given.seconds, base, given.counts.with_suffix(".current"))
        given.counts.write_text(json.dumps(vars(counts)))
        return 0
    print(f"Fuzzing for {given.seconds:.0f} seconds from seed {base}, {given.workers} at a time.")
    sys.stdout.flush()
    counts = (
        work(given.seconds, base)
        if given.workers == 1
        else share(given.seconds, base, given.workers)
    )
    counts.show()
    return int(counts.failures.total() > 0)


if __name__ == "__main__":
    sys.exit(main())
