"""Honest model files load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import skops.io
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from ..running import refused, run


class Unknown(LogisticRegression):
    """A type skops does not know."""


def test_trusting_a_type(folder: Path) -> None:
    frame = pd.read_csv(folder / "heart.csv")
    skops.io.dump(Unknown().fit(frame[["age"]], frame["chd"]), folder / "u.skops")
    name = skops.io.get_untrusted_types(file=folder / "u.skops")[0]
    arguments = ("--model", folder / "u.skops", "--data", folder / "heart.csv")
    own = ("--train", folder / "heart.csv")
    refused(f"--trust {name}", "explain", *arguments)
    result = run("explain", *arguments, *own, "--trust", name)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    "model",
    [
        MLPClassifier((3,), max_iter=20, random_state=0),
        CalibratedClassifierCV(LinearSVC(), method="sigmoid", ensemble=False, cv=3),
    ],
    ids=["mlp", "calibrated"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_plain_models_of_scikit_learn_need_no_trust(folder: Path, model: Any) -> None:
    frame = pd.read_csv(folder / "heart.csv")
    X = StandardScaler().set_output(transform="pandas").fit_transform(frame[["age", "ldl"]])
    X.to_csv(folder / "x.csv", index=False)
    skops.io.dump(model.fit(X, frame["chd"]), folder / "m.skops")
    rows = ("--data", folder / "x.csv", "--train", folder / "x.csv")
    result = run("explain", "--model", folder / "m.skops", *rows)
    assert result.exit_code == 0, result.output
