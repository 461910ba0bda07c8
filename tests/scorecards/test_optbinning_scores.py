"""Points against those of optbinning, and reasons for the adverse class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from optbinning import OptimalPWBinning
from scipy.special import softmax
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

import shafer
from credit_data import NAMES, SCALE, applicants, binning, scorecard, trained

# Points against optbinning's own: ``Scorecard.score`` and ``Scorecard.table``.


FACTOR = 20 / np.log(2)
FEW = ["checking_account", "duration", "savings", "age"]


def _scores(model: Any, X: pd.DataFrame, prior: str = "shared", **options: Any) -> Any:
    ev = shafer.Explainer(model, X, classes=["good", "bad"], prior=prior)(X)
    return ev.points(**{"class_": "good", **options}).sum(axis=1)


def _points(table: pd.DataFrame, column: str) -> Any:
    """optbinning's points of a column without special codes, for which it always has a row."""
    rows = table[table["Variable"] == column]
    special = [isinstance(label, str) and label == "Special" for label in rows["Bin"]]
    return rows["Points"].to_numpy()[~np.array(special)]


@pytest.fixture(scope="module")
def german() -> tuple[pd.DataFrame, pd.Series]:
    X, y = applicants("german credit")
    return X[FEW], y


@pytest.mark.parametrize("prior", ["shared", "own"])
@pytest.mark.parametrize("name", NAMES)
def test_sums_are_the_scores(name: str, prior: str) -> None:
    X, _ = applicants(name)
    model = trained(name)
    assert np.abs(_scores(model, X, prior) - model.score(X)).max() < 1e-9


@pytest.mark.parametrize("prior", ["shared", "own"])
@pytest.mark.parametrize("name", NAMES)
def test_tables_differ_by_a_constant_for_each_column(name: str, prior: str) -> None:
    X, _ = applicants(name)
    model = trained(name)
    explainer = shafer.Explainer(model, X, classes=["good", "bad"], prior=prior)
    ours = shafer.scorecards.scorecard(explainer, class_="good")
    theirs = model.table()
    assert ours["component"].drop_duplicates().tolist() == [
        *theirs["Variable"].drop_duplicates(),
        *(["base rate"] if prior == "own" else []),
    ]
    for name_of_column in theirs["Variable"].unique():
        mine = ours[(ours["component"] == name_of_column) & (ours["bin"] != "any other")]
        difference = mine["points"].to_numpy() - _points(theirs, name_of_column)
        assert np.ptp(difference) < 1e-9
        assert mine["bin"].iloc[-1] == "missing"


@pytest.mark.parametrize(("special", "missing"), [(0, 0), ("empirical", "empirical"), (-0.5, 0.4)])
@pytest.mark.parametrize("codes", [[-1.0, -2.0], {"refused": [-1.0], "no file": -2.0}])
def test_special_and_missing_bins(german: Any, special: Any, missing: Any, codes: Any) -> None:
    X, y = german
    X = X.astype({"age": float, "duration": float})
    X.loc[::9, "age"] = np.nan
    X.loc[1::9, "age"] = -1.0
    X.loc[2::9, "age"] = -2.0
    X.loc[::7, "savings"] = None
    fit = {"metric_special": special, "metric_missing": missing}
    model = scorecard(X, y, fit, process=binning(X, special_codes=codes))
    assert np.abs(_scores(model, X) - model.score(X)).max() < 1e-9
    ours = shafer.scorecards.scorecard(
        shafer.Explainer(model, X, classes=["good", "bad"]), class_="good"
    )
    for name in FEW:
        mine = ours[(ours["component"] == name) & (ours["bin"] != "any other")]
        theirs = model.table()[model.table()["Variable"] == name]
        assert np.ptp(mine["points"].to_numpy() - theirs["Points"].to_numpy()) < 1e-9


