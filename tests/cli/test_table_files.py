"""Tables as users have them."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from shafer.scale.tables import column_names, read_table, survey

from .running import refused, run


def test_cells_beyond_the_header_may_be_empty(tmp_path: Path) -> None:
    """A comma at the end of each line is a frequent slip, and does no harm."""
    (tmp_path / "t.csv").write_text("x,y\n" + "1,a,\n2,b,\n" * 5)
    result = run("explain", "--data", tmp_path / "t.csv", "--target", "y", "--row", 1)
    assert result.exit_code == 0, result.output
    assert "x 2" in result.output


def test_a_gap_in_a_truth_column(tmp_path: Path) -> None:
    """Under version 0.1.0 this was a traceback."""
    rng = np.random.default_rng(0)
    flags = pd.array(rng.integers(0, 2, 40).astype(bool), dtype="boolean")
    frame = pd.DataFrame({"a": rng.normal(size=40), "f": flags})
    frame.loc[3, "f"] = pd.NA
    frame.to_parquet(tmp_path / "d.parquet")
    model = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression())
    numbers = frame.astype(float)
    skops.io.dump(model.fit(numbers, rng.integers(0, 2, 40)), tmp_path / "m.skops")
    options = ("--model", tmp_path / "m.skops", "--out", tmp_path / "s.csv", "--chunk", 8)
    result = run("score", tmp_path / "d.parquet", *options)
    assert result.exit_code == 0, result.output
    expected = shafer.Explainer(model, numbers)(numbers).probability[:, 1]
    np.testing.assert_allclose(pd.read_csv(tmp_path / "s.csv")["probability_1"], expected)


def test_wide_tables(tmp_path: Path) -> None:
    """Time grows with the number of columns, not with its square."""
    path = tmp_path / "wide.csv"
    names = [f"x{j}" for j in range(20_000)]
    path.write_text(",".join(names) + "\n" + "\n".join(",".join(["1"] * 20_000) for _ in "ab"))
    start = time.process_time()
    assert read_table(path).frame.shape == (2, 20_000)
    found = survey(path, 10)
    kinds, count = found.kinds, found.rows
    assert (len(kinds), count) == (20_000, 2)
    assert time.process_time() - start < 20  # seconds; 0.1.0 needed minutes
    path.write_text(",".join([*names, "x7"]) + "\n")
    with pytest.raises(ValueError, match="two columns named 'x7'"):
        read_table(path)


def no_rows(path: Path) -> None:
    raise AssertionError(f"the rows of {path} were read")


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_too_many_columns_to_train_on(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shafer.scale.models.read_table", no_rows)
    names = [*(f"x{j}" for j in range(10_001)), "y"]
    path, frame = tmp_path / f"wide.{ending}", pd.DataFrame(np.ones((2, 10_002)), columns=names)
    frame.to_parquet(path) if ending == "parquet" else frame.to_csv(path, index=False)
    refused(
        f"wide.{ending} has 10,001 columns besides the target. A model is trained here on at most "
        "10,000.",
        "explain",
        *("--data", path, "--target", "y"),
    )


def test_a_model_of_too_many_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["shafer.cli.explain"], "read_table", no_rows)
    X = np.random.default_rng(0).normal(size=(4, 20_001))
    skops.io.dump(LogisticRegression().fit(X, [0, 1, 0, 1]), tmp_path / "m.skops")
    refused(
        "The model takes 20,001 columns. shafer explain and shafer report accept at most 20,000.",
        "explain",
        *("--data", tmp_path / "wide.csv", "--model", tmp_path / "m.skops"),
    )


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_column_names(ending: str, tmp_path: Path) -> None:
    names = ["NA", "größe", 'a, "b"', "two\nlines"]
    path, frame = tmp_path / f"t.{ending}", pd.DataFrame([[1, 2, 3, 4]], columns=names)
    frame.to_parquet(path) if ending == "parquet" else frame.to_csv(path, index=False)
    assert column_names(path) == names == list(read_table(path).columns)


def test_headers_as_users_have_them(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("\n\na,b,\n1,2,3\n", encoding="utf-8-sig")
    assert column_names(path) == ["a", "b"]
    assert list(read_table(path).columns) == ["a", "b", "Unnamed: 2"]
    path.write_text("NA,NA\n1,2\n")
    with pytest.raises(ValueError, match="two columns named 'NA'"):
        read_table(path)
    path.write_text('"' + "a" * 200_000)
    with pytest.raises(ValueError, match="t.csv cannot be read: field larger than field limit"):
        column_names(path)
    path.write_text("")
    with pytest.raises(ValueError, match="t.csv cannot be read: No columns to parse"):
        read_table(path)
