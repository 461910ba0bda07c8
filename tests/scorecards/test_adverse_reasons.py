"""The largest weights for the adverse class are the reasons of Regulation B's commentary.

12 CFR part 1002, supplement I, comment 9(b)(2)-5 names two methods of selecting reasons from a
credit scoring system: the factors for which the applicant's score fell furthest below the average,
either of all applicants or of those whose total score was at or slightly above the minimum passing
score. Here the rule is computed from optbinning's own table of points.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import shafer
from credit_data import NAMES, applicants, trained

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
    table = ev.reasons(for_="bad", top=TOP)
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
