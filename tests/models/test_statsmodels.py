"""Results of statsmodels: arrays, frames and formulas."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from numpy.testing import assert_allclose

import shafer
from shafer.models.registry import own_probabilities

HEART, CHD = shafer.datasets.load_heart(as_frame=True, return_X_y=True)
FAMILY = np.where(HEART["famhist"] == 1, "yes", "no")
DATA = HEART.assign(family=FAMILY, chd=CHD, what=np.where(CHD == 1, "ill", "well"))
DATA["kind"] = np.array([30, 10, 20])[pd.qcut(HEART["obesity"], 3, labels=False)]
DESIGN = sm.add_constant(HEART[["sbp", "ldl", "age"]])
BINOMIAL = sm.families.Binomial()
TEXTS = np.array(["c", "a", "b"])[pd.qcut(HEART["obesity"], 3, labels=False)]
SCALED = DESIGN / DESIGN.max()  # MNLogit starts from zero and does not scale

# What is fitted, the rows, the classes, and the components without the base rate.
CASES: dict[str, tuple[Callable[[], Any], Any, list[Any], list[str]]] = {
    "logit of a frame": (lambda: sm.Logit(CHD, DESIGN), DESIGN, [0, 1], ["sbp", "ldl", "age"]),
    "logit of arrays": (
        lambda: sm.Logit(CHD.to_numpy(), DESIGN.to_numpy()),
        DESIGN.to_numpy(),
        [0, 1],
        ["x1", "x2", "x3"],
    ),
    "logit without a constant": (
        lambda: sm.Logit(CHD, HEART[["ldl"]]),
        HEART[["ldl"]],
        [0, 1],
        ["ldl"],
    ),
    "logit by a formula": (
        lambda: smf.logit("chd ~ ldl + C(family) * age + np.log(sbp) + Q('tobacco')", DATA),
        DATA,
        [0, 1],
        ["family", "ldl", "age", "age × family", "sbp", "tobacco"],
    ),
    "three levels of a column": (
        lambda: smf.logit("chd ~ C(kind) + age - 1", DATA),
        DATA,
        [0, 1],
        ["kind", "age"],
    ),
    "glm by a formula": (
        lambda: smf.glm("chd ~ ldl + family", DATA, family=BINOMIAL),
        DATA,
        [0, 1],
        ["family", "ldl"],
    ),
    "glm of texts": (
        lambda: smf.glm("what ~ ldl", DATA, family=BINOMIAL),
        DATA,
        ["well", "ill"],
        ["ldl"],
    ),
    "mnlogit of texts": (
        lambda: sm.MNLogit(TEXTS, SCALED),
        SCALED,
        ["a", "b", "c"],
        ["sbp", "ldl", "age"],
    ),
    "mnlogit by a formula": (
        lambda: smf.mnlogit("kind ~ family + I(ldl / 10)", DATA),
        DATA,
        [10, 20, 30],
        ["family", "ldl"],
    ),
}


def fitted(model: Any) -> Any:
    return model.fit() if type(model).__name__ == "GLM" else model.fit(disp=0)


@pytest.mark.parametrize("case", CASES)
def test_its_own_probabilities(case: str) -> None:
    make, X, classes, names = CASES[case]
    results = fitted(make())
    explainer = shafer.Explainer(results, X)
    ev = explainer(X)
    own = np.asarray(results.predict(X))
    both = own if own.ndim == 2 else np.stack([1 - own, own], axis=1)
    assert_allclose(ev.probability, both, rtol=0, atol=1e-12)
    assert_allclose(own_probabilities(results, X), both)
    assert_allclose(ev.weights.sum(axis=1), ev.logits, rtol=0, atol=1e-10)
    assert ev.classes.tolist() == classes
    assert list(explainer.component_names) == [*names, "base rate"]


def test_columns_of_the_design_matrix_are_components() -> None:
    results = smf.logit("chd ~ C(kind) * age", DATA).fit(disp=0)
    found = shafer.Explainer(results, DATA, groups=None).component_names
    assert found == (*(name for name in results.params.index if name != "Intercept"), "base rate")


@pytest.fixture(scope="module")
def logit() -> Any:
    return sm.Logit(CHD, DESIGN).fit(disp=0)


@pytest.fixture(scope="module")
def formula() -> Any:
    return smf.logit("chd ~ ldl + family", DATA).fit(disp=0)


def test_the_intercept_is_the_constant(logit: Any) -> None:
    head = shafer.LinearHead(logit.params.to_numpy()[1:], logit.params["const"])
    rows = DESIGN.drop(columns="const")
    expected = shafer.Explainer(head, rows)(rows)
    assert_allclose(shafer.Explainer(logit, DESIGN)(DESIGN).weights, expected.weights)
    doubled = DESIGN.assign(const=2.0)  # a constant of another value
    again = sm.Logit(CHD, doubled).fit(disp=0)
    found = shafer.Explainer(again, doubled)(doubled)
    assert_allclose(found.weights, expected.weights, atol=1e-6)


def test_frames_are_read_by_name(logit: Any) -> None:
    explainer = shafer.Explainer(logit, DESIGN, classes=["well", "ill"])
    assert explainer.classes.tolist() == ["well", "ill"]
    turned = DESIGN[["age", "const", "ldl", "sbp"]]
    assert_allclose(explainer(turned).weights, explainer(DESIGN).weights)


def test_labels_of_the_fit_without_a_wrapper(logit: Any) -> None:
    found = shafer.Explainer(logit._results, DESIGN)(DESIGN)
    assert_allclose(found.weights, shafer.Explainer(logit, DESIGN)(DESIGN).weights)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X: X.assign(family="cousin"), "formula of the model cannot read X.*cousin"),
        (lambda X: X.drop(columns="family"), "without 'family'"),
        (lambda X: X.assign(ldl=np.nan), "NaN.*column 'ldl'"),
        (lambda X: X.to_numpy(), "pandas data frame with the columns"),
    ],
)
def test_rows_that_a_formula_cannot_read(formula: Any, change: Any, words: str) -> None:
    explainer = shafer.Explainer(formula, DATA)
    with pytest.raises(ValueError, match=words):
        explainer(change(DATA[:3]))


def test_a_column_of_other_constants(logit: Any) -> None:
    explainer = shafer.Explainer(logit, DESIGN)
    with pytest.raises(ValueError, match="value 1 in the column 'const'"):
        explainer(DESIGN.assign(const=0.0))
    with pytest.raises(ValueError, match="and 4 columns"):
        explainer(DESIGN.to_numpy()[:, :3])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sm.Logit(CHD, DESIGN), "is not trained. Pass the results"),
        (lambda: sm.Probit(CHD, DESIGN).fit(disp=0), "Probit .*Use Logit"),
        (lambda: sm.OLS(CHD, DESIGN).fit(), "OLS .*Use Logit"),
        (lambda: sm.GLM(CHD, DESIGN, family=sm.families.Gaussian()).fit(), "GLM .*Binomial"),
        (
            lambda: sm.GLM(
                CHD, DESIGN, family=sm.families.Binomial(link=sm.families.links.Probit())
            ).fit(),
            "GLM .*default link",
        ),
        (
            lambda: sm.GLM(CHD, DESIGN, family=BINOMIAL, offset=HEART["age"] / 50).fit(),
            "trained with an offset",
        ),
    ],
)
def test_refused_with_a_reason(make: Any, words: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make()
    with pytest.raises(shafer.UnsupportedModelError, match=words):
        shafer.Explainer(model, DESIGN)


def test_what_is_stored_are_its_numbers(logit: Any, tmp_path: Any) -> None:
    explainer = shafer.Explainer(logit, DESIGN)
    with pytest.raises(ValueError, match=re.escape("Save its numbers, shafer.LinearHead")):
        explainer.save(tmp_path / "logit.shafer")


def test_fitted_again_is_noticed() -> None:
    results = sm.Logit(CHD, DESIGN).fit(disp=0)
    explainer = shafer.Explainer(results, DESIGN)
    results._results.params = results._results.params * 2
    with pytest.raises(ValueError, match="trained again"):
        explainer(DESIGN)
