"""One explainer on Dask, Spark and Ray: equal numbers, killed workers and drivers, speed, memory.

Run all of it, or one part: ``python scale.py equal killed resumed speed memory``, each with the
engines after a colon if you like: ``speed:dask``. Results of earlier parts are kept.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import machine
from scaling import commands, throughput

ENGINES = ("dask", "spark", "ray")
MILLIONS = 2
MILLIONS_FOR_SPEED = 4  # the runs last longer
PARTS = ("equal", "killed", "resumed", "speed", "memory")


def equal(engines: tuple[str, ...]) -> list[dict[str, Any]]:
    """Compare the scores of every engine with those of the plain command."""
    plain, seconds = commands.scored(MILLIONS, None)
    rows = [{"engine": "this process", "seconds": round(seconds, 1)}]
    for engine in engines:
        out, seconds = commands.scored(MILLIONS, engine)
        rows.append({"engine": engine, "seconds": round(seconds, 1), **_against(plain, out)})
    return rows


def killed(engines: tuple[str, ...]) -> list[dict[str, Any]]:
    """Kill one worker in the middle of a job."""
    plain = commands.FOLDER / "scores-plain"
    rows = []
    for engine in engines:
        out, workers = commands.worker_killed(MILLIONS, engine)
        rows.append({"engine": engine, "killed workers": workers, **_against(plain, out)})
    return rows


def resumed(engines: tuple[str, ...]) -> list[dict[str, Any]]:
    """Kill the command in the middle, and repeat it."""
    plain = commands.FOLDER / "scores-plain"
    rows = []
    for engine in engines:
        out, kept, parts = commands.driver_killed(MILLIONS, engine)
        rows.append({"engine": engine, "kept": kept, "parts": parts, **_against(plain, out)})
    return rows


def speed(engines: tuple[str, ...]) -> list[dict[str, Any]]:
    """Measure rows per second in this process, and with one and two workers."""
    rows = [throughput.throughput(None, 1, MILLIONS_FOR_SPEED)]
    for engine in engines:
        one, two = (
            throughput.throughput(engine, workers, MILLIONS_FOR_SPEED) for workers in (1, 2)
        )
        two["of linear"] = round(two["evidence rows/s"] / one["evidence rows/s"] / 2, 2)
        rows += [one, two]
    return rows


def memory(engines: tuple[str, ...]) -> list[dict[str, Any]]:
    """Measure the memory of a worker for more and more rows."""
    return [throughput.memory(engine, millions) for engine in engines for millions in (1, 2, 4)]


def _against(plain: Any, out: Any) -> dict[str, Any]:
    gap, same = commands.largest_difference(plain, out)
    return {"largest difference": gap, "same decisions": same}


def _earlier() -> list[dict[str, Any]]:
    path = machine.RESULTS / "scale.json"
    return json.loads(path.read_text())["rows"] if path.exists() else []


def main(asked: list[str]) -> None:
    """Run the parts that were asked for, and save their results."""
    for given in asked or list(PARTS):
        part, _, engines = given.partition(":")
        chosen = tuple(engines.split(",")) if engines else ENGINES
        rows = [{"part": part, **row} for row in globals()[part](chosen)]
        print(machine.table(rows), flush=True)
        done = {(row["part"], row["engine"]) for row in rows}
        kept = [row for row in _earlier() if (row["part"], row["engine"]) not in done]
        order = sorted(kept + rows, key=lambda row: PARTS.index(row["part"]))
        machine.record("scale", machine.describe(), order)


if __name__ == "__main__":
    main(sys.argv[1:])
