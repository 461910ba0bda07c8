"""Texts and numbers of a file are matched with the categories of training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost
from click.testing import CliRunner

import shafer
from shafer.cli import main

N = 200


def _typed() -> pd.DataFrame:
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "plan": pd.Categorical(random.choice(["a", "b", "c"], N)),
            "age": random.normal(size=N),
            "code": pd.Categorical(random.choice([10, 20, 30], N)),
        }
    )


TYPED = _typed()
Y = ((TYPED["plan"] == "a") ^ (TYPED["code"] == 20)).astype(int)
PLAIN = TYPED.astype({"plan": object, "code": int})


@pytest.fixture(scope="module", params=["xgboost", "xgboost booster", "lightgbm"])
def model(request: pytest.FixtureRequest) -> Any:
    if request.param == "lightgbm":
        return lightgbm.LGBMClassifier(n_estimators=3, verbose=-1).fit(TYPED, Y)
    fitted = xgboost.XGBClassifier(n_estimators=3, enable_categorical=True).fit(TYPED, Y)
    return fitted.get_booster() if request.param.endswith("booster") else fitted


@pytest.mark.parametrize(
    "rows",
    [
        PLAIN,
        PLAIN.astype({"plan": "string", "code": float}),
        PLAIN.astype({"code": str}),
        pl.from_pandas(PLAIN),
    ],
    ids=["objects", "floats", "texts", "polars"],
)
def test_the_numbers_are_those_of_the_typed_frame(model: Any, rows: Any) -> None:
    explainer = shafer.Explainer(model, TYPED)
    expected = explainer(TYPED).weights
    assert np.ptp(expected[:, 0]) > 0.1
    np.testing.assert_array_equal(explainer(rows).weights, expected)
    np.testing.assert_array_equal(explainer(rows[:1]).weights, expected[:1])
    np.testing.assert_array_equal(shafer.Explainer(model, rows)(rows).weights, expected)


def test_gaps_stay_gaps(model: Any) -> None:
    explainer = shafer.Explainer(model, TYPED)
    rows, typed = PLAIN.copy(), TYPED.copy()
    rows.loc[:3, "plan"] = typed.loc[:3, "plan"] = None
    np.testing.assert_array_equal(explainer(rows).weights, explainer(typed).weights)


def test_unknown_values_are_named(model: Any) -> None:
    explainer = shafer.Explainer(model, TYPED)
    for column, value in (("plan", "z"), ("code", 15)):
        with pytest.raises(ValueError, match=f"Column '{column}' has the value '{value}'"):
            explainer(PLAIN.assign(**{column: value}))
    with pytest.raises(ValueError, match="Column 'age' must hold numbers.* row 0 has 'old'"):
        explainer(PLAIN.assign(age="old"))


def test_an_unknown_category_of_a_typed_column() -> None:
    fitted = xgboost.XGBClassifier(n_estimators=3, enable_categorical=True).fit(TYPED, Y)
    explainer = shafer.Explainer(fitted, TYPED)
    with pytest.raises(ValueError, match="Column 'plan' has the value 'z'"):
        explainer(TYPED.assign(plan=pd.Categorical(["z"] * N)))


def test_codes_without_names_are_not_guessed() -> None:
    codes = TYPED.assign(plan=TYPED["plan"].cat.codes, code=TYPED["code"].cat.codes)
    fitted = xgboost.XGBClassifier(
        n_estimators=3, enable_categorical=True, feature_types=["c", "q", "c"]
    ).fit(codes, Y)
    explainer = shafer.Explainer(fitted, codes)
    with pytest.raises(ValueError, match="Column 'plan' must hold numbers, as in training"):
        explainer(codes.assign(plan="a"))


def test_ordered_categories_of_lightgbm() -> None:
    """LightGBM does not keep which columns they were; the explainer does."""
    ordered = TYPED.assign(plan=TYPED["plan"].cat.as_ordered())
    explainer = shafer.Explainer(
        lightgbm.LGBMClassifier(n_estimators=3, verbose=-1).fit(ordered, Y), ordered
    )
    np.testing.assert_array_equal(explainer(PLAIN).weights, explainer(ordered).weights)


def test_numbers_that_lightgbm_took_as_categories() -> None:
    rows = TYPED.assign(code=TYPED["code"].astype(int))
    model = lightgbm.LGBMClassifier(n_estimators=3, verbose=-1)
    explainer = shafer.Explainer(model.fit(rows, Y, categorical_feature=["code"]), rows)
    assert len(explainer(rows[:2])) == 2


def test_commands_take_files(tmp_path: Path) -> None:
    fitted = xgboost.XGBClassifier(n_estimators=3, enable_categorical=True).fit(TYPED, Y)
    explainer = shafer.Explainer(fitted, TYPED)
    model, rows = str(tmp_path / "model.shafer"), str(tmp_path / "rows.csv")
    explainer.save(model)
    PLAIN.to_csv(rows, index=False)
    out = tmp_path / "scored.csv"
    for command in (
        ["score", rows, "--model", model, "--out", str(out)],
        ["report", "--data", rows, "--model", model, "--out", str(tmp_path / "page.html")],
        ["explain", "--data", rows, "--model", model, "--row", "3"],
        ["monitor", rows, rows, "--model", model],
    ):
        result = CliRunner().invoke(main, command)
        assert result.exit_code == 0, result.output
    np.testing.assert_allclose(
        pd.read_csv(out)["probability_1"], explainer(TYPED).probability[:, 1], atol=1e-12
    )
