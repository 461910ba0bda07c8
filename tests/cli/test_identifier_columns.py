"""Columns that look like ids are named, and ``--drop`` leaves them out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from .running import refused, run


def _file(folder: Path) -> Path:
    random = np.random.default_rng(0)
    rows = pd.DataFrame({"age": random.normal(size=60), "visits": random.integers(0, 5, 60)})
    rows["y"] = np.where(rows["age"] + random.normal(size=60) > 0, "yes", "no")
    rows["number"], rows["name"] = np.arange(1000, 1060), [f"name {i}" for i in range(60)]
    rows["plan"] = [None, "a", "b"] * 20
    rows.loc[3, "age"] = np.nan
    rows.to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


def test_ids_are_named_and_can_be_left_out(tmp_path: Path) -> None:
    given = ("report", "--data", _file(tmp_path), "--target", "y", "--out", tmp_path / "page.html")
    result = run(*given)
    assert result.exit_code == 0, result.output
    warned = [line for line in result.stderr.splitlines() if line.startswith("Warning: ")]
    assert [line.split("'")[1] for line in warned] == ["number", "name"]
    assert warned[0].endswith("leave it out: --id number")
    assert "missing numbers (1 rows) replaced by the median" in result.output
    assert "missing texts (20 rows) taken as a category of their own" in result.output
    result = run(*given, "--id", "number", "--drop", "name")
    assert result.exit_code == 0, result.output
    assert "Warning" not in result.stderr
    assert "3 components and the base rate" in result.output


def test_columns_that_cannot_be_left_out(tmp_path: Path) -> None:
    given = ("report", "--data", _file(tmp_path), "--target", "y", "--out", tmp_path / "page.html")
    refused("has no such column. The columns are", *given, "--drop", "nothing")
    refused("it is the target", *given, "--drop", "y")
    refused("cannot be used with --model", *given, "--model", "model.shafer", "--drop", "age")
