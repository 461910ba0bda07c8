"""Measurements within a budget."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from linear_worlds import linear_world, with_gaps


def gappy_world(seed: int = 0, n_classes: int = 3) -> tuple[Any, Any]:
    explainer, X, rng = linear_world(seed, n_classes)
    gaps = rng.random((12, 6)) < 0.5
    return explainer, np.where(gaps, np.nan, X[:12])


def test_the_best_pair_comes_first() -> None:
    explainer, X = gappy_world()
    plan = explainer.ask.next_measurements(X, 5)
    every = explainer.ask.next_inputs(X, top=None).sort_values("information", ascending=False)
    assert len(plan) == 5
    assert plan["rank"].tolist() == [1, 2, 3, 4, 5]
    best = every.iloc[0]
    assert (plan["row"].iloc[0], plan["input"].iloc[0]) == (best["row"], best["input"])
    assert_allclose(plan["information"].iloc[0], best["information"])
    assert list(plan.columns) == list(every.columns)


def test_a_second_measurement_counts_beyond_the_first() -> None:
    """The information of all inputs of a row, one after the other, is that of all together."""
    explainer, X, _ = linear_world(1, 3)
    row = with_gaps(X[:1], [0, 2, 3, 5])
    plan = explainer.ask.next_measurements(row, 100)
    assert len(plan) == 4
    together = explainer.ask.next_inputs(row, groups={"all": [0, 2, 3, 5]})
    assert_allclose(plan["information"].sum(), together["information"].iloc[0], rtol=1e-6)


def test_nothing_is_bought_twice_and_the_budget_holds() -> None:
    explainer, X = gappy_world(2)
    costs = {"x0": 3.0, "x1": 0.5, "x5": 2.0}
    plan = explainer.ask.next_measurements(X, 7.25, costs=costs)
    assert plan["cost"].sum() <= 7.25
    assert not plan.duplicated(["row", "input"]).any()
    left = 7.25 - plan["cost"].sum()
    missing = {(i, f"x{j}") for i, j in np.argwhere(np.isnan(X))}
    bought = set(zip(plan["row"], plan["input"], strict=True))
    assert bought <= missing
    assert all(costs.get(name, 1.0) > left for _, name in missing - bought)
    everything = explainer.ask.next_measurements(X, 1e9)
    assert len(everything) == np.isnan(X).sum()


def test_copies_are_bought_once() -> None:
    explainer, X, _ = linear_world(3, 2)
    import shafer

    coef, intercept = explainer.model
    doubled = shafer.Explainer((np.hstack([coef, coef]), intercept), np.hstack([X, X]))
    plan = doubled.ask.next_measurements(np.full((1, 12), np.nan), 12)
    tail = plan["information"].iloc[6:].sum()
    assert tail < 0.01 * plan["information"].sum()


def test_groups_and_frames() -> None:
    explainer, X = gappy_world(4)
    plan = explainer.ask.next_measurements(X, 6, groups={"lab": ["x0", "x1"]}, costs={"lab": 1.5})
    assert {"x0", "x1"}.isdisjoint(plan["input"])
    assert "lab" in set(plan["input"])
    full = explainer.ask.next_measurements(np.nan_to_num(X), 6)
    assert full.empty
    assert_array_equal(full.columns, plan.columns)
    polars = explainer.ask.next_measurements(X, 2, backend="polars")
    assert polars["rank"].to_list() == [1, 2]


@pytest.mark.parametrize("budget", [0, -1, np.nan, "5", None, True])
def test_refusals(budget: Any) -> None:
    explainer, X = gappy_world()
    with pytest.raises(ValueError, match="budget must be a number > 0"):
        explainer.ask.next_measurements(X, budget)
