"""The terms of a model as data: they add to the logits what the model itself adds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostClassifier
from interpret.glassbox import ExplainableBoostingClassifier
from lightgbm import LGBMClassifier
from numpy.testing import assert_allclose
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from xgboost import XGBClassifier

import shafer
from shafer.errors import UnsupportedModelError
from shafer.models.formula import Trees
from shafer.models.read_model import AdditiveModel

pytestmark = pytest.mark.filterwarnings("ignore:Missing values detected:UserWarning")

RNG = np.random.default_rng(0)
N = 200
MIXED = pd.DataFrame(
    {
        "a": RNG.normal(size=N),
        "b": RNG.integers(0, 5, N),
        "c": RNG.choice(["u", "v", "w", "z"], N).astype(object),
        "d": RNG.choice(["p", "q"], N).astype(object),
    }
)
TWO = (MIXED["a"] + MIXED["b"] * (MIXED["c"] == "u") + (MIXED["d"] == "p") > 1).to_numpy() * 1
THREE = TWO + (MIXED["b"] > 3)
NUMBERS = MIXED[["a", "b"]]
MIXED.loc[::7, "a"] = np.nan
TYPED = MIXED.astype({"c": "category", "d": "category"})


def catboost(**options: Any) -> CatBoostClassifier:
    given = {"iterations": 8, "depth": 4, "allow_writing_files": False, "verbose": 0, **options}
    return CatBoostClassifier(**given)


MODELS: dict[str, tuple[Callable[[], Any], pd.DataFrame]] = {
    "gaussian": (GaussianNB, NUMBERS),
    "codes": (CategoricalNB, MIXED[["b"]].assign(e=MIXED["d"] == "p").astype(int)),
    "ebm": (lambda: ExplainableBoostingClassifier(outer_bags=1, max_rounds=8), MIXED),
    "xgboost": (lambda: XGBClassifier(n_estimators=6, enable_categorical=True), TYPED),
    "xgboost with a code": (
        lambda: XGBClassifier(n_estimators=6, missing=3.0),
        NUMBERS.astype(float),
    ),
    "lightgbm": (lambda: LGBMClassifier(n_estimators=6, verbose=-1), TYPED),
    "catboost": (lambda: catboost(cat_features=["c", "d"], max_ctr_complexity=1), MIXED),
    "catboost by leaf": (lambda: catboost(grow_policy="Depthwise"), MIXED[["a", "b"]]),
    "histogram": (
        lambda: HistGradientBoostingClassifier(max_iter=6, categorical_features="from_dtype"),
        TYPED,
    ),
    "gradient": (lambda: GradientBoostingClassifier(n_estimators=6), NUMBERS),
}


def centred(contributions: Any) -> Any:
    """Return contributions without what is the same for all classes, and for all rows."""
    given = np.asarray(contributions)
    if given.ndim == 2 or given.shape[-1] == 1:
        given = given.reshape(*given.shape[:2], 1) * [-0.5, 0.5]
    free = given - given.mean(axis=2, keepdims=True)
    return free - free[:1]


def read(model: Any, X: Any, **options: Any) -> tuple[AdditiveModel, Any]:
    weighed = shafer.Explainer(model, X, **options).weighed_model
    assert isinstance(weighed.model, AdditiveModel)
    return weighed.model, weighed.as_trained(X)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.filterwarnings("ignore:For multiclass we cannot currently visualize pairs")
def test_a_formula_adds_what_the_model_adds(name: str, y: Any) -> None:
    make, X = MODELS[name]
    model, rows = read(make().fit(X, y), X)
    assert model.formula is not None
    formula = model.formula(rows)
    found = formula.terms.contributions(formula.numbers(rows)) * model.slope
    true = centred(model.terms(rows))
    assert_allclose(centred(found), true, rtol=0, atol=1e-14 * (10 + np.abs(true).max()))
    assert len(formula.terms.reads) == found.shape[1]


@pytest.mark.parametrize("name", ["histogram", "gradient"])
def test_rounds_are_components(name: str) -> None:
    make, X = MODELS[name]
    model, rows = read(make().fit(X, THREE), X, components="tree")
    assert model.formula is not None
    formula = model.formula(rows)
    assert isinstance(formula.terms, Trees)
    found = formula.terms.contributions(formula.numbers(rows))
    assert_allclose(centred(found), centred(model.terms(rows)), rtol=0, atol=1e-12)
    asked = {j for own in formula.terms.reads for j in own}
    assert asked <= set(range(X.shape[1]))


@pytest.mark.parametrize("with_numbers", [False, True])
def test_combinations_of_categories(with_numbers: bool) -> None:
    X = pd.DataFrame({name: RNG.choice(list("uvwx"), 300) for name in "cef"})
    chance = {pair: RNG.random() for pair in product("uvwx", "uvwx")}
    y = np.array([chance[pair] > 0.5 for pair in zip(X["c"], X["e"], strict=True)]) * 1
    if with_numbers:
        X["g"] = RNG.normal(size=300)
        y = y ^ (X["g"] > 0).to_numpy()
    options = {"iterations": 20, "max_ctr_complexity": 3, "random_seed": 1}
    machine = catboost(cat_features=list("cef"), **options).fit(X, y)
    model, rows = read(machine, X)
    assert model.formula is not None
    if with_numbers:
        with pytest.raises(UnsupportedModelError, match="combinations of categories and numbers"):
            model.formula(rows)
        return
    formula = model.formula(rows)
    assert isinstance(formula.terms, Trees)
    assert formula.terms.shared
    found = formula.terms.contributions(formula.numbers(rows))
    assert_allclose(centred(found), centred(model.terms(rows)), rtol=0, atol=1e-12)
