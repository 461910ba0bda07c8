"""``shafer score``."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io

import shafer

from .running import refused, run


@pytest.mark.parametrize("name", ["scored.csv", "scored.csv.gz", "scored.parquet"])
def test_score_in_chunks(folder: Path, name: str) -> None:
    frame = pd.read_csv(folder / "heart.csv")
    model = skops.io.load(folder / "model.skops")
    X = frame[model.feature_names_in_]
    ev = shafer.Explainer(model, X, groups="source", prior="own")(X)
    out = folder / name
    arguments = ("--model", folder / "model.skops", "--out", out, "--chunk", 100)
    result = run("score", folder / "heart.csv", *arguments)
    assert result.exit_code == 0, result.output
    scored = pd.read_parquet(out) if name.endswith("parquet") else pd.read_csv(out)
    assert scored["row"].tolist() == list(range(462))
    np.testing.assert_allclose(scored["belief_1"], ev.belief[:, 1], atol=1e-12)
    np.testing.assert_allclose(scored["plausibility_0"], ev.plausibility[:, 0], atol=1e-12)
    np.testing.assert_allclose(scored["ignorance"], ev.ignorance, atol=1e-12)
    np.testing.assert_allclose(scored["conflict"], ev.conflict, atol=1e-12)
    assert scored["decision"].tolist() == ev.to_frame()["decision"].tolist()


def test_score_does_not_depend_on_the_chunks(tmp_path: Path) -> None:
    """Columns that look different in each chunk: integers, gaps, texts, truth values."""
    rng = np.random.default_rng(0)
    n = 90
    frame = pd.DataFrame(
        {
            "size": np.where(np.arange(n) < 30, rng.integers(0, 9, n), rng.random(n)),
            "code": [f"{i % 3:03d}" if i < 60 else f"A{i % 3}" for i in range(n)],
            "flag": ["true", "false", "true"] * 30,
            "gap": [""] * 30 + ["1.5", "2.5", ""] * 20,
            "y": ["no", "yes"] * 45,
        }
    )
    frame.to_csv(tmp_path / "train.csv", index=False)
    frame.drop(columns="y").to_csv(tmp_path / "new.csv", index=False)
    tables = []
    for chunk in (7, 30, 1000):
        out = tmp_path / f"{chunk}.parquet"
        options = ("--train", tmp_path / "train.csv", "--target", "y", "--chunk", chunk)
        result = run("score", tmp_path / "new.csv", *options, "--out", out)
        assert result.exit_code == 0, result.output
        tables.append(pd.read_parquet(out))
    pd.testing.assert_frame_equal(tables[0], tables[1])
    pd.testing.assert_frame_equal(tables[0], tables[2])
    assert tables[0]["belief_no"].nunique() > 10


def test_a_failing_score_leaves_nothing(folder: Path) -> None:
    frame = pd.read_csv(folder / "heart.csv").astype({"age": object})
    frame.loc[300, "age"] = "old"
    frame.to_csv(folder / "bad.csv", index=False)
    before = sorted(p.name for p in folder.iterdir())
    options = ("--train", folder / "heart.csv", "--target", "chd", "--chunk", 100)
    refused(
        "Column 'age' must hold numbers, as in training; row 300 has 'old'",
        *("score", folder / "bad.csv", *options, "--out", folder / "scored.csv"),
    )
    frame = pd.read_csv(folder / "heart.csv")
    frame.loc[250, "age"] = np.nan
    frame.to_csv(folder / "bad.csv", index=False)
    model = ("--model", folder / "model.skops", "--train", folder / "heart.csv")
    refused(
        "Rows 200 to 299",
        *("score", folder / "bad.csv", *model, "--chunk", 100, "--out", folder / "scored.parquet"),
    )
    assert sorted(p.name for p in folder.iterdir()) == before


def test_score_keeps_the_data(folder: Path) -> None:
    data = folder / "heart.csv"
    refused("another file", "score", data, "--model", folder / "model.skops", "--out", data)
    refused("Scoring needs --model", "score", data, "--out", folder / "s.csv")
    refused("A table must be", "score", data, "--model", folder / "model.skops", "--out", "s.txt")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to catch")
def test_an_ended_run_leaves_nothing(folder: Path) -> None:
    frame = pd.read_csv(folder / "heart.csv")
    pd.concat([frame] * 200).to_csv(folder / "long.csv", index=False)
    before = sorted(folder.iterdir())
    options = ["--model", "model.skops", "--out", "scored.csv", "--chunk", "50"]
    command = [sys.executable, "-m", "shafer", "score", "long.csv", *options]
    running = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while sorted(folder.iterdir()) == before and time.monotonic() < deadline:
        time.sleep(0.01)  # until the file beside the output is there
    running.send_signal(signal.SIGTERM)
    assert running.wait(60) == 143
    assert sorted(folder.iterdir()) == before
