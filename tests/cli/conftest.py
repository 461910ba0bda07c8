"""A folder with a table and a model, for the command line."""

from __future__ import annotations

import shutil
from pathlib import Path

import joblib
import numpy as np
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shafer.datasets import load_heart


@pytest.fixture(scope="session")
def _heart_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    written = tmp_path_factory.mktemp("heart")
    heart = load_heart(as_frame=True)
    frame = heart.frame
    frame["famhist"] = np.where(frame["famhist"] > 0, "Present", "Absent")
    frame.to_csv(written / "heart.csv", index=False)
    frame.to_parquet(written / "heart.parquet")
    X = frame.drop(columns=["chd", "famhist"])
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, frame["chd"])
    skops.io.dump(model, written / "model.skops")
    joblib.dump(model, written / "model.joblib")
    return written


@pytest.fixture
def folder(_heart_files: Path, tmp_path: Path) -> Path:
    """A heart table, a pipeline trained on it, and the same model as a pickle."""
    shutil.copytree(_heart_files, tmp_path, dirs_exist_ok=True)
    return tmp_path
