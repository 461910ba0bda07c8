"""A folder with a table and a model, for the command line."""

from __future__ import annotations

from pathlib import Path

import joblib
import numpy as np
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shafer.datasets import load_heart


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A heart table, a pipeline trained on it, and the same model as a pickle."""
    heart = load_heart(as_frame=True)
    frame = heart.frame
    frame["famhist"] = np.where(frame["famhist"] > 0, "Present", "Absent")
    frame.to_csv(tmp_path / "heart.csv", index=False)
    frame.to_parquet(tmp_path / "heart.parquet")
    X = frame.drop(columns=["chd", "famhist"])
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, frame["chd"])
    skops.io.dump(model, tmp_path / "model.skops")
    joblib.dump(model, tmp_path / "model.joblib")
    return tmp_path
