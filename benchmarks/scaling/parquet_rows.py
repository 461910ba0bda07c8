"""The rows and the explainer of this benchmark, on disk: files of 100,000 rows."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer

FOLDER = Path(os.environ.get("SHAFER_SCALE_FOLDER", "/tmp/shafer-scale"))
COLUMNS = [f"x{j}" for j in range(30)]
FILE_ROWS = 100_000
MODEL = FOLDER / "explainer.shafer"


def _rows(seed: int, n: int) -> pd.DataFrame:
    return pd.DataFrame(np.random.default_rng(seed).normal(size=(n, 30)), columns=COLUMNS)


def data(millions: int) -> Path:
    """Return a folder with so many million rows; it is made once."""
    folder = FOLDER / f"rows-{millions}m"
    everything = FOLDER / "files"
    for path in (folder, everything):
        path.mkdir(parents=True, exist_ok=True)
    for i in range(millions * 10):
        file, link = everything / f"{i:03d}.parquet", folder / f"{i:03d}.parquet"
        if not file.exists():
            _rows(i, FILE_ROWS).to_parquet(everything / "unfinished", row_group_size=FILE_ROWS)
            (everything / "unfinished").rename(file)
        if not link.exists():
            link.hardlink_to(file)
    return folder


def explainer() -> shafer.Explainer:
    """Return an explainer of a scaled logistic regression, also saved as ``MODEL``."""
    if not MODEL.exists():
        X = _rows(10_000, 20_000)
        slopes = np.random.default_rng(1).normal(size=30)
        noise = np.random.default_rng(2).logistic(size=len(X))
        y = np.where(X.to_numpy() @ slopes + noise > 0, "yes", "no")
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
        FOLDER.mkdir(parents=True, exist_ok=True)
        shafer.Explainer(model, X).save(MODEL)
    return shafer.Explainer.load(MODEL)
