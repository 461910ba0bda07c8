"""A guarded classifier answers behind every door as it does in Python, and never in two ways."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mlflow
import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from shafer.cli import main

X, Y = shafer.datasets.load_heart(as_frame=True, return_X_y=True)
Y = np.where(Y, "ill", "well")
SLIPPED = X[3::4].assign(ldl=X[3::4]["ldl"] * 10).reset_index(drop=True)
LOSS = {"treat": {"ill": 0, "well": 1}, "home": {"ill": 5, "well": 0}}


def classifier(rows: Any = X, **options: Any) -> Any:
    model = make_pipeline(StandardScaler(), LogisticRegression())
    clf = shafer.EvidentialClassifier(model, guard=True, **options).fit(rows[::2], Y[::2])
    return clf.control_error(rows[1::4], Y[1::4], error=0.35)


def by_command(clf: Any, folder: Path) -> pd.DataFrame:
    clf.save(folder / "m.shafer")
    SLIPPED.to_csv(folder / "rows.csv", index=False)
    costs = pd.DataFrame([{"act": act, **costs} for act, costs in LOSS.items()])
    costs.to_csv(folder / "loss.csv", index=False)
    options = ["--model", folder / "m.shafer", "--loss", folder / "loss.csv"]
    options += ["--reasons", 2, "--ask", "--out", folder / "out.csv"]
    arguments = ["score", folder / "rows.csv", *options]
    done = CliRunner().invoke(main, [str(part) for part in arguments])
    assert done.exit_code == 0, done.output
    return pd.read_csv(folder / "out.csv", keep_default_na=False)


def by_score(clf: Any, folder: Path) -> pd.DataFrame:
    del folder
    return shafer.scale.score(pl.from_pandas(SLIPPED).lazy(), clf).collect().to_pandas()


def by_pyfunc(clf: Any, folder: Path) -> pd.DataFrame:
    del folder
    return shafer.export.pyfunc(clf).predict(None, SLIPPED)


def by_pickled_pyfunc(clf: Any, folder: Path) -> pd.DataFrame:
    del folder
    return pickle.loads(pickle.dumps(shafer.export.pyfunc(clf))).predict(None, SLIPPED)


def by_mlflow(clf: Any, folder: Path) -> pd.DataFrame:
    options = shafer.export.pyfunc(clf).log_options(folder / "m.shafer")
    mlflow.pyfunc.save_model(folder / "model", **options)
    return mlflow.pyfunc.load_model(str(folder / "model")).predict(SLIPPED)


DOORS = [by_command, by_score, by_pyfunc, by_pickled_pyfunc, by_mlflow]
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "discounted": {"moderate": "laplace+discount"},
    "error bars": {"errors": "laplace", "prior": "own"},
    "tempered": {"temper": 0.5, "missing": "conditional"},
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", OPTIONS)
def test_every_door_gives_the_guarded_answer(
    door: Callable[[Any, Path], pd.DataFrame], kind: str, tmp_path: Path
) -> None:
    clf = classifier(**OPTIONS[kind])
    scored = door(clf, tmp_path)
    probability = clf.predict_proba(SLIPPED)
    for k, label in enumerate(clf.classes_):
        np.testing.assert_allclose(scored[f"probability_{label}"], probability[:, k], rtol=1e-12)
    assert (scored["answer"] == clf.predict(SLIPPED)).all()
    assert (scored["reasons_class"] == clf.predict(SLIPPED)).all()
    unguarded = clf.explainer_.predict(SLIPPED)
    assert (unguarded != clf.predict(SLIPPED)).mean() > 0.05  # the guard makes a difference
    if "act" in scored:
        assert scored["act"].tolist() == clf.decide(SLIPPED, LOSS).tolist()
        found = clf.predict_or_defer(SLIPPED)
        assert (found.labels == clf.predict(SLIPPED)).all()
        assert (scored["deferred"].astype(str) == found.deferred.astype(str)).all()
        assert "alarm" in scored


def test_a_classifier_of_arrays_is_guarded_too() -> None:
    clf = classifier(X.to_numpy())
    frame = pl.from_pandas(SLIPPED).lazy()
    scored = shafer.scale.score(frame, clf, columns=list(X.columns)).collect()
    probability = clf.predict_proba(SLIPPED.to_numpy())
    np.testing.assert_allclose(scored["probability_ill"], probability[:, 0], rtol=1e-12)


def test_calibrated_sets_of_guarded_rows(tmp_path: Path) -> None:
    clf = classifier().conformalize(X[1::4], Y[1::4], 0.8)
    chosen = clf.predict_set(SLIPPED)
    for door in DOORS:
        (tmp_path / door.__name__).mkdir()
        decisions = door(clf, tmp_path / door.__name__)["set"]
        sizes = [0 if text == "{}" else text.count(",") + 1 for text in decisions]
        assert sizes == chosen.sum(axis=1).tolist()
