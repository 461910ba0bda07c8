"""Labels of tables and labels of models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .running import refused, run


@pytest.mark.parametrize(
    "labels", [[0.0, 1.0], [0, 1], [-1, 1], ["0", "1"], [False, True], [2.0, 7.0], ["no", "yes"]]
)
def test_labels_of_every_type(labels: list[Any], tmp_path: Path) -> None:
    """The model is trained on the labels, the table holds them as a CSV file does."""
    rng = np.random.default_rng(0)
    truth = np.array(labels)[rng.integers(0, 2, 60)]
    frame = pd.DataFrame({"a": rng.normal(size=60), "t": truth})
    frame.to_csv(tmp_path / "d.csv", index=False)
    frame.astype({"t": str}).to_parquet(tmp_path / "d.parquet")
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame[["a"]], truth)
    skops.io.dump(model, tmp_path / "m.skops")
    wrong = int((model.predict(frame[["a"]]) != truth).sum())
    options = ("--model", tmp_path / "m.skops", "--target", "t", "--out", tmp_path / "r.html")
    result = run("report", "--data", tmp_path / "d.csv", *options)
    assert result.exit_code == 0, result.output
    assert f"{wrong / 60:.1%}".replace("%", " %") in result.output.replace("\xa0", " ") or (
        f"{100 * wrong / 60:.1f}" in result.output
    )


def test_unknown_labels(folder: Path) -> None:
    frame = pd.read_csv(folder / "heart.csv")
    frame.assign(chd=frame["chd"] + 1).to_csv(folder / "other.csv", index=False)
    options = ("--model", folder / "model.skops", "--target", "chd")
    message = "holds '2', which the model does not know; its classes are '0', '1'"
    refused(message, "explain", "--data", folder / "other.csv", *options)
