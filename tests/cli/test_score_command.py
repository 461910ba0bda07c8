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
    result = run("score", folder / "heart.csv", "--evidence", *arguments)
    assert result.exit_code == 0, result.output
    scored = pd.read_parquet(out) if name.endswith("parquet") else pd.read_csv(out)
    assert scored["row"].tolist() == list(range(462))
    np.testing.assert_allclose(scored["belief_1"], ev.belief[:, 1], atol=1e-12)
    np.testing.assert_allclose(scored["plausibility_0"], ev.plausibility[:, 0], atol=1e-12)
    np.testing.assert_allclose(scored["ignorance"], ev.ignorance, atol=1e-12)
    np.testing.assert_allclose(scored["conflict"], ev.conflict, atol=1e-12)
    assert scored["answer"].tolist() == ev.to_frame()["answer"].tolist()


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
    assert tables[0]["probability_no"].nunique() > 10


@pytest.mark.parametrize("name", ["scored.csv", "scored.parquet"])
@pytest.mark.parametrize("asked", [None, "1"])
def test_reasons_as_columns(folder: Path, name: str, asked: str | None) -> None:
    frame = pd.read_csv(folder / "heart.csv")
    model = skops.io.load(folder / "model.skops")
    X = frame[model.feature_names_in_]
    ev = shafer.Explainer(model, X, groups="source", prior="own")(X)
    tables = []
    for chunk in (50, 1000):
        out = folder / f"{chunk}.{name}"
        options = (
            "--model",
            folder / "model.skops",
            "--out",
            out,
            "--chunk",
            chunk,
            "--reasons",
            3,
        )
        options += () if asked is None else ("--class", asked)
        result = run("score", folder / "heart.csv", *options)
        assert result.exit_code == 0, result.output
        text = {f"reason_{r}_value": str for r in (1, 2, 3)}
        read = pd.read_csv(out, dtype=text) if name.endswith("csv") else pd.read_parquet(out)
        tables.append(read)
    pd.testing.assert_frame_equal(tables[0], tables[1])
    scored = tables[0]
    answers = ev.probability.argmax(axis=1) if asked is None else np.ones(462, dtype=int)
    assert scored["reasons_class"].astype(int).tolist() == answers.tolist()
    assert scored["reasons_over"].astype(int).tolist() == (1 - answers).tolist()
    for row in (0, 17, 461):
        table = ev[[row]].reasons(int(answers[row]), 3, over=int(1 - answers[row]), keep="positive")
        for entry in table.itertuples():
            start = f"reason_{entry.rank}"
            assert scored.loc[row, start] == entry.component
            assert float(scored.loc[row, f"{start}_value"]) == entry.value
            np.testing.assert_allclose(scored.loc[row, f"{start}_log_odds"], entry.log_odds)
            np.testing.assert_allclose(scored.loc[row, f"{start}_share"], entry.share)
        for rank in range(len(table) + 1, 4):
            assert pd.isna(scored.loc[row, f"reason_{rank}"])
    assert not any("base rate" in str(name) for name in scored["reason_1"])


def test_reasons_of_texts_and_a_first_chunk_without_any(tmp_path: Path) -> None:
    """A chunk in which no row has a second reason must not change the types of the file."""
    rng = np.random.default_rng(0)
    n = 60
    frame = pd.DataFrame({"colour": rng.choice(["red", "blue"], n), "size": rng.normal(size=n)})
    frame["y"] = np.where((frame["colour"] == "red") & (rng.random(n) < 0.9), "yes", "no")
    frame.to_csv(tmp_path / "train.csv", index=False)
    frame.drop(columns="y").sort_values("size").to_csv(tmp_path / "new.csv", index=False)
    codes = tmp_path / "codes.csv"
    codes.write_text("component,code,text\ncolour,007,its colour\nother,N/A,\n")
    out = tmp_path / "s.parquet"
    options = ("--train", tmp_path / "train.csv", "--target", "y", "--chunk", 1, "--out", out)
    result = run("score", tmp_path / "new.csv", *options, "--reasons", 4, "--codes", codes)
    assert result.exit_code == 0, result.output
    scored = pd.read_parquet(out)
    first = scored[scored["reason_1"] == "colour"]
    assert len(first)
    assert set(first["reason_1_code"]) == {"007"}  # as it is written
    assert set(first["reason_1_text"]) == {"its colour"}
    assert set(first["reason_1_value"]) <= {"red", "blue"}
    assert scored["reason_4"].isna().all()
    assert scored["reason_4_log_odds"].isna().all()


