"""The columns of the page: packed numbers, usual values, an even sample, one case alone."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.report import make_study, render
from shafer.report.packing import MOST_EXACT, packed_column, packed_floats
from shafer.report.payload import payload
from shafer.report.records import usual_values


def unpacked(column: Any) -> list[Any]:
    """Read a column as ``records.js`` does."""
    if isinstance(column, list):
        return column
    if "of" in column:
        return [None if at < 0 else column["of"][at] for at in column["at"]]
    values = np.frombuffer(base64.b64decode(column["f8"]), "<f8").tolist()
    return [None if value != value else value for value in values]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([1.0, 2.0, None, -3.0], list),
        ([0.1 + 0.2, 1.0 / 3.0, None, 1e-300], dict),
        (["a", "b", "a", "b", None, "a"], dict),
        (["a", "b", "c"], list),
        (["a", 1.0, None], list),
        ([None, None], list),
        ([1e300, 2.0**60, -0.5], dict),
        ([], list),
    ],
)
def test_columns_are_read_as_they_were(cells: list[Any], kind: type) -> None:
    column = packed_column(cells)
    assert isinstance(column, kind)
    assert unpacked(column) == cells


def test_many_numbers_are_single() -> None:
    assert list(packed_floats(np.ones(MOST_EXACT))) == ["f8"]
    assert list(packed_floats(np.ones(MOST_EXACT + 1))) == ["f4"]


def test_usual_values() -> None:
    cells = [float(i) for i in range(101)]
    usual = usual_values(
        {
            "numbers": cells,
            "of two": [0.0, 1.0] * 50,
            "texts": ["b", "a", "b"],
            "few": cells[:5],
            "missing": [None],
        }
    )
    assert usual[0] == {"range": [10.0, 90.0], "typical": 50.0}
    assert usual[1]["range"] is None
    assert usual[1]["typical"] in (0.0, 1.0)
    assert usual[2] == {"range": None, "typical": "b"}
    assert usual[3] == {"range": None, "typical": 2.0}
    assert usual[4] == {"range": None, "typical": None}


@pytest.fixture(scope="module")
def loans() -> tuple[shafer.Explainer, pd.DataFrame]:
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"a": rng.normal(size=200), "b": rng.integers(0, 9, 200) * 1.0})
    y = (X["a"] + X["b"] / 4 + rng.normal(size=200) > 1).astype(int)
    return shafer.Explainer(LogisticRegression().fit(X, y), X), X


def test_one_row_has_the_ranges_and_sliders_of_the_background(
    loans: tuple[shafer.Explainer, pd.DataFrame], tmp_path: Path
) -> None:
    explainer, X = loans
    data = payload(make_study(explainer, X.iloc[[7]]), None, 10**6, alone=True)
    assert data["usual"][1]["range"] == [0.0, 8.0]
    slider = data["whatIf"]["inputs"][0]
    assert (slider["low"], slider["high"]) == (X["a"].min(), X["a"].max())
    assert data["rows"]["typicality"] == pytest.approx(explainer.typicality(X.iloc[[7]]), rel=1e-3)
    page = explainer.report(X.iloc[[7]], path=tmp_path / "case.html").read_text()
    assert '<section id="cases"' not in page
    assert '<section id="overview"' not in page
    assert '<section id="cases"' in render(make_study(explainer, X.iloc[:2]))


def test_closeness_is_the_distance_from_another_answer(
    loans: tuple[shafer.Explainer, pd.DataFrame],
) -> None:
    explainer, X = loans
    rows = payload(make_study(explainer, X), None, 10**6)["rows"]
    p = explainer.predict_proba(X)
    np.testing.assert_allclose(rows["closeness"], np.abs(p[:, 1] - p[:, 0]), rtol=1e-4)
    model = explainer.model
    strict = shafer.Explainer(model, X, threshold=0.8)
    rows = payload(make_study(strict, X), None, 10**6)["rows"]
    np.testing.assert_allclose(rows["closeness"], np.abs(p[:, 1] - 0.8), rtol=1e-4, atol=1e-7)
