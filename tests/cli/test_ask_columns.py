"""``shafer score --ask`` and ``shafer explain``: what to do about a row."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer

from .running import refused, run

COLUMNS = [
    "fragility",
    "overturn",
    "next_input",
    "next_information",
    "check_input",
    "check_expected",
    "check_stake",
    "alarm",
]


REPORT = Path(__file__).parents[2] / "docs" / "guide" / "report.md"


@pytest.mark.parametrize("column", COLUMNS)
def test_every_column_is_in_the_help_and_in_the_guide(column: str) -> None:
    told = run("score", "--help").output
    assert re.search(rf"\b{column}\b", told), f"Name {column} in the help of cli/score.py."
    guide = REPORT.read_text(encoding="utf-8")
    assert f"`{column}`" in guide, f"Name {column} in docs/guide/report.md."


@pytest.fixture
def gaps(folder: Path) -> Path:
    """A table whose first rows are complete, and a model that imputes."""
    frame = pd.read_csv(folder / "heart.csv").drop(columns=["famhist"])
    X = frame.drop(columns=["chd"])
    model = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression())
    skops.io.dump(model.fit(X, frame["chd"]), folder / "imputing.skops")
    holes = np.random.default_rng(0).random(X.shape) < 0.15
    holes[:100] = False
    X.mask(holes).to_csv(folder / "gaps.csv", index=False)
    return folder


def scored(folder: Path, out: str, *more: object) -> pd.DataFrame:
    result = run("score", folder / "gaps.csv", "--ask", "--out", folder / out, *more)
    assert result.exit_code == 0, result.output
    assert "only fragility" not in result.output
    path = folder / out
    return pd.read_parquet(path) if out.endswith("parquet") else pd.read_csv(path)


@pytest.mark.parametrize("out", ["scored.parquet", "scored.csv"])
def test_columns_are_the_explainers_answers(gaps: Path, out: str) -> None:
    # The first chunk has no gaps, so its columns of texts are empty.
    named = ["--model", gaps / "imputing.skops", "--train", gaps / "heart.csv"]
    found = scored(gaps, out, *named, "--chunk", 100)
    assert found.columns[-8:].tolist() == COLUMNS
    model = skops.io.load(gaps / "imputing.skops", trusted=["numpy.dtype"])
    X = pd.read_csv(gaps / "gaps.csv")
    background = pd.read_csv(gaps / "heart.csv")[list(X.columns)]
    explainer = shafer.Explainer(model, background)
    for name, true in (
        ("fragility", explainer.ask.fragility(X)),
        ("overturn", explainer.ask.overturn(X)),
        ("alarm", explainer.ask.guard(X).alarm),
    ):
        assert_allclose(found[name], true, rtol=1e-9, atol=1e-300)
    asked = explainer.ask.next_inputs(X, 1).set_index("row")
    rows = asked.index.to_numpy()
    assert_array_equal(found["next_input"].iloc[rows], asked["input"])
    assert_allclose(found["next_information"].iloc[rows], asked["information"])
    rest = np.setdiff1d(np.arange(len(X)), rows)
    assert found["next_input"].iloc[rest].isna().all()
    assert found["next_information"].iloc[rest].isna().all()
    cells = explainer.ask.check_cells(X, 1, order="stake")
    assert_array_equal(found["check_input"], cells["input"])
    assert_allclose(found["check_expected"], cells["expected"])
    assert_allclose(found["check_stake"], cells["stake"])


def test_categories_are_texts(folder: Path) -> None:
    out = folder / "scored.parquet"
    data = folder / "heart.csv"
    result = run("score", data, "--train", data, "--target", "chd", "--ask", "--out", out)
    assert result.exit_code == 0, result.output
    found = pd.read_parquet(out)
    assert set(found["check_input"]) >= {"famhist"}
    assert found["next_input"].isna().all()
    categories = found["check_expected"][found["check_input"] == "famhist"]
    assert set(categories) <= {"Present", "Absent"}


def test_without_the_distribution_only_fragility(folder: Path) -> None:
    out = folder / "scored.csv"
    model = folder / "model.skops"
    result = run("score", folder / "heart.csv", "--model", model, "--ask", "--out", out)
    assert result.exit_code == 0, result.output
    assert "only fragility was written" in result.output
    assert "--train" in result.output
    found = pd.read_csv(out)
    assert found.columns[-1] == "fragility"
    assert not set(COLUMNS[1:]) & set(found.columns)
    assert found["fragility"].between(0.0, 1.0).all()


def test_explain_has_three_sentences(gaps: Path) -> None:
    row = int(pd.read_csv(gaps / "gaps.csv").isna().sum(axis=1).argmax())
    asked = ["explain", "--data", gaps / "gaps.csv", "--train", gaps / "heart.csv", "--row", row]
    result = run(*asked, "--model", gaps / "imputing.skops")
    assert result.exit_code == 0, result.output
    for heading in ("What would settle it", "Would it stand", "Check this value"):
        assert f"\n{heading}\n" in result.output
    complete = run("explain", "--row", 17)
    assert "What would settle it" not in complete.output
    assert "Would it stand" in complete.output


def test_missing_inputs_of_a_model_that_takes_none(gaps: Path) -> None:
    data, model = gaps / "gaps.csv", gaps / "model.skops"
    asked = ["explain", "--data", data, "--model", model, "--row", 200]
    train = ["--train", gaps / "heart.csv"]
    refused("contains NaN", *asked, *train)
    result = run(*asked, *train, "--missing", "conditional")
    assert result.exit_code == 0, result.output
    assert "What would settle it" in result.output
    refused("--missing conditional needs the training data", *asked, "--missing", "conditional")
    refused("--missing needs --data", "explain", "--missing", "vacuous")
    result = run("score", data, "--model", model, "--missing", "vacuous", "--out", gaps / "s.csv")
    assert result.exit_code == 0, result.output


def test_a_saved_explainer_keeps_its_choice(gaps: Path) -> None:
    X = pd.read_csv(gaps / "gaps.csv")
    model = skops.io.load(gaps / "imputing.skops", trusted=["numpy.dtype"])
    skops.io.dump(shafer.Explainer(model, X), gaps / "explainer.skops")
    refused(
        "keeps its own choice",
        *["explain", "--data", gaps / "gaps.csv", "--model", gaps / "explainer.skops"],
        *["--missing", "conditional"],
    )
