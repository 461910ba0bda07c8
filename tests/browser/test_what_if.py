"""The page computes the weights that the model has, for every family and for other inputs."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostClassifier
from interpret.glassbox import ExplainableBoostingClassifier
from lightgbm import LGBMClassifier
from numpy.testing import assert_allclose
from optbinning import BinningProcess, Scorecard
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from xgboost import XGBClassifier

import shafer
from shafer._json import as_json
from shafer.report import make_study
from shafer.report.page import _source
from shafer.report.what_if import NoSlidersError, WhatIf, learn, written_model

pytestmark = pytest.mark.filterwarnings(
    "ignore:Missing values detected:UserWarning",
    "ignore:For multiclass we cannot currently visualize pairs:UserWarning",
)

HOSTILE = "</script><img src=x onerror=window.hacked=1>"
RNG = np.random.default_rng(0)
N = 200
MIXED = pd.DataFrame(
    {
        "a": RNG.normal(size=N),
        "b": RNG.integers(0, 5, N),
        "c": RNG.choice(["u", "v", "w", HOSTILE], N).astype(object),
        "d": RNG.choice(["p", "q"], N).astype(object),
    }
)
TWO = (MIXED["a"] + MIXED["b"] * (MIXED["c"] == "u") + (MIXED["d"] == "p") > 1).to_numpy() * 1
THREE = TWO + (MIXED["b"] > 3).to_numpy()
NUMBERS = MIXED[["a", "b"]]
GAPS = MIXED.assign(a=MIXED["a"].where(RNG.random(N) > 0.2))
TYPED = GAPS.astype({"c": "category", "d": "category"})
COUNTS = MIXED[["b"]].assign(e=RNG.integers(0, 4, N))


def catboost(**options: Any) -> CatBoostClassifier:
    given = {"iterations": 8, "depth": 4, "allow_writing_files": False, "verbose": 0, **options}
    return CatBoostClassifier(**given)


def scorecard() -> Scorecard:
    names = list(MIXED.columns)
    process = BinningProcess(names, categorical_variables=["c", "d"], special_codes=[3])
    return Scorecard(process, LogisticRegression())


def pipeline(model: Any) -> Any:
    scaled = make_pipeline(SimpleImputer(), StandardScaler())
    one_hot = OneHotEncoder(sparse_output=False)
    return make_pipeline(
        make_column_transformer((scaled, ["a", "b"]), (one_hot, ["c", "d"])), model
    )


MODELS: dict[str, tuple[Callable[[], Any], pd.DataFrame]] = {
    "linear": (lambda: pipeline(LogisticRegression()), GAPS),
    "gaussian": (GaussianNB, NUMBERS),
    "multinomial": (MultinomialNB, COUNTS),
    "complement": (ComplementNB, COUNTS),
    "bernoulli": (lambda: BernoulliNB(binarize=0.3), NUMBERS),
    "codes": (CategoricalNB, COUNTS),
    "ebm": (lambda: ExplainableBoostingClassifier(outer_bags=1, max_rounds=8), GAPS),
    "scorecard": (scorecard, GAPS),
    "xgboost": (lambda: XGBClassifier(n_estimators=6, enable_categorical=True), TYPED),
    "xgboost with a code": (
        lambda: XGBClassifier(n_estimators=6, missing=3.0),
        NUMBERS.astype(float),
    ),
    "xgboost behind encoders": (lambda: pipeline(XGBClassifier(n_estimators=6)), GAPS),
    "histogram behind encoders": (
        lambda: pipeline(HistGradientBoostingClassifier(max_iter=6, max_bins=16)),
        GAPS,
    ),
    "lightgbm behind encoders": (
        lambda: pipeline(LGBMClassifier(n_estimators=6, verbose=-1)).set_output(transform="pandas"),
        GAPS,
    ),
    "lightgbm": (lambda: LGBMClassifier(n_estimators=6, verbose=-1), TYPED),
    "catboost": (lambda: catboost(cat_features=["c", "d"], max_ctr_complexity=1), GAPS),
    "catboost with combinations": (
        lambda: catboost(iterations=20, cat_features=["c", "d", "e"], max_ctr_complexity=3),
        MIXED[["c", "d"]].assign(e=RNG.choice(list("xyz"), N)),
    ),
    "catboost by leaf": (lambda: catboost(grow_policy="Depthwise"), GAPS[["a", "b"]]),
    "histogram": (
        lambda: HistGradientBoostingClassifier(max_iter=6, categorical_features="from_dtype"),
        TYPED,
    ),
    "gradient": (lambda: GradientBoostingClassifier(n_estimators=6), NUMBERS),
}
CASES = [
    (name, y) for name in MODELS for y in ("two", "three") if (name, y) != ("scorecard", "three")
]


@pytest.fixture(scope="module")
def page(browser: Any) -> Iterator[Any]:
    """An empty page with the scripts that evaluate models."""
    found = browser.new_page()
    scripts = _source("scripts/trees.js") + _source("scripts/terms.js")
    found.add_script_tag(content=f"{scripts}; window.evaluate = Terms.evaluate;")
    yield found
    found.close()


def evaluated(page: Any, model: WhatIf, rows: list[list[Any]]) -> dict[str, Any]:
    """Return what the page makes of rows."""
    given = as_json({"model": written_model(model), "rows": rows})
    script = """text => {
      const { model, rows } = JSON.parse(text);
      const found = rows.map((row) => window.evaluate(model, row));
      return JSON.stringify({
        weights: found.map(({ weights }) => weights), logits: found.map(({ logits }) => logits),
      });
    }"""
    read: dict[str, Any] = json.loads(page.evaluate(script, given))
    return read


def other_rows(X: pd.DataFrame, model: WhatIf, n: int = 60) -> pd.DataFrame:
    """Return rows of values in any combination: rare numbers, gaps where they are taken."""
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(
        {
            name: X[name].sample(n, replace=True, random_state=j).to_numpy()
            for j, name in enumerate(X)
        }
    ).astype(X.dtypes)
    for entry in model.inputs:
        if entry.slope is not None and X[entry.name].dtype.kind == "f":
            moved = rng.random(n) < 0.6
            wild = rng.choice([-1e6, -2.5, 0.0, 1e-40, 0.3, 1 / 3, 7.0, 1e6], n)
            rows[entry.name] = rows[entry.name].where(~moved, wild)
        if None in entry.effects:
            gap = rng.random(n) < 0.3
            if rows[entry.name].dtype.kind in "iu":
                rows[entry.name] = rows[entry.name].astype(float)
            rows[entry.name] = rows[entry.name].where(~gap, np.nan)
    return rows


@pytest.mark.parametrize(("name", "classes"), CASES)
def test_weights_are_those_of_python(name: str, classes: str, page: Any) -> None:
    make, X = MODELS[name]
    prior = "own" if classes == "two" else "shared"
    machine = make().fit(X, TWO if classes == "two" else THREE)
    explainer = shafer.Explainer(machine, X, prior=prior)
    study = make_study(explainer, X)
    model = learn(explainer, X, study.columns, list(range(N)))
    wild = other_rows(X, model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as of values outside the background
        true = explainer(wild)
        cells = make_study(explainer, wild).columns
    rows = [list(row) for row in zip(*cells.values(), strict=True)]
    found = evaluated(page, model, rows)
    most = np.abs(true.weights).max(axis=(1, 2), keepdims=True)
    assert_allclose((found["weights"] - true.weights) / (1 + most), 0.0, atol=1e-9)
    logits = np.asarray(found["logits"])
    logits -= logits.mean(axis=1, keepdims=True)
    assert_allclose((logits - true.logits) / (1 + most[:, 0]), 0.0, atol=1e-8)


@pytest.mark.parametrize("name", ["histogram", "gradient"])
def test_rounds_as_components(name: str, page: Any) -> None:
    make, X = MODELS[name]
    explainer = shafer.Explainer(make().fit(X, THREE), X, components="tree")
    columns = make_study(explainer, X).columns
    model = learn(explainer, X, columns, list(range(20)))
    rows = [[cells[i] for cells in columns.values()] for i in range(20, 40)]
    found = evaluated(page, model, rows)
    assert_allclose(found["weights"], explainer(X.iloc[20:40]).weights, rtol=0, atol=1e-9)


def test_groups_and_tempering(page: Any) -> None:
    make, X = MODELS["lightgbm"]
    groups = {"one": ["a", "c"], "other": ["b", "d"]}
    explainer = shafer.Explainer(make().fit(X, THREE), X, groups=groups).temper(X, THREE)
    columns = make_study(explainer, X).columns
    model = learn(explainer, X, columns, list(range(20)))
    assert [written["components"] for written in written_model(model)["inputs"]] == [
        [0],
        [1],
        [0],
        [1],
    ]
    rows = [[cells[i] for cells in columns.values()] for i in range(20, 40)]
    found = evaluated(page, model, rows)
    assert_allclose(found["weights"], explainer(X.iloc[20:40]).weights, rtol=0, atol=1e-9)


def test_a_missing_value_may_be_typed_where_the_model_takes_it() -> None:
    allowed = {}
    for name in ("xgboost", "gradient", "linear"):
        make, X = MODELS[name]
        explainer = shafer.Explainer(make().fit(X, TWO), X)
        model = learn(explainer, X, make_study(explainer, X).columns, list(range(N)))
        allowed[name] = [None in entry.effects for entry in model.inputs]
    assert allowed["xgboost"] == [True] * 4  # though only one input had gaps in training
    assert allowed["gradient"] == [False] * 2
    assert allowed["linear"] == [True, True, False, False]  # two are imputed


def test_models_that_take_too_much_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shafer.report.what_if.written.MOST_BYTES", 500)
    make, X = MODELS["lightgbm"]
    explainer = shafer.Explainer(make().fit(X, THREE), X)
    with pytest.raises(NoSlidersError, match=r"takes 0\.0 megabytes, which are too many"):
        learn(explainer, X, make_study(explainer, X).columns, list(range(50)))


def test_moving_sliders_of_trees(open_report: Any) -> None:
    make, X = MODELS["xgboost"]
    explainer = shafer.Explainer(make().fit(X, THREE), X, prior="own")
    study = make_study(explainer, X, THREE)
    opened = open_report(study)
    opened.show(3)
    opened.page.locator(".slider[data-input='a'] input[type=number]").fill("0.25")
    opened.page.locator(".slider[data-input='c'] select").select_option(HOSTILE)
    opened.page.locator(".slider[data-input='b'] input[type=number]").fill("")
    one = X.iloc[[3]].astype({"b": float}).assign(a=0.25, b=np.nan)
    one["c"] = pd.Categorical([HOSTILE], categories=X["c"].cat.categories)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        true = explainer(one)
    found = opened.numbers()
    assert_allclose(found["probability"], true.probability[0], rtol=0, atol=1e-9)
    assert_allclose(found["ignorance"], true.ignorance[0], rtol=0, atol=1e-9)
    assert opened.page.evaluate("window.hacked") is None
    assert opened.complaints == []
