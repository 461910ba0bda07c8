"""The recipe of the documentation runs: an SQL function."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer

RECIPES = Path(__file__).parents[2] / "docs" / "recipes"
COLUMNS = ["sbp", "tobacco", "ldl", "age"]


def _recipe(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, RECIPES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def rows() -> Any:
    return shafer.datasets.load_heart(as_frame=True).data[COLUMNS]


@pytest.fixture(scope="module")
def explainer(rows: Any) -> shafer.Explainer:
    target = shafer.datasets.load_heart().target
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, target)
    return shafer.Explainer(model, rows, prior="own")


def test_duckdb(
    explainer: shafer.Explainer, rows: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = shafer.Explainer(explainer.model, rows, prior="own")
    own.save(tmp_path / "model.shafer")
    rows.assign(id=np.arange(len(rows))).to_parquet(tmp_path / "patients.parquet")
    recipe = _recipe("duckdb_evidence")
    connection = recipe.duckdb.connect()
    recipe.add_evidence_function(connection, explainer, dict.fromkeys(COLUMNS, "DOUBLE"))
    connection.register("patients", rows.assign(id=np.arange(len(rows))))
    found = connection.execute(
        "SELECT id, e.belief_1, e.answer FROM (SELECT id, "
        "evidence({'sbp': sbp, 'tobacco': tobacco, 'ldl': ldl, 'age': age}) AS e FROM patients) "
        "ORDER BY id"
    ).df()
    expected = explainer(rows).to_frame(backend="pandas")
    assert found["belief_1"].tolist() == expected["belief_1"].tolist()
    assert found["answer"].tolist() == expected["answer"].tolist()
    recipe.main(str(tmp_path / "model.shafer"), str(tmp_path / "patients.parquet"))
    assert "ignorance" in capsys.readouterr().out