class TestOtherScales:
    def test_a_base_row(self, german: Any) -> None:
        X, y = german
        model = scorecard(X, y, intercept_based=True)
        assert model.intercept_ > 0
        assert np.abs(_scores(model, X) - model.score(X)).max() < 1e-9
        # The same from our table: the lowest points of each component go to a base row.
        table = shafer.scorecards.scorecard(shafer.Explainer(model, X), class_=0)
        lowest = table.groupby("component")["points"].transform("min")
        mine = (table["points"] - lowest)[table["component"] == "duration"].to_numpy()
        assert_allclose(mine, _points(model.table(), "duration"), atol=1e-9)

    def test_min_max(self, german: Any) -> None:
        X, y = german
        params = {"min": 300, "max": 850}
        model = scorecard(X, y, scaling_method="min_max", scaling_method_params=params)
        # Its scale is linear in the log-odds of the event, from the lowest to the highest that
        # the bins allow. So it has a pdo, and points for odds of 1.
        table = scorecard(X, y, scaling_method=None, scaling_method_params=None).table()
        by_column = table.groupby("Variable")["Points"]
        lowest, highest = by_column.min().sum(), by_column.max().sum()
        factor = (850 - 300) / (highest - lowest)
        intercept = float(model.estimator_.intercept_[0])
        points = 850 + factor * (intercept + lowest)
        found = _scores(model, X, points=points, odds=1.0, pdo=factor * np.log(2))
        assert np.abs(found - model.score(X)).max() < 1e-9

    def test_reversed(self, german: Any) -> None:
        X, y = german
        model = scorecard(X, y, reverse_scorecard=True)
        # It turns the points round but not the intercept, so its scores are those for the odds of
        # the event but for a constant.
        constant = 2 * FACTOR * float(model.estimator_.intercept_[0])
        found = _scores(model, X, class_="bad")
        assert np.abs(found - model.score(X) - constant).max() < 1e-9
        assert abs(constant) > 1.0

    def test_rounded(self, german: Any) -> None:
        X, y = german
        model = scorecard(X, y, rounding=True)
        assert np.abs(_scores(model, X) - model.score(X)).max() <= len(FEW) / 2

    def test_without_a_scale(self, german: Any) -> None:
        X, y = german
        model = scorecard(X, y, scaling_method=None, scaling_method_params=None)
        found = _scores(model, X, points=1, odds=np.exp(1), pdo=np.log(2), class_="bad")
        assert_allclose(found, model.score(X) + model.estimator_.intercept_, atol=1e-9)


def test_a_pipeline_has_the_same_points(german: Any) -> None:
    X, y = german
    model = make_pipeline(binning(X), LogisticRegression()).fit(X, y)
    explainer = shafer.Explainer(model, X, classes=["good", "bad"])
    whole = scorecard(X, y)
    assert np.abs(explainer(X).points(class_="good").sum(axis=1) - whole.score(X)).max() < 1e-9
    expected = shafer.scorecards.scorecard(
        shafer.Explainer(whole, X, classes=["good", "bad"]), class_="good"
    )
    pd.testing.assert_frame_equal(shafer.scorecards.scorecard(explainer, class_="good"), expected)


def test_another_scale(german: Any) -> None:
    X, y = german
    params = {**SCALE, "pdo": 40, "odds": 9, "scorecard_points": 500}
    model = scorecard(X, y, scaling_method_params=params)
    found = _scores(model, X, points=500, odds=9, pdo=40)
    assert np.abs(found - model.score(X)).max() < 1e-9


def test_piecewise_functions_are_refused(german: Any) -> None:
    X, y = german
    X = X[["duration", "age"]]
    process = binning(X).fit(X, y)
    piecewise = OptimalPWBinning(name="age").fit(X["age"].to_numpy(), y.to_numpy())
    process.update_binned_variable("age", piecewise)
    model = LogisticRegression().fit(process.transform(X), y)
    explainer = shafer.Explainer(Pipeline([("binning", process), ("model", model)]), X)
    with pytest.raises(shafer.UnsupportedModelError, match="columns: 'age'. Bin"):
        shafer.scorecards.scorecard(explainer, class_=0)


def test_unknown_categories(german: Any) -> None:
    X, y = german
    model = scorecard(X, y, {"metric_missing": 1.0})
    odd = X[:5].assign(savings="never seen")
    found = shafer.Explainer(model, X, classes=["good", "bad"])(odd).points(class_="good")
    # The points follow the probabilities of the model. Its score does not: it takes the points of
    # missing values.
    good, bad = model.predict_proba(odd).T
    assert_allclose(found.sum(axis=1), 600 + FACTOR * np.log(good / bad / 50), atol=1e-9)
    assert_allclose(model.score(odd), model.score(odd.assign(savings=None)))
    assert np.abs(found.sum(axis=1) - model.score(odd)).min() > 1.0
    table = shafer.scorecards.scorecard(
        shafer.Explainer(model, X, classes=["good", "bad"]), class_="good"
    )
    rows = table[table["component"] == "savings"].set_index("bin")["points"]
    assert_allclose(rows["any other"], found[:, FEW.index("savings")])


def test_three_classes() -> None:
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = X[["alcohol", "hue", "magnesium", "ash"]]
    model = make_pipeline(binning(X, max_n_bins=4), LogisticRegression()).fit(X, y)
    explainer = shafer.Explainer(model, X, classes=["a", "b", "c"], prior="shared")
    table = shafer.scorecards.scorecard(explainer)
    places = model[0].transform(X, metric="indices")
    scores = np.zeros((len(X), 3))
    for k, label in enumerate("abc"):
        for name in X:
            rows = table[(table["component"] == name) & (table["class"] == label)]
            assert rows["bin"].iloc[-1] == "missing"
            scores[:, k] += rows["points"].to_numpy()[places[name]]
    found = softmax(scores * np.log(2) / 20, axis=1)
    assert np.abs(found - model.predict_proba(X)).max() < 1e-9


