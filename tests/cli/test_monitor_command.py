"""``shafer monitor``: the table, the page, and the exit codes of a cron job."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import shafer
from shafer.monitor.prometheus import prometheus_text

from .running import refused, run


@pytest.fixture
def months(folder: Path) -> Path:
    """A folder with reference rows, a quiet month and a month with older people."""
    frame = pd.read_csv(folder / "heart.csv")
    frame[::2].to_csv(folder / "reference.csv", index=False)
    quiet = frame[1::2].copy()
    quiet.to_csv(folder / "quiet.csv", index=False)
    quiet.assign(age=quiet["age"] + 20).to_csv(folder / "older.csv", index=False)
    return folder


def test_a_quiet_file(months: Path) -> None:
    model = "--model", months / "model.skops"
    result = run("monitor", months / "reference.csv", months / "quiet.csv", *model)
    assert result.exit_code == 0, result.output
    assert "quiet.csv\nNo alarm (231 rows compared with 231 reference rows" in result.output
    assert "adjusted p" in result.output
    assert "stored in its StandardScaler" in result.output


def test_an_alarm_is_exit_code_1(months: Path) -> None:
    files = [months / name for name in ("reference.csv", "quiet.csv", "older.csv")]
    page = months / "new" / "page.html"
    result = run(
        *("monitor", *files, "--model", months / "model.skops", "--labels", "chd", "--out", page)
    )
    assert result.exit_code == 1, result.output
    assert "ALARM: 1 of 8 components moved" in result.output
    assert "! age" in result.output
    assert "log loss" in result.output
    html = page.read_text("utf-8")
    assert "Alarm in 1 of 2 batch(es): older.csv." in html
    assert "http" not in html.replace('http-equiv="Content-Security-Policy"', "")
    assert "<script" not in html


def test_the_target_holds_the_true_classes(months: Path) -> None:
    """In files that have it; ``--labels`` says the same, and must be there."""
    files = [months / name for name in ("reference.csv", "quiet.csv")]
    stored = ("--model", months / "model.skops")
    named = run("monitor", *files, *stored, "--labels", "chd").output
    assert "accuracy" in named
    assert "shift       of the mean, in log-odds" in named
    assert run("monitor", *files, *stored, "--target", "chd").output == named
    pd.read_csv(files[1]).drop(columns="chd").to_csv(months / "later.csv", index=False)
    later = run("monitor", files[0], months / "later.csv", *stored, "--target", "chd")
    assert later.exit_code == 0, later.output
    assert "accuracy" not in later.output
    refused(
        "later.csv has no column 'chd'",
        *("monitor", files[0], months / "later.csv"),
        *stored,
        "--labels",
        "chd",
    )


def test_a_saved_monitor_with_json_and_metrics(months: Path) -> None:
    """As in a cron job: the reference is read once; programs read what was found."""
    model = ("--model", months / "model.skops")
    quiet, older = months / "quiet.csv", months / "older.csv"
    saved = months / "saved.monitor"
    result = run("monitor", months / "reference.csv", *model, "--labels", "chd", "--save", saved)
    assert result.exit_code == 0, result.output
    assert f"Written to {saved}." in result.output
    found = months / "out.json", months / "out.prom"
    watch = ("--monitor", saved, *model, "--json", found[0], "--prometheus", found[1])
    result = run("monitor", *watch, quiet, older)
    assert result.exit_code == 1, result.output
    told = json.loads(found[0].read_text())
    assert told["alarm"] is True
    assert [Path(batch["file"]).name for batch in told["batches"]] == ["quiet.csv", "older.csv"]
    assert [batch["moved"] for batch in told["batches"]] == [[], ["age"]]
    age = {check["name"]: check for check in told["batches"][1]["checks"]}["age"]
    assert age["psi"] == "Infinity"
    assert age["moved"] is True
    assert age["decisions"] == told["batches"][1]["decisions_moved"]
    # The same as with the reference itself.
    direct = run("monitor", months / "reference.csv", older, *model, "--json", found[0])
    assert direct.exit_code == 1
    assert json.loads(found[0].read_text())["batches"] == told["batches"][1:]
    lines = found[1].read_text().splitlines()
    samples = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert samples['shafer_monitor_alarm{batch="quiet.csv"}'] == "0"
    assert samples['shafer_monitor_alarm{batch="older.csv"}'] == "1"
    label = 'batch="older.csv",kind="component",name="age"'
    assert samples[f"shafer_monitor_psi{{{label}}}"] == "+Inf"
    assert float(samples[f"shafer_monitor_shift{{{label}}}"]) == age["shift"]
    assert abs(float(samples["shafer_monitor_last_run_timestamp_seconds"]) - time.time()) < 600
    assert len(samples) == len([line for line in lines if not line.startswith("#")])  # each once
    quietly = run("monitor", "--monitor", saved, *model, quiet, "--json", found[0])
    assert quietly.exit_code == 0
    assert json.loads(found[0].read_text())["alarm"] is False
    before = found[0].read_bytes()
    pd.read_csv(quiet).drop(columns="age").to_csv(months / "less.csv", index=False)
    failed = run("monitor", *watch, months / "less.csv")
    assert failed.exit_code == 2
    assert found[0].read_bytes() == before


def test_metrics_follow_the_format(tmp_path: Path) -> None:
    name = 'a"b\\c\nd'
    explainer = shafer.Explainer(([1.0, 2.0], 0.0), np.eye(2), names=[name, "v"])
    random = np.random.default_rng(0)
    monitor = shafer.Monitor.fit(explainer, random.normal(size=(100, 2)))
    report = monitor.check(random.normal(size=(50, 2)))
    text = prometheus_text([report, report], ["one", "two"])
    families = [line.split(" ")[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(families) == len(set(families))
    for line in text.splitlines():  # https://prometheus.io/docs/instrumenting/exposition_formats
        label = r'[a-z]+="(?:[^"\\\n]|\\\\|\\"|\\n)*"'
        sample = rf"[a-z_]+(?:{{{label}(?:,{label})*}})? (?:NaN|[+-]Inf|[-+.0-9e]+)"
        assert re.fullmatch(rf"# (?:HELP [a-z_]+ .+|TYPE [a-z_]+ gauge)|{sample}", line), line
    assert r'name="a\"b\\c\nd"' in text


def test_options_that_do_not_fit(months: Path) -> None:
    model = ("--model", months / "model.skops")
    reference, quiet = months / "reference.csv", months / "quiet.csv"
    saved = months / "saved.monitor"
    assert run("monitor", reference, *model, "--save", saved).exit_code == 0
    refused("needs REFERENCE and at least one file NEW", "monitor", reference, *model)
    again = ("monitor", "--monitor", saved, quiet, *model)
    refused("--alpha cannot be used with --monitor", *again, "--alpha", "0.1")
    refused("Leave out --save", *again, "--save", months / "x")
    refused("--json must be another file than the data", *again, "--json", quiet)
    changed = skops.io.load(months / "model.skops")
    changed[-1].coef_ *= 0.5
    skops.io.dump(changed, months / "other.skops")
    other = ("--model", months / "other.skops")
    refused("The explainer is not the one", "monitor", "--monitor", saved, quiet, *other)
    frame = pd.read_csv(quiet)
    frame.loc[5, "ldl"] = np.nan
    frame.to_csv(months / "gap.csv", index=False)
    told = "gap.csv, row 5: Column 'ldl' is missing (NaN), and the model cannot take NaN. Correct"
    refused(told, "monitor", reference, months / "gap.csv", *model)


def test_names_are_escaped(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    names = ["<script>alert(1)</script>", "b & c"]
    explainer = shafer.Explainer(([1.0, 2.0], 0.0), np.eye(2), names=names, classes=["<a>", "<b>"])
    monitor = shafer.Monitor.fit(explainer, random.normal(size=(100, 2)))
    reports = [monitor.check(random.normal(size=(50, 2)) + shift) for shift in (0.0, 2.0)]
    monitor.write_page(reports, tmp_path / "p.html", ["<i>", "<u>"], title="<title>")
    html = (tmp_path / "p.html").read_text("utf-8")
    for text in (*names[:1], "<a>", "<i>", "<title><"):
        assert text not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "b &amp; c" in html


def test_a_model_is_trained(months: Path) -> None:
    files = [months / name for name in ("reference.csv", "older.csv")]
    result = run("monitor", *files, "--train", months / "heart.csv", "--target", "chd")
    assert result.exit_code == 1, result.output
    assert "ALARM: 1 of 9 components moved" in result.output
    strict = run(
        *("monitor", *files, "--train", months / "heart.csv", "--target", "chd"),
        *("--alpha", "1e-300"),
    )
    assert strict.exit_code == 0, strict.output


def test_wrong_files(months: Path) -> None:
    reference, quiet = months / "reference.csv", months / "quiet.csv"
    model = "--model", months / "model.skops"
    refused("needs --model, or --train and --target", "monitor", reference, quiet)
    refused("does not exist", "monitor", reference, months / "nowhere.csv", *model)
    pd.read_csv(quiet).drop(columns="age").to_csv(months / "less.csv", index=False)
    refused("less.csv lacks the column 'age'", "monitor", reference, months / "less.csv", *model)
    frame = pd.read_csv(quiet).astype({"age": object})
    frame.loc[3, "age"] = "old"
    frame.to_csv(months / "text.csv", index=False)
    refused("row 3 has 'old'", "monitor", reference, months / "text.csv", *model)
    pd.read_csv(quiet)[:5].to_csv(months / "short.csv", index=False)
    refused("short.csv: X has 5 rows", "monitor", reference, months / "short.csv", *model)
    refused("X_reference has 5 rows", "monitor", months / "short.csv", quiet, *model)
    refused("no column 'x'", "monitor", reference, quiet, *model, "--labels", "x")
    refused("--out must be a .html file", "monitor", reference, quiet, *model, "--out", quiet)
    refused("alpha must be a chance", "monitor", reference, quiet, *model, "--alpha", "2")
    page = months / "page.html"
    refused("short.csv", "monitor", reference, months / "short.csv", *model, "--out", page)
    assert not page.exists()


def test_other_errors_are_never_taken_for_an_alarm(
    months: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("broken")

    monkeypatch.setattr(shafer.Monitor, "check", broken)
    files = [months / name for name in ("reference.csv", "quiet.csv")]
    refused("KeyError: 'broken'", "monitor", *files, "--model", months / "model.skops")


def test_a_model_without_weights(months: Path) -> None:
    frame = pd.read_csv(months / "heart.csv")
    X = frame.drop(columns=["chd", "famhist"])
    members = [("a", LogisticRegression(max_iter=2000)), ("b", GaussianNB())]
    voting = shafer.EvidentialVotingClassifier(members).fit(X, frame["chd"])
    skops.io.dump(voting, months / "voting.skops")
    files = [months / name for name in ("reference.csv", "quiet.csv")]
    refused("needs a model with weights", "monitor", *files, "--model", months / "voting.skops")


SLOW = """
import sys, shafer._files.atomic, shafer.monitor.page as page
from shafer.cli import main
whole = page.replacing
def slow(path):
    from contextlib import contextmanager
    @contextmanager
    def paused():
        with whole(path) as file:
            file.write(b"<half")
            file.flush()
            print("writing", flush=True)
            import time
            time.sleep(60)
            yield file
    return paused()
page.replacing = slow
main(sys.argv[1:])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_killed_run_leaves_no_half_page(months: Path) -> None:
    page = months / "page.html"
    page.write_text("the page of last month")
    options = ["--model", "model.skops", "--out", "page.html"]
    command = [sys.executable, "-c", SLOW, "monitor", "reference.csv", "older.csv", *options]
    running = subprocess.Popen(command, cwd=months, stdout=subprocess.PIPE, env=os.environ)
    assert running.stdout is not None
    line, deadline = b"", time.monotonic() + 60
    while b"writing" not in line and time.monotonic() < deadline:
        line = running.stdout.readline()
    running.send_signal(signal.SIGKILL)
    assert running.wait(60) == -signal.SIGKILL
    running.stdout.close()
    assert page.read_text() == "the page of last month"
