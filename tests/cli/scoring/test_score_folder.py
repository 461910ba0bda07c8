"""``shafer score`` on folders and patterns: complete folders only, and runs that go on."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
import skops.io
from pyarrow import dataset

from shafer.scale.engines import JobEngine, Work

from ..running import refused, run

PARTS = 5


@pytest.fixture
def tables(folder: Path) -> Path:
    """The heart table as several Parquet files, and as several CSV files."""
    frame = pd.read_csv(folder / "heart.csv")
    for kind in ("parquet", "csv"):
        (folder / kind).mkdir()
    for i in range(PARTS):
        part = frame.iloc[i * 90 : (i + 1) * 90]
        part.to_parquet(folder / "parquet" / f"{i}.parquet", row_group_size=40)
        part.to_csv(folder / "csv" / f"{i}.csv", index=False)
    return folder


def scored(folder: Path, data: Any, out: str, *more: Any) -> pd.DataFrame:
    result = run("score", data, "--model", folder / "model.skops", "--out", folder / out, *more)
    assert result.exit_code == 0, result.output
    return pd.read_parquet(folder / out)


def wanted(folder: Path, *more: Any) -> pd.DataFrame:
    """The scores of all rows in one file."""
    frame = pd.read_csv(folder / "heart.csv").iloc[: PARTS * 90]
    frame.to_csv(folder / "whole.csv", index=False)
    return scored(folder, folder / "whole.csv", "whole.parquet", *more)


def test_folders_and_patterns_give_the_rows_of_one_table(tables: Path) -> None:
    (tables / "parquet" / "_SUCCESS").touch()
    (tables / "parquet" / ".hidden.parquet").write_text("not a table")
    more = ("--reasons", 2, "--ask", "--loss", tables / "costs.csv")
    (tables / "costs.csv").write_text("act,0,1\nwait,0,3\ntreat,1,0\n")
    expected = wanted(tables, *more)
    for data, out in ((tables / "parquet", "a"), (tables / "csv" / "*.csv", "b")):
        found = scored(tables, data, out, *more)
        pd.testing.assert_frame_equal(found, expected, rtol=0, atol=1e-12)
        names = sorted(os.listdir(tables / out))
        assert names == ["_SUCCESS", "_run.json", *(f"part-{i:05d}.parquet" for i in range(PARTS))]


def test_every_reader_finds_all_rows(tables: Path) -> None:
    scored(tables, tables / "parquet", "out")
    out = str(tables / "out")
    assert dataset.dataset(out).count_rows() == PARTS * 90
    assert pl.scan_parquet(f"{out}/*.parquet").collect().height == PARTS * 90
    assert pl.scan_parquet(out, hidden_file_prefix="_").collect().height == PARTS * 90
    about = json.loads((tables / "out" / "_SUCCESS").read_text())
    assert [unit["rows"] for unit in about["units"]] == [90] * PARTS


class _Stopped(JobEngine):
    """Ends after some units, as a driver that is killed."""

    def __init__(self, units: int) -> None:
        self.units = units
        self.seen: list[Any] = []

    def _outcomes(self, work: Work, items: Sequence[Any]) -> Iterator[Any]:
        for item in items:
            if len(self.seen) == self.units:
                raise KeyboardInterrupt
            self.seen.append(item)
            yield work(item)


def test_a_stopped_run_goes_on_and_shows_nothing_before(
    tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines = [_Stopped(2), _Stopped(99)]
    given = iter(engines)
    monkeypatch.setattr(sys.modules["shafer.cli.score"], "job_engine", lambda *_: next(given))
    call = ("score", tables / "parquet", "--model", tables / "model.skops")
    call = (*call, "--out", tables / "out")
    assert run(*call).exit_code != 0
    for read in (pd.read_parquet, lambda path: pl.scan_parquet(path).collect(), dataset.dataset):
        with pytest.raises(FileNotFoundError):
            read(str(tables / "out"))
    assert run(*call).exit_code == 0
    assert [len(engine.seen) for engine in engines] == [2, PARTS - 2]
    pd.testing.assert_frame_equal(
        pd.read_parquet(tables / "out"), wanted(tables), rtol=0, atol=1e-12
    )
    assert not [name for name in os.listdir(tables) if "unfinished" in name]
    monkeypatch.undo()
    again = run(*call)
    assert again.exit_code == 0
    assert "All parts were there already" in again.output


def test_another_request_into_the_same_folder(tables: Path) -> None:
    call = ("score", tables / "parquet", "--model", tables / "model.skops", "--out", tables / "out")
    assert run(*call).exit_code == 0
    refused("the option reasons changed", *call, "--reasons", 2)
    other = skops.io.load(tables / "model.skops")
    other[-1].intercept_ += 1.0
    skops.io.dump(other, tables / "other.skops")
    refused("the content of --model changed", *call[:3], tables / "other.skops", *call[4:])
    first = tables / "parquet" / "0.parquet"
    os.utime(first, ns=(0, 0))
    refused("is complete, and since then the input files changed: ", *call)
    (tables / "own").mkdir()
    (tables / "own" / "letter.txt").write_text("mine")
    refused("exists and does not hold scores", *call[:-1], tables / "own")


def test_parts_of_another_plan_or_damaged_parts_do_not_count(tables: Path) -> None:
    """Workers of an earlier run may write a part late; and files get lost."""
    call = ("score", tables / "parquet", "--model", tables / "model.skops", "--out")
    assert run(*call, tables / "other", "--prior", "own").exit_code == 0
    growing = tables / ".out.unfinished"
    growing.mkdir()
    names = [f"part-{i:05d}.parquet" for i in range(PARTS)]
    shutil.copy(tables / "other" / names[0], growing)
    (growing / names[1]).write_bytes((tables / "other" / names[1]).read_bytes()[:50])
    assert run(*call, tables / "out").exit_code == 0
    pd.testing.assert_frame_equal(
        pd.read_parquet(tables / "out"), wanted(tables), rtol=0, atol=1e-12
    )
    (tables / "out" / names[2]).unlink()
    refused("1 of 5 parts are missing or damaged", *call, tables / "out")
    (tables / ".new.unfinished").mkdir()
    plan = '{"format": 1, "request": {}, "surveys": {}, "units": []}'
    (tables / ".new.unfinished" / "_plan.json").write_text(plan)
    refused("the plan is damaged", *call, tables / "new")


def test_a_link_to_a_folder_stays_a_link(tables: Path) -> None:
    (tables / "disk").mkdir()
    (tables / "out").symlink_to(tables / "disk")
    scored(tables, tables / "parquet", "out")
    assert (tables / "out").is_symlink()
    assert (tables / "disk" / "_SUCCESS").is_file()


def test_wrong_input(tables: Path) -> None:
    model = ("--model", tables / "model.skops", "--out", tables / "out")
    refused("nothing does not exist", "score", tables / "nothing", *model)
    refused("has no tables", "score", tables / "*.parquet.zip", *model)
    refused("does not exist", "score", tables / "nothing.csv", "--engine", "dask", *model)
    refused("--address needs --engine", "score", tables / "csv", *model, "--address", "auto")
    refused(
        "--out must be a folder", "score", tables / "csv", *model[:2], "--out", tables / "o.csv"
    )
    pd.DataFrame({"age": [1.0]}).to_csv(tables / "csv" / "9.csv")
    refused("lacks 7 column(s) that the model needs", "score", tables / "csv", *model)
    pd.DataFrame({"age": [1.0]}).to_parquet(tables / "csv" / "9.parquet")
    refused("has Parquet and CSV files", "score", tables / "csv", *model)
    assert not (tables / "out").exists()


def test_driver_killed_with_workers(tables: Path) -> None:
    """SIGKILL while Dask's workers score; the same command finishes what is left."""
    pytest.importorskip("distributed", reason="Dask is not installed")
    call = ["score", tables / "parquet", "--model", tables / "model.skops"]
    # Small chunks, so that there is time to kill it.
    call += ["--out", tables / "out", "--engine", "dask", "--workers", "1", "--chunk", "3"]
    growing = tables / ".out.unfinished"
    command = [sys.executable, "-m", "shafer", *call]
    driver = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while not list(growing.glob("part-*")) and driver.poll() is None:
        time.sleep(0.002)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    before = {path.name: path.stat().st_mtime_ns for path in growing.glob("part-*")}
    assert not (tables / "out").exists()
    assert 1 <= len(before) < PARTS
    again = run(*call)
    assert again.exit_code == 0, again.output
    found = pd.read_parquet(tables / "out")
    pd.testing.assert_frame_equal(found, wanted(tables), rtol=0, atol=1e-12)
    after = {name: (tables / "out" / name).stat().st_mtime_ns for name in before}
    assert after == before
