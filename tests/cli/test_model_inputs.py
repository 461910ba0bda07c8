"""Models that take texts, and models that take columns by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline

import shafer

from .running import refused, run

REVIEWS = [f"a good book {i}" if i % 2 else f"a bad film {i}" for i in range(20)]
TRUTH = ["good" if i % 2 else "bad" for i in range(20)]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    frame = pd.DataFrame({"number": range(20), "review": REVIEWS, "truth": TRUTH})
    frame.to_csv(tmp_path / "d.csv", index=False)
    frame.to_parquet(tmp_path / "d.parquet")
    frame.assign(title="t").to_csv(tmp_path / "two.csv", index=False)
    frame[["number"]].to_csv(tmp_path / "none.csv", index=False)
    frame.assign(review=[None, *REVIEWS[1:]]).to_csv(tmp_path / "gap.csv", index=False)
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(REVIEWS, TRUTH)
    skops.io.dump(model, tmp_path / "m.skops")
    return tmp_path


VECTORIZERS = {
    "tfidf": TfidfVectorizer(),
    "count": CountVectorizer(),
    "hashing": HashingVectorizer(n_features=64),
    "union": FeatureUnion([("a", TfidfVectorizer()), ("b", CountVectorizer())]),
}


@pytest.mark.parametrize("name", sorted(VECTORIZERS))
@pytest.mark.parametrize("table", ["d.csv", "d.parquet"])
def test_score_texts(texts: Path, name: str, table: str) -> None:
    model = make_pipeline(VECTORIZERS[name], LogisticRegression()).fit(REVIEWS, TRUTH)
    skops.io.dump(model, texts / "m.skops")
    means = ("--train", texts / "d.csv", "--target", "truth")
    options = ("--model", texts / "m.skops", *means, "--out", texts / "s.csv", "--chunk", 7)
    result = run("score", texts / table, "--evidence", *options)
    assert result.exit_code == 0, result.output
    assert "20 rows" in result.output
    scored = pd.read_csv(texts / "s.csv")
    assert len(scored) == 20
    expected = shafer.Explainer(model, REVIEWS, prior="own")(REVIEWS)
    np.testing.assert_allclose(scored["belief_good"], expected.belief[:, 1], atol=1e-12)


def test_a_search_over_text_models(texts: Path) -> None:
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression())
    search = GridSearchCV(pipeline, {"logisticregression__C": [1.0, 2.0]}, cv=2)
    skops.io.dump(search.fit(REVIEWS, TRUTH), texts / "m.skops")
    options = ("--target", "truth", "--train", texts / "d.csv", "--out", texts / "s.csv")
    result = run("score", texts / "d.csv", "--model", texts / "m.skops", *options)
    assert result.exit_code == 0, result.output
    assert len(pd.read_csv(texts / "s.csv")) == 20


def test_which_column_holds_the_texts(texts: Path) -> None:
    score = ("--model", texts / "m.skops", "--means-from-data", "--out", texts / "s.csv")
    refused("has 2: 'review', 'truth'. Name the column", "score", texts / "d.csv", *score)
    known = (*score, "--target", "truth")
    refused("has 2: 'review', 'title'. Name the column", "score", texts / "two.csv", *known)
    refused("no such column, but 'number'", "score", texts / "none.csv", *score)
    named = (*known, "--text-column", "review")
    assert run("score", texts / "two.csv", *named).exit_code == 0
    refused("has no column 'x'; it has", "score", texts / "d.csv", *score, "--text-column", "x")
    gap = ("score", texts / "gap.csv", *known, "--text-column", "review")
    refused("Column 'review' has no text in row 0", *gap)


def test_a_table_model_has_no_text_column(folder: Path) -> None:
    options = ("--model", folder / "model.skops", "--text-column", "famhist")
    refused("--text-column is for models", "explain", "--data", folder / "heart.csv", *options)


def test_files_named_in_the_data_are_not_opened(texts: Path) -> None:
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(REVIEWS, TRUTH)
    model[0].input = "filename"
    skops.io.dump(model, texts / "m.skops")
    options = ("--model", texts / "m.skops", "--means-from-data", "--text-column", "review")
    refused("it must take the texts themselves", "explain", "--data", texts / "d.csv", *options)


def test_columns_by_name(folder: Path) -> None:
    """Columns in another order and columns that the model does not take change nothing."""
    frame = pd.read_csv(folder / "heart.csv")
    frame[frame.columns[::-1]].assign(extra="x").to_csv(folder / "other.csv", index=False)
    outs = []
    for name in ("heart", "other"):
        out = folder / f"{name}.scored.csv"
        options = ("--model", folder / "model.skops", "--out", out)
        assert run("score", folder / f"{name}.csv", *options).exit_code == 0
        outs.append(pd.read_csv(out))
    pd.testing.assert_frame_equal(*outs)


@pytest.mark.parametrize("options", [("--row", "3"), ("--row", "3", "--text-column", "review")])
def test_explain_a_text(texts: Path, options: tuple[str, ...]) -> None:
    means = ("--train", texts / "d.csv", "--target", "truth")
    given = ("--model", texts / "m.skops", "--data", texts / "d.csv")
    result = run("explain", *given, *means, *options)
    assert result.exit_code == 0, result.output
    assert "book" in result.output
    assert "good" in result.output


def test_report_on_texts(texts: Path) -> None:
    given = ("--model", texts / "m.skops", "--data", texts / "d.csv", "--target", "truth")
    result = run("report", *given, "--out", texts / "out")
    assert result.exit_code == 0, result.output
    assert "a good book 3" in (texts / "out" / "report.html").read_text(encoding="utf-8")
