"""The column ``set`` is the calibrated set, wherever rows are scored; else it is not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.cli import main

INPUTS = ["u", "v"]


def _table() -> pd.DataFrame:
    random = np.random.default_rng(0)
    rows = pd.DataFrame(random.normal(size=(300, 2)), columns=INPUTS)
    rows["site"] = random.choice(["north", "south"], 300)
    noise = np.where(rows["site"] == "north", 0.3, 3.0) * random.normal(size=300)
    return rows.assign(y=np.where(rows["u"] + noise > 0, "yes", "no"))


TABLE = _table()


def _explainer(**options: Any) -> shafer.Explainer:
    model = LogisticRegression().fit(TABLE[INPUTS][:100], TABLE["y"][:100])
    return shafer.Explainer(model, TABLE[INPUTS][:100], **options)


def _sets(explainer: Any, rows: Any) -> list[str]:
    chosen = explainer.predict_set(rows)
    classes = getattr(explainer, "classes", None)
    labels = np.asarray(explainer.classes_ if classes is None else classes)
    return ["{" + ", ".join(labels[row]) + "}" for row in chosen]


def _scored(explainer: Any, folder: Path) -> tuple[pd.DataFrame, str]:
    explainer.save(folder / "model.shafer")
    TABLE.to_csv(folder / "rows.csv", index=False)
    command = ["score", "rows.csv", "--model", "model.shafer", "--out", "scored.csv"]
    paths = [str(folder / part) if "." in part else part for part in command]
    result = CliRunner().invoke(main, paths)
    assert result.exit_code == 0, result.output
    return pd.read_csv(folder / "scored.csv"), result.output


@pytest.mark.parametrize("moderate", [None, "laplace+discount"])
def test_calibrated_sets(moderate: str | None, tmp_path: Path) -> None:
    held = TABLE[100:]
    explainer = _explainer(moderate=moderate).conformalize(held[INPUTS], held["y"], 0.7)
    expected = _sets(explainer, TABLE[INPUTS])
    lazy = shafer.scale.score(pl.from_pandas(TABLE).lazy(), explainer)
    assert lazy.collect()["set"].to_list() == expected
    exported = shafer.export.pyfunc(explainer).predict(None, TABLE[INPUTS])
    assert exported["set"].tolist() == expected
    scored, said = _scored(explainer, tmp_path)
    assert scored["set"].tolist() == expected
    assert "sets hold the true class with a probability of at least 70 %" in said
    names = shafer.scale.schema(explainer, reasons=0).names
    assert names == ["answer", "probability_no", "probability_yes", "set"]
    assert "set" not in shafer.scale.schema(_explainer(), reasons=0).names


def test_sets_by_group_read_the_column_of_the_groups(tmp_path: Path) -> None:
    held = TABLE[100:]
    rows = [*INPUTS, "site"]
    explainer = _explainer().conformalize(held[rows], held["y"], 0.7, by="site")
    expected = _sets(explainer, TABLE[rows])
    lazy = shafer.scale.score(pl.from_pandas(TABLE).lazy(), explainer)
    assert lazy.collect()["set"].to_list() == expected
    assert _scored(explainer, tmp_path)[0]["set"].tolist() == expected


def test_sets_of_unknown_groups_are_left_out_and_it_is_said(tmp_path: Path) -> None:
    held = TABLE[100:]
    explainer = _explainer().conformalize(held[INPUTS], held["y"], by=held["site"].to_numpy())
    with pytest.warns(UserWarning, match="The column set is not written"):
        lazy = shafer.scale.score(pl.from_pandas(TABLE).lazy(), explainer)
    assert "set" not in lazy.collect().columns
    with pytest.warns(UserWarning, match="groups were given beside the rows"):
        shafer.export.pyfunc(explainer)
    scored, said = _scored(explainer, tmp_path)
    assert "set" not in scored
    assert "The column set is not written" in said


def test_classifiers_with_several_models() -> None:
    clf = shafer.EvidentialClassifier(LogisticRegression()).fit(TABLE[INPUTS], TABLE["y"])
    clf.conformalize(TABLE[INPUTS], TABLE["y"], 0.7, cv=3)
    lazy = shafer.scale.score(pl.from_pandas(TABLE).lazy(), clf)
    assert lazy.collect()["set"].to_list() == _sets(clf, TABLE[INPUTS])
    exported = shafer.export.pyfunc(clf).predict(None, TABLE[INPUTS])
    assert exported["set"].tolist() == _sets(clf, TABLE[INPUTS])
