"""``shafer explain``."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import skops.io
from sklearn.linear_model import LogisticRegression

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
