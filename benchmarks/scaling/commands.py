"""``shafer score`` as a user starts it, whole or killed in the middle."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from scaling.parquet_rows import FOLDER, MODEL, data, explainer

CHUNK = 100_000


def _call(millions: int, out: Path, engine: str | None) -> list[str]:
    explainer()
    call = [sys.executable, "-m", "shafer", "score", str(data(millions)), "--model", str(MODEL)]
    call += ["--out", str(out), "--chunk", str(CHUNK)]
    return call + ([] if engine is None else ["--engine", engine, "--workers", "2"])


def _fresh(name: str) -> Path:
    out = FOLDER / name
    for path in (out, out.with_name(f".{name}.unfinished")):
        shutil.rmtree(path, ignore_errors=True)
    return out


def scored(millions: int, engine: str | None) -> tuple[Path, float]:
    """Score a folder; return that of the scores, and the seconds it took."""
    name = engine or "plain"
    out = _fresh(f"scores-{name}")
    call = _call(millions, out, engine)
    start = time.perf_counter()
    subprocess.run(call, check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return out, time.perf_counter() - start


def largest_difference(first: Path, second: Path) -> tuple[float, bool]:
    """Return the largest difference of two folders of scores, and whether decisions are equal."""
    a, b = pq.read_table(first), pq.read_table(second)
    assert a.column_names == b.column_names
    numbers = [field.name for field in a.schema if str(field.type) == "double"]
    gaps = [np.abs(a[name].to_numpy() - b[name].to_numpy()).max() for name in numbers]
    same = a["answer"].equals(b["answer"]) and a["row"].equals(b["row"])
    return float(max(gaps)), bool(same)


def _children(parent: int) -> list[int]:
    """Return the processes below a process."""
    tree: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            tree.setdefault(int(fields[1]), []).append(int(entry.name))
    found, left = [], [parent]
    while left:
        below = tree.get(left.pop(), [])
        found += below
        left += below
    return found


def _is_worker(process: int, engine: str) -> bool:
    """Return whether a process scores rows: it has used the processor for at least a second."""
    mark = {"dask": b"multiprocessing", "spark": b"pyspark.daemon", "ray": b"ray::"}[engine]
    try:
        command = Path(f"/proc/{process}/cmdline").read_bytes()
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return mark in command and seconds > 1.0


def _wait_for_parts(growing: Path, count: int, driver: subprocess.Popen[bytes]) -> None:
    while len(list(growing.glob("part-*"))) < count:
        assert driver.poll() is None, "the command ended too early"
        time.sleep(0.01)


def worker_killed(millions: int, engine: str) -> tuple[Path, int]:
    """Kill one worker in the middle; return the folder of scores, and how many were killed."""
    out = _fresh(f"killed-{engine}")
    growing = out.with_name(f".{out.name}.unfinished")
    driver = subprocess.Popen(
        _call(millions, out, engine), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    _wait_for_parts(growing, 2, driver)
    workers = [p for p in _children(driver.pid) if _is_worker(p, engine)]
    os.kill(workers[-1], signal.SIGKILL)
    assert driver.wait() == 0
    return out, 1


def driver_killed(millions: int, engine: str | None) -> tuple[Path, int, int]:
    """Kill the command in the middle and repeat it; return parts that were kept, and all parts."""
    out = _fresh(f"resumed-{engine or 'plain'}")
    growing = out.with_name(f".{out.name}.unfinished")
    call = _call(millions, out, engine)
    driver = subprocess.Popen(call, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _wait_for_parts(growing, 3, driver)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    assert not out.exists()  # nothing that a reader could take for the scores
    time.sleep(3.0)  # for workers that end after their driver
    before = {path.name: path.stat().st_mtime_ns for path in growing.glob("part-*")}
    subprocess.run(call, check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    kept = sum((out / name).stat().st_mtime_ns == time_ for name, time_ in before.items())
    assert kept == len(before), "a finished part was scored again"
    return out, kept, len(list(out.glob("part-*")))
