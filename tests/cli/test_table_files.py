"""Tables as users have them."""

from __future__ import annotations

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
from shafer.cli.table_files import read_table, survey

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
    assert read_table(path).shape == (2, 20_000)
    kinds, count = survey(path, 10)
    assert (len(kinds), count) == (20_000, 2)
    assert time.process_time() - start < 20  # seconds; 0.1.0 needed minutes
    path.write_text(",".join([*names, "x7"]) + "\n")
    with pytest.raises(ValueError, match="two columns named 'x7'"):
        read_table(path)


def test_too_many_columns_to_train_on(tmp_path: Path) -> None:
    names = [*(f"x{j}" for j in range(10_001)), "y"]
    rows = "\n".join(",".join(["1"] * 10_001 + [str(k % 2)]) for k in range(4))
    (tmp_path / "wide.csv").write_text(",".join(names) + "\n" + rows)
    data = ("--data", tmp_path / "wide.csv", "--target", "y")
    refused(
        "wide.csv has 10,001 columns. A model is trained here on at most 10,000", "explain", *data
    )
