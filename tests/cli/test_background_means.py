"""Where the means come from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import skops.io
from sklearn.linear_model import LogisticRegression

import shafer

from .running import run


def test_an_evidential_classifier_brings_its_own_means(folder: Path) -> None:
    frame = pd.read_csv(folder / "heart.csv")
    X = frame[["age", "ldl"]]
    model = shafer.EvidentialClassifier(LogisticRegression()).fit(X, frame["chd"])
    skops.io.dump(model, folder / "own.skops")
    frame[:20].to_csv(folder / "few.csv", index=False)
    out = folder / "scored.csv"
    result = run("score", folder / "few.csv", "--model", folder / "own.skops", "--out", out)
    assert result.exit_code == 0, result.output
    np.testing.assert_allclose(pd.read_csv(out)["belief_1"], model.evidence(X[:20]).belief[:, 1])
