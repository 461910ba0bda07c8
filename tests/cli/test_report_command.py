"""``shafer report``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.ensemble import HistGradientBoostingClassifier

from .running import refused, run


def test_report(tmp_path: Path) -> None:
    result = run("report", "--out", tmp_path / "deep" / "page.html", "--rows", "0,17,40:42")
    assert result.exit_code == 0, result.output
    for word in ("p(chd)", "[bel, pl]", "ignorance", "for chd: ", "against: ", "asked for"):
        assert word in result.output
    assert "Heart disease" in (tmp_path / "deep" / "page.html").read_text()
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["page.html"]


def test_report_into_a_folder(tmp_path: Path) -> None:
    assert run("report", "--out", tmp_path / "out").exit_code == 0
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["report.html"]


@pytest.mark.parametrize("name", ["heart.csv", "heart.parquet"])
def test_report_trains_and_says_so(folder: Path, name: str) -> None:
    out = folder / "r.html"
    result = run("report", "--data", folder / name, "--target", "chd", "--out", out)
    assert result.exit_code == 0, result.output
    page = out.read_text()
    for text in (result.output, page):
        assert "No model was given, so a logistic regression was trained on all 462 rows" in text
        assert "held-out rows, by 5-fold cross-validation" in text
    assert '"choices":["Present","Absent"]' in page  # categories have a menu


def test_report_on_a_model(folder: Path) -> None:
    out = folder / "r.html"
    data = ("--data", folder / "heart.csv", "--out", out)
    for model in (
        ("--model", folder / "model.skops"),
        ("--model", folder / "model.joblib", "--trust-pickle"),
        ("--model", folder / "model.skops", "--train", folder / "heart.parquet"),
    ):
        result = run("report", *model, *data, "--target", "chd")
        assert result.exit_code == 0, result.output
        assert "Whether it was trained on them is not known here" in result.output
    result = run("report", "--model", folder / "model.skops", *data)
    assert result.exit_code == 0, result.output
    assert "error on" not in result.output


def test_judge_first(folder: Path) -> None:
    out = folder / "r.html"
    result = run("report", "--out", out, "--judge-first")
    assert result.exit_code == 0, result.output
    assert "why shown" not in result.output  # the terminal must not give answers away either
    page = out.read_text()
    assert '"judgeFirst":true' in page
    assert "arXiv:2402.01292" in page
    assert run("report", "--out", out).exit_code == 0
    assert '"judgeFirst":false' in out.read_text()


def test_error_bars(folder: Path) -> None:
    out = folder / "r.html"
    data = ("--data", folder / "heart.csv", "--target", "chd", "--out", out)
    result = run("report", *data, "--errors", "laplace")
    assert result.exit_code == 0, result.output
    assert '"errors":{"level":0.9' in out.read_text()
    model = ("--model", folder / "model.skops")
    refused("needs the training data", "report", *data, *model, "--errors", "laplace")


def test_infinite_inputs_are_shown(folder: Path) -> None:
    frame = pd.read_csv(folder / "heart.csv")[["age", "ldl", "chd"]]
    model = HistGradientBoostingClassifier(max_iter=3).fit(frame[["age", "ldl"]], frame["chd"])
    skops.io.dump(model, folder / "h.skops")
    few = frame[:9].assign(ldl=[np.inf, -np.inf, *range(7)])
    frame.to_csv(folder / "train.csv", index=False)
    few.to_csv(folder / "inf.csv", index=False)
    name = skops.io.get_untrusted_types(file=folder / "h.skops")[0]
    options = ("--model", folder / "h.skops", "--trust", name, "--data", folder / "inf.csv")
    result = run(
        "report",
        *options,
        "--train",
        folder / "train.csv",
        "--target",
        "chd",
        "--out",
        folder / "r.html",
    )
    assert result.exit_code == 0, result.output
    assert '"∞"' in (folder / "r.html").read_text("utf-8")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    for module in ("shafer._files.templates", "shafer.report.page"):  # as if never imported
        monkeypatch.delitem(sys.modules, module, raising=False)
        monkeypatch.delattr(module, raising=False)
    refused(
        "pip install '.[report]' in a copy of the repository",
        "report",
        "--out",
        tmp_path / "r.html",
    )