# The largest weights for the adverse class are the reasons of Regulation B's commentary.
#
# 12 CFR part 1002, supplement I, comment 9(b)(2)-5 names two methods of selecting reasons from a
# credit scoring system: the factors for which the applicant's score fell furthest below the
# average, either of all applicants or of those whose total score was at or slightly above the
# minimum passing score. Here the rule is computed from optbinning's own table of points.


TOP = 4


def points_of_factors(model: Any, X: pd.DataFrame) -> pd.DataFrame:
    """optbinning's points of each factor, looked up in its table."""
    process, table = model.binning_process_, model.table()
    places = process.transform(
        X, metric="indices", metric_special="empirical", metric_missing="empirical"
    )
    return pd.DataFrame(
        {
            name: table.loc[table["Variable"] == name, "Points"].to_numpy()[places[name]]
            for name in process.get_support(names=True)
        }
    )


def agreeing_rows(components: np.ndarray, shortfall: np.ndarray) -> int:
    """Rows whose chosen components fell furthest below; equal shortfalls may change places."""
    chosen = np.take_along_axis(shortfall, components, axis=1)
    furthest = -np.sort(-shortfall, axis=1)[:, :TOP]
    distinct = [len(set(row)) == TOP for row in components.tolist()]
    return int(np.sum(distinct & (np.abs(chosen - furthest).max(axis=1) < 1e-9)))


@pytest.mark.parametrize("prior", ["shared", "own"])
@pytest.mark.parametrize("name", NAMES)
def test_below_the_average_of_all_applicants(name: str, prior: str) -> None:
    X, _ = applicants(name)
    model = trained(name)
    points = points_of_factors(model, X)
    shortfall = points.mean().to_numpy() - points.to_numpy()
    ev = shafer.Explainer(model, X, classes=["good", "bad"], prior=prior)(X)
    weights = ev.weights[:, : points.shape[1], 1]
    components = np.argsort(-weights, axis=1)[:, :TOP]
    assert agreeing_rows(components, shortfall) == len(X)
    against = ev.contrast("bad", "good")[:, : points.shape[1]]
    assert agreeing_rows(np.argsort(-against, axis=1)[:, :TOP], shortfall) == len(X)


@pytest.mark.parametrize("name", NAMES)
def test_below_the_average_of_those_who_just_passed(name: str) -> None:
    X, _ = applicants(name)
    model = trained(name)
    score = model.score(X)
    lowest = np.quantile(score, 0.3)
    passed = (score >= lowest) & (score <= lowest + 10)
    assert passed.sum() > 20
    points = points_of_factors(model, X)
    shortfall = points[passed].mean().to_numpy() - points.to_numpy()
    ev = shafer.Explainer(model, X[passed], classes=["good", "bad"], prior="own")(X)
    assert agreeing_rows(np.argsort(-ev.weights[:, :-1, 1], axis=1)[:, :TOP], shortfall) == len(X)
    everyone = points.mean().to_numpy() - points.to_numpy()
    others = np.argsort(-everyone, axis=1)[:, :TOP]
    assert agreeing_rows(others, shortfall) < len(X)  # the reference group matters


@pytest.mark.parametrize("name", NAMES)
def test_reasons(name: str) -> None:
    X, _ = applicants(name)
    model = trained(name)
    points = points_of_factors(model, X)
    shortfall = points.mean().to_numpy() - points.to_numpy()
    ev = shafer.Explainer(model, X, classes=["good", "bad"], prior="own")(X)
    table = ev.reasons(class_="bad", top=TOP)
    assert table["rank"].tolist() == [1, 2, 3, 4] * len(X)
    place = {factor: g for g, factor in enumerate(points)}
    components = table["component"].map(place).to_numpy().reshape(len(X), TOP)
    assert agreeing_rows(components, shortfall) == len(X)
    given = [X[name].iloc[row] for row, name in zip(table["row"], table["component"], strict=True)]
    pairs = zip(table["value"], given, strict=True)
    assert all(str(shown) == str(value) for shown, value in pairs)  # NaN too


def test_the_comparison_can_fail() -> None:
    shortfall = np.array([[5.0, 4.0, 3.0, 2.0, 1.0], [1.0, 1.0, 1.0, 1.0, 0.0]])
    assert agreeing_rows(np.array([[0, 1, 2, 3], [3, 1, 0, 2]]), shortfall) == 2
    assert agreeing_rows(np.array([[0, 1, 2, 4], [3, 1, 0, 4]]), shortfall) == 0
    assert agreeing_rows(np.array([[0, 1, 2, 3], [3, 3, 0, 2]]), shortfall) == 1