def test_reasons_that_cannot_be_given(folder: Path) -> None:
    data = ("score", folder / "heart.csv", "--model", folder / "model.skops")
    out = ("--out", folder / "s.csv")
    refused("--over needs --class", *data, *out, "--reasons", 2, "--over", "1")
    refused("--class is about reasons", *data, *out, "--reasons", 0, "--class", "1")
    refused("--class names 'x', which the model", *data, *out, "--reasons", 2, "--class", "x")  # fmt: skip # noqa: E501
    codes = folder / "codes.csv"
    refused("--codes is about reasons", *data, *out, "--reasons", 0, "--codes", codes)
    for text, message in (
        ("a,b\n1,2\n", "must have the columns 'component' and 'code'"),
        ("component,code\n", "has no rows"),
        ("component,code\nage,1\nage,2\n", "has 'age' twice, in row 1 again"),
        ("component,code\nage,\n", "lacks a component or a code in row 0"),
        ("component,code\nnone,1\n", "codes has none of the components"),
    ):
        codes.write_text(text)
        refused(message, *data, *out, "--reasons", 2, "--codes", codes)
    assert not (folder / "s.csv").exists()


def test_a_failing_score_leaves_nothing(folder: Path) -> None:
    frame = pd.read_csv(folder / "heart.csv").astype({"age": object})
    frame.loc[300, "age"] = "old"
    frame.to_csv(folder / "bad.csv", index=False)
    before = sorted(p.name for p in folder.iterdir())
    options = ("--train", folder / "heart.csv", "--target", "chd", "--chunk", 100)
    refused(
        "bad.csv, row 300: Column 'age' must hold numbers, as in training; it has 'old'. Correct",
        *("score", folder / "bad.csv", *options, "--out", folder / "scored.csv"),
    )
    frame = pd.read_csv(folder / "heart.csv")
    frame.loc[250, "age"] = np.nan
    frame.to_csv(folder / "bad.csv", index=False)
    model = ("--model", folder / "model.skops", "--train", folder / "heart.csv")
    refused(
        "bad.csv, row 250: Column 'age' is missing (NaN), and the model cannot take NaN. Correct",
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
    pd.concat([frame] * 30).to_csv(folder / "long.csv", index=False)
    before = sorted(folder.iterdir())
    options = ["--model", "model.skops", "--out", "scored.csv", "--chunk", "5"]  # slowly
    command = [sys.executable, "-m", "shafer", "score", "long.csv", *options]
    running = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while sorted(folder.iterdir()) == before and time.monotonic() < deadline:
        time.sleep(0.01)  # until the file beside the output is there
    running.send_signal(signal.SIGTERM)
    assert running.wait(60) == 143
    assert sorted(folder.iterdir()) == before


COSTS = pd.DataFrame({"1": [0.0, 5.0], "act": ["treat", "send home"], "0": [1.0, 0.0]})


@pytest.mark.parametrize("name", ["scored.csv", "scored.parquet"])
def test_costs_as_columns(folder: Path, name: str) -> None:
    frame = pd.read_csv(folder / "heart.csv")
    model = skops.io.load(folder / "model.skops")
    X = frame[model.feature_names_in_]
    explainer = shafer.Explainer(model, X, groups="source", prior="own")
    COSTS.to_csv(folder / "costs.csv", index=False)
    out = folder / name
    options = ("--model", folder / "model.skops", "--out", out, "--chunk", 100)
    loss = ("--loss", folder / "costs.csv")
    for given, arguments in (
        ({"loss": COSTS}, loss),
        ({"loss": COSTS, "reject": 0.4}, (*loss, "--reject", 0.4)),
        (
            {"loss": COSTS, "rule": "belief", "reject": 0.4},
            (*loss, "--reject", 0.4, "--rule", "belief"),
        ),
        ({"reject": 0.3}, ("--reject", 0.3)),
    ):
        result = run("score", folder / "heart.csv", *options, *arguments)
        assert result.exit_code == 0, result.output
        scored = pd.read_parquet(out) if name.endswith("parquet") else pd.read_csv(out)
        expected = explainer.decide(X, **given)
        assert scored["act"].astype(str).tolist() == [str(act) for act in expected]
        assert scored["act"].nunique() > 1
    p = scored[["probability_0", "probability_1"]].to_numpy()
    cost = np.where(scored["act"] == "reject", 0.3, 1.0 - p.max(axis=1))
    np.testing.assert_allclose(scored["expected_loss"], cost)
    result = run("score", folder / "heart.csv", *options, *loss, "--rule", "maximality")
    scored = pd.read_parquet(out) if name.endswith("parquet") else pd.read_csv(out)
    assert "expected_loss" not in scored
    assert set(scored["act"]) == {"treat", "send home", "{treat, send home}"}


def test_costs_that_are_refused(folder: Path) -> None:
    options = ("--model", folder / "model.skops", "--out", folder / "scored.csv")
    data = folder / "heart.csv"
    refused("--rule needs --loss", "score", data, *options, "--rule", "belief")
    COSTS.rename(columns={"act": "deed"}).to_csv(folder / "costs.csv", index=False)
    loss = ("--loss", folder / "costs.csv")
    refused("lacks the column act", "score", data, *options, *loss)
    COSTS.rename(columns={"1": "2"}).to_csv(folder / "costs.csv", index=False)
    refused("unknown labels ['2', '0'] and no value", "score", data, *options, *loss)
    refused("reject must be a number from 0 to 1", "score", data, *options, "--reject", 7)
    assert not (folder / "scored.csv").exists()
