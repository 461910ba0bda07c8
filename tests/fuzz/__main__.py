"""Run the areas in turn until the time is up: ``make fuzz``, or one seed again after a failure."""

from __future__ import annotations

import argparse
import secrets
import subprocess
import sys
import time
import traceback
import warnings
from collections import Counter

from .areas import AREAS, EVIDENCE_AREAS

MOST_FAILURES = 3  # of one area; then it is left out
SEEDS_ALONE = 20  # that share one process


def run_seeds(name: str, first: int, count: int) -> int:
    """Return how many cases the seeds of an area tried; AssertionError says which seed failed."""
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


def fuzz(seconds: float, base: int) -> int:
    """Try seeds of all areas, the area furthest behind its share of the time first."""
    spent, cases, failures = Counter[str](), Counter[str](), Counter[str]()
    following = dict.fromkeys(AREAS, base)
    started = time.monotonic()
    while time.monotonic() - started < seconds:
        open_ = [name for name in AREAS if failures[name] < MOST_FAILURES]
        if not open_:
            break
        name = min(open_, key=lambda name: spent[name] / AREAS[name].share)
        count = SEEDS_ALONE if AREAS[name].alone else 1
        first = following[name]
        following[name] += count
        before = time.monotonic()
        try:
            cases[name] += (run_alone if AREAS[name].alone else run_seeds)(name, first, count)
        except Exception:
            failures[name] += 1
            traceback.print_exc()
        spent[name] += time.monotonic() - before
    _print_counts(spent, cases, failures)
    return int(failures.total() > 0)


def _print_counts(spent: Counter[str], cases: Counter[str], failures: Counter[str]) -> None:
    print(f"{'area':10} {'cases':>12} {'seconds':>8} {'failures':>9}")
    for name in AREAS:
        print(f"{name:10} {cases[name]:12,} {spent[name]:8.0f} {failures[name]:9}")
    evidences = sum(cases[name] for name in EVIDENCE_AREAS)
    print(f"{evidences:,} evidences through the vectorised path, {failures.total()} failures.")


def main() -> int:
    """Read the arguments."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="time for all areas")
    parser.add_argument("--area", choices=AREAS, help="run this area only, from --seed on")
    parser.add_argument("--seed", type=int, help="the first seed; a random one by default")
    parser.add_argument("--count", type=int, default=1, help="how many seeds of --area to run")
    given = parser.parse_args()
    warnings.simplefilter("error")
    base = secrets.randbelow(2**31) if given.seed is None else given.seed
    if given.area:
        print(run_seeds(given.area, base, given.count))
        return 0
    print(f"Fuzzing for {given.seconds:.0f} seconds from seed {base}.", flush=True)
    return fuzz(given.seconds, base)


if __name__ == "__main__":
    sys.exit(main())
