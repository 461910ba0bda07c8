"""``shafer explain``."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import skops.io
from sklearn.linear_model import LogisticRegression

import shafer

from .running import refused, run


def test_explain(folder: Path) -> None:
    result = run("explain", "--row", 17)
    assert result.exit_code == 0
    assert "typea 78" in result.output
    result = run("explain", "--data", folder / "heart.csv", "--target", "chd", "--row", 0)
    assert result.exit_code == 0, result.output
    assert "famhist Present" in result.output


def test_a_model_trained_on_arrays(folder: Path) -> None:
    frame = pd.read_csv(folder / "heart.csv")[["age", "ldl", "chd"]]
    frame.to_csv(folder / "two.csv", index=False)
    model = LogisticRegression().fit(frame[["age", "ldl"]].to_numpy(), frame["chd"])
    skops.io.dump(model, folder / "array.skops")
    arguments = ("--model", folder / "array.skops", "--data", folder / "two.csv")
    own = ("--train", folder / "two.csv")
    result = run("explain", *arguments, *own, "--target", "chd", "--row", 3)
    assert result.exit_code == 0, result.output
    assert "age 58" in result.output
    refused("The model takes 2 columns", "explain", *arguments)


def test_classes_and_reasons(folder: Path) -> None:
    codes = folder / "codes.csv"
    codes.write_text("component,code,text\ntypea,A1,type A behaviour\n")
    result = run("explain", "--row", 17, "--class", "healthy", "--reasons", 2, "--codes", codes)
    assert result.exit_code == 0, result.output
    assert "Why healthy rather than chd, in log-odds" in result.output
    assert "Reasons for healthy over chd" in result.output
    assert "1. obesity 32.7, " in result.output
    result = run("explain", "--row", 17, "--over", "healthy", "--reasons", 2, "--codes", codes)
    assert "A1  type A behaviour" in result.output
    refused("--class names 'x', which the model does not know", "explain", "--class", "x")
    twice = ("--class", "healthy", "--over", "healthy")
    refused("compared with another class; got 'healthy' twice", "explain", *twice)
    assert "  3. " in run("explain", "--codes", codes).output  # as many as score writes


def test_one_case_as_a_page(folder: Path) -> None:
    result = run("explain", "--row", 17, "--html", folder)
    assert result.exit_code == 0, result.output
    assert f"Written to {folder / 'case.html'}" in result.output
    page = (folder / "case.html").read_text("utf-8")
    assert '"i":[17]' in page
    assert '"name":"age","components":[8],"anchor"' in page  # with a slider
    assert '"low":15' in page
    assert '<section id="cases"' not in page
    refused("--html must be an .html file or a folder", "explain", "--html", folder / "case.pdf")


def test_error_bars_need_the_training_data(folder: Path) -> None:
    assert "±" in run("explain", "--row", 17, "--errors", "laplace").output
    data = ("--data", folder / "heart.csv")
    trained = run("explain", *data, "--target", "chd", "--errors", "laplace")
    assert "±" in trained.output, trained.output
    model = ("--model", folder / "model.skops")
    refused("needs the training data", "explain", *data, *model, "--errors", "laplace")
    given = run("explain", *data, *model, "--train", folder / "heart.csv", "--errors", "laplace")
    assert "±" in given.output, given.output
    frame = pd.read_csv(folder / "heart.csv")
    X = frame[["age", "ldl"]]
    frame[["age", "ldl", "chd"]].to_csv(folder / "two.csv", index=False)
    head = LogisticRegression().fit(X, frame["chd"])
    arguments = ("explain", "--data", folder / "two.csv", "--model", folder / "e.skops")
    for errors in (None, "laplace"):
        skops.io.dump(shafer.Explainer(head, X, errors=errors), folder / "e.skops")
        shown = run(*arguments, "--target", "chd")
        assert shown.exit_code == 0, shown.output
        assert ("±" in shown.output) == (errors is not None)
    skops.io.dump(shafer.Explainer(head, X), folder / "e.skops")
    refused("was made without error bars", *arguments, "--target", "chd", "--errors", "laplace")
