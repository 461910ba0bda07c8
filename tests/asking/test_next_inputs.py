"""Which input to ask for next, what to measure with a budget, and what that gains."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, rel_entr, softmax
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, SplineTransformer, StandardScaler

import shafer
from linear_worlds import conditional, draws, linear_world, logits_of, with_gaps
from shafer.asking.next_inputs import order_cannot_differ

# The information of missing inputs, against Monte Carlo.


NAN = np.nan


def information(explainer: shafer.Explainer, row: Any, **options: Any) -> dict[str, float]:
    found = explainer.ask.next_inputs(row[None, :], top=None, **options)
    return dict(zip(found["input"], found["information"], strict=True))


def moved_logits(explainer: shafer.Explainer, sample: Any, asked: list[int]) -> Any:
    """Return the expected logits after some inputs are measured, by regression on many draws."""
    logits = logits_of(explainer, sample)
    known = sample[:, asked] - sample[:, asked].mean(axis=0)
    slopes = np.linalg.lstsq(known, logits - logits.mean(axis=0), rcond=None)[0]
    return logits.mean(axis=0) + known @ slopes


def divergence_of_draws(explainer: shafer.Explainer, row: Any, asked: list[int], n: int) -> Any:
    """Return the mean divergence over n draws of what is asked, and its standard error.

    New and old probabilities have the factor of ``missing="conditional"`` for what is missing.
    """
    out, expected, left = conditional(explainer, row)
    complete = row.copy()
    complete[out] = expected
    place = [out.tolist().index(j) for j in asked]
    slopes = explainer.pool.beta[out]
    gain = np.linalg.solve(left[np.ix_(place, place)], left[place])
    beyond = left - left[:, place] @ gain
    n_classes = slopes.shape[1]
    factors = [
        1 / np.sqrt(1 + np.pi / 8 * 2 / (n_classes - 1) * np.trace(slopes.T @ part @ slopes))
        for part in (left, beyond)
    ]
    rng = np.random.default_rng(0)
    drawn = rng.multivariate_normal(np.zeros(len(place)), left[np.ix_(place, place)], size=n)
    logits = logits_of(explainer, complete[None, :])
    old, new = (
        softmax(factors[0] * logits),
        softmax(factors[1] * (logits + drawn @ gain @ slopes), axis=1),
    )
    each = rel_entr(new, old).sum(axis=1)
    return each.mean(), each.std() / np.sqrt(n)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("slope", [1.0, 10.0])
def test_the_information_against_a_million_draws(n_classes: int, slope: float) -> None:
    explainer, X, _ = linear_world(n_classes, n_classes, slope=slope)
    row = with_gaps(X[3], [0, 2, 3, 5])
    for asked, options in [
        ([0], {}),
        ([3], {}),
        ([2, 5], {"groups": {"two": [2, 5]}}),
        ([0, 2, 3], {"groups": {"two": [0, 2, 3]}}),
    ]:
        found = information(explainer, row, **options)["two" if options else f"x{asked[0]}"]
        drawn = 10**6 if asked == [0] else 10**5
        expected, error = divergence_of_draws(explainer, row, asked, drawn)
        in_space = n_classes > 2 and len(asked) > 1 and (slope > 1 or len(asked) > 2)
        assert abs(found - expected) < 4.5 * error + 0.005 * in_space * found
        assert error < 0.01 * found


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("temper", [1.0, 0.5])
def test_the_information_of_the_explainers_own_probabilities(n_classes: int, temper: float) -> None:
    """What is drawn is filled in, and the explainer is asked again."""
    explainer, X, rng = linear_world(4, n_classes)
    read = shafer.Explainer(explainer.model, X, temper=temper, missing="conditional")
    row = with_gaps(X[0], [0, 1, 4])
    sample = draws(explainer, row, rng, 20_000)
    found = information(read, row)
    old = read(row[None, :]).probability
    for asked in (0, 4):
        filled = np.repeat(row[None, :], len(sample), axis=0)
        filled[:, asked] = sample[:, asked]
        each = rel_entr(read(filled).probability, old).sum(axis=1)
        assert abs(each.mean() - found[f"x{asked}"]) < 4.5 * each.std() / np.sqrt(20_000)


def test_a_steep_line_is_not_missed() -> None:
    """The information of logit s · x + b about a normal x: ln 2 and less, never Gaussian nodes."""
    X = np.random.default_rng(0).normal(size=(5000, 1))
    for slope, offset in [(10.0, 0.0), (300.0, 40.0), (1e5, 3e4)]:
        explainer = shafer.Explainer(([slope], offset), X)
        found = information(explainer, np.array([NAN]))["x0"]
        z = X.mean() * slope + offset
        spread = slope * explainer.ask.model().inputs.gaussian.spread[0]
        drawn = z + spread * np.random.default_rng(1).normal(size=10**6)
        old = z / np.sqrt(1 + np.pi / 8 * spread**2)
        p = np.stack([expit(-drawn), expit(drawn)], axis=1)
        each = rel_entr(p, [expit(-old), expit(old)]).sum(axis=1)
        assert abs(found - each.mean()) < 4.5 * each.std() / 1e3
    assert 0.55 < information(shafer.Explainer(([10.0], 0.0), X), np.array([NAN]))["x0"] < 0.57


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_small_information_is_the_expected_divergence(n_classes: int) -> None:
    """To second order: the relative error shrinks with the information itself."""
    for slope, tolerance in [(0.1, 0.02), (0.5, 0.25)]:
        explainer, X, rng = linear_world(7, n_classes, slope=slope)
        row = with_gaps(X[0], [1, 4])
        found = information(explainer, row)
        for asked in (1, 4):
            moved = moved_logits(explainer, draws(explainer, row, rng), [asked])
            after = softmax(moved, axis=1)
            divergence = rel_entr(after, after.mean(axis=0)).sum(axis=1).mean()
            assert_allclose(found[f"x{asked}"], divergence, rtol=tolerance)


def test_two_classes_are_ranked_the_same_whatever_the_others_are() -> None:
    explainer, X, rng = linear_world(1, 2)
    gappy = with_gaps(X[:50], [0, 1, 5])
    frame = explainer.ask.next_inputs(gappy)
    orders = {tuple(part["input"]) for _, part in frame.groupby("row")}
    assert len(orders) == 1
    out, _, left = conditional(explainer, gappy[0])
    beta = explainer.pool.beta[out]
    moved = left @ (beta[:, 0] - beta[:, 1])
    by_hand = np.argsort(-(moved**2) / np.diag(left))
    assert orders.pop() == tuple(f"x{out[j]}" for j in by_hand)
    # The first of them reduces the expected log loss and the expected error most.
    lead, error = {}, {}
    for j in out:
        after = moved_logits(explainer, draws(explainer, gappy[0], rng), [int(j)])
        lead[f"x{j}"] = (after[:, 1] - after[:, 0]).std()
        error[f"x{j}"] = softmax(after, axis=1).min(axis=1).mean()
    best = frame["input"].iloc[0]
    assert max(lead, key=lead.get) == best
    assert min(error, key=error.get) == best


def test_the_table() -> None:
    explainer, X, _ = linear_world(0, 3, classes=["u", "v", "w"])
    frame = pd.DataFrame(X[:4], columns=[f"x{j}" for j in range(6)], index=["a", "b", "c", "d"])
    frame.loc["b", ["x0", "x4", "x1", "x3"]] = NAN
    frame.loc["d", "x2"] = NAN
    found = explainer.ask.next_inputs(frame, top=2)
    assert list(found.columns) == [
        "row", "rank", "input", "information", "cost", "information_per_cost", "overturn",
        "class", "over", "index",
    ]  # fmt: skip
    assert found["row"].tolist() == [1, 1, 3]
    assert found["index"].tolist() == ["b", "b", "d"]
    assert found["rank"].tolist() == [1, 2, 1]
    assert (found["cost"] == 1).all()
    assert found["information"].iloc[0] >= found["information"].iloc[1] > 0
    assert set(found["class"]) | set(found["over"]) <= {"u", "v", "w"}
    every = explainer.ask.next_inputs(frame, top=None)
    assert len(every) == 5
    other = explainer.ask.next_inputs(frame.to_numpy(), top=2, backend="polars")
    assert isinstance(other, pl.DataFrame)
    assert other["row"].to_list() == [1, 1, 3]
    assert explainer.ask.next_inputs(X[:2]).empty
    assert list(explainer.ask.next_inputs(X[:2]).columns) == list(found.columns[:-1])


def test_the_pair_is_the_one_it_separates_most() -> None:
    explainer, X, _ = linear_world(3, 5, classes=list("abcde"))
    row = with_gaps(X[1], [0, 3])
    p = shafer.Explainer(explainer.model, X, missing="conditional")(row[None, :]).probability[0]
    found = explainer.ask.next_inputs(row[None, :]).set_index("input")
    out, _, left = conditional(explainer, row)
    moved = left @ explainer.pool.beta[out]
    for place, j in enumerate(out):
        apart = (moved[place][:, None] - moved[place]) ** 2 * np.outer(p, p)
        first, second = np.unravel_index(np.argmax(apart), apart.shape)
        pair = {"abcde"[first], "abcde"[second]}
        line = found.loc[f"x{j}"]
        assert {line["class"], line["over"]} == pair
        assert p["abcde".index(line["class"])] >= p["abcde".index(line["over"])]


def test_costs_change_the_order_and_not_the_information() -> None:
    explainer, X, _ = linear_world(0, 2)
    row = with_gaps(X[0], range(6))[None, :]
    plain = explainer.ask.next_inputs(row, top=None).set_index("input")["information"]
    best = plain.index[0]
    dear = explainer.ask.next_inputs(row, top=None, costs={best: 1e6})
    assert dear["input"].iloc[-1] == best
    assert dear["cost"].iloc[-1] == 1e6
    assert_allclose(dear.set_index("input")["information"][plain.index], plain)
    assert_allclose(dear["information_per_cost"], dear["information"] / dear["cost"])
    series = explainer.ask.next_inputs(row, top=None, costs=pd.Series({best: 1e6}))
    assert_array_equal(series["input"], dear["input"])


def test_a_group_tells_at_least_as_much_as_its_members() -> None:
    explainer, X, _ = linear_world(4, 3)
    row = with_gaps(X[0], [0, 1, 2, 5])
    single = information(explainer, row)
    joint = information(explainer, row, groups={"lab": ["x0", "x1", "x4"]})
    assert set(joint) == {"lab", "x2", "x5"}  # x4 is known
    assert joint["lab"] >= max(single["x0"], single["x1"])
    assert_allclose(joint["x2"], single["x2"])
    alone = information(explainer, with_gaps(X[0], [1]), groups=[["x0", "x1"]])
    assert_allclose(alone["x0+x1"], information(explainer, with_gaps(X[0], [1]))["x1"])


def test_tempering_counts() -> None:
    explainer, X, _ = linear_world(4, 2)
    tempered = shafer.Explainer(explainer.model, X, temper=0.1)
    row = with_gaps(X[0], [0, 1])
    for name, found in information(tempered, row).items():
        assert found < 0.1 * information(explainer, row)[name]


# Several inputs at once.


def brute_force(explainer: shafer.Explainer, row: Any, size: int) -> dict[tuple[str, ...], float]:
    """Return the information of all sets of inputs of one size."""
    gaps = np.flatnonzero(np.isnan(row)).tolist()
    return {
        tuple(f"x{j}" for j in together): information(
            explainer, row, groups={"all": list(together)}
        )["all"]
        for together in combinations(gaps, size)
    }


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_best_pair_of_all(n_classes: int) -> None:
    explainer, X, _ = linear_world(2, n_classes)
    rows = with_gaps(X[:3], [0, 1, 3, 5])
    found = explainer.ask.next_inputs(rows, top=None, together=2)
    assert found["row"].tolist() == [0] * 6 + [1] * 6 + [2] * 6
    for r, part in found.groupby("row"):
        pairs = zip(part["input_1"], part["input_2"], strict=True)
        every = brute_force(explainer, rows[r], 2)
        assert dict(zip(pairs, part["information"], strict=True)) == pytest.approx(every)
        assert part["information"].is_monotonic_decreasing
        assert part["rank"].tolist() == list(range(1, 7))
        assert (part["input"] == part["input_1"] + " + " + part["input_2"]).all()
    assert (found["cost"] == 2).all()
    assert ((found["overturn"] >= 0) & (found["overturn"] <= 1)).all()
    best = explainer.ask.next_inputs(rows, top=1, together=2)
    assert best["input"].tolist() == found[found["rank"] == 1]["input"].tolist()


def test_the_two_best_inputs_need_not_be_the_best_pair() -> None:
    """Two copies of one input tell it twice: the best pair takes another one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    X[:, 1] = X[:, 0] + 0.05 * X[:, 1]
    explainer = shafer.Explainer(([1.0, 1.0, 0.9], 0.0), X, names=["a", "copy", "b"])
    row = np.full((1, 3), NAN)
    single = explainer.ask.next_inputs(row, top=2)["input"]
    assert set(single) == {"a", "copy"}
    pair = explainer.ask.next_inputs(row, top=1, together=2)
    assert "b" in pair.loc[0, ["input_1", "input_2"]].tolist()


def test_more_than_a_pair_grows_it() -> None:
    explainer, X, _ = linear_world(5, 3)
    rows = with_gaps(X[:20], [0, 1, 2, 4, 5])
    rows[7] = X[7]  # complete
    rows[8] = with_gaps(X[8], [3, 4])  # fewer than three are missing
    found = explainer.ask.next_inputs(rows, together=3).set_index("row")
    assert len(found) == 19
    assert found.loc[8, ["input_1", "input_2"]].tolist() == ["x3", "x4"]
    assert pd.isna(found.loc[8, "input_3"])
    pair = explainer.ask.next_inputs(rows, top=1, together=2).set_index("row")
    for r in (0, 5):
        best = brute_force(explainer, rows[r], 3)
        members = tuple(found.loc[r, ["input_1", "input_2", "input_3"]])
        assert set(pair.loc[r, ["input_1", "input_2"]]) < set(members)
        assert found.loc[r, "information"] == pytest.approx(best[members])
        assert found.loc[r, "information"] >= 0.9 * max(best.values())


def test_costs_count_in_pairs() -> None:
    explainer, X, _ = linear_world(2, 2)
    row = with_gaps(X[:1], [0, 1, 3])
    cheap = explainer.ask.next_inputs(row, top=None, together=2, costs={"x0": 100})
    assert cheap["input"].iloc[0] == "x1 + x3"
    assert cheap["cost"].tolist() == [2.0, 101.0, 101.0]
    assert_allclose(cheap["information_per_cost"], cheap["information"] / cheap["cost"])


def test_when_the_order_cannot_differ() -> None:
    explainer, X, _ = linear_world(1, 2)
    asked = explainer.ask.model()
    alike = with_gaps(X[:9], [0, 1])
    assert order_cannot_differ(asked, alike)
    assert order_cannot_differ(asked, alike, {"x0": 3, "x1": 3})
    assert not order_cannot_differ(asked, alike, {"x0": 3})
    assert not order_cannot_differ(asked, with_gaps(X[:9], [0]))
    assert not order_cannot_differ(asked, np.where(np.eye(9, 6, dtype=bool), NAN, alike))
    assert not order_cannot_differ(linear_world(1, 3)[0].ask.model(), alike)


def test_refusals() -> None:
    explainer, X, _ = linear_world(0, 2)
    row = with_gaps(X[:1], [0, 1])
    for options, message in [
        ({"top": 0}, "top must be an integer ≥ 1"),
        ({"top": 1.5}, "top must be an integer ≥ 1"),
        ({"costs": {"x9": 2}}, "costs names 'x9', which cannot be measured alone. Use one of 'x0'"),
        ({"costs": {"x0": 0}}, "finite numbers > 0; got 0 for 'x0'"),
        ({"costs": {"x0": NAN}}, "finite numbers > 0"),
        ({"costs": [1, 2]}, "costs must map names"),
        ({"costs": {"x0": 2}, "groups": {"g": ["x0", "x1"]}}, "give the cost of the group"),
        ({"groups": {"g": ["x0", "nothing"]}}, "'nothing'"),
        ({"together": 0}, "together must be how many inputs are measured at once"),
        ({"together": True}, "together must be how many inputs are measured at once"),
    ]:
        with pytest.raises(ValueError, match=message):
            explainer.ask.next_inputs(row, **options)
    batches = shafer.Explainer(explainer.model, iter([X]))
    with pytest.raises(ValueError, match="made from an iterator"):
        batches.ask.next_inputs(row)
    forest = shafer.models.Contributions(lambda X: X**2)
    with pytest.raises(shafer.UnsupportedModelError, match="works for linear models"):
        shafer.Explainer(forest, X).ask.overturn(X)


def test_numbers_do_not_depend_on_the_chunks(monkeypatch: Any) -> None:
    explainer, X, rng = linear_world(0, 3)
    gappy = np.where(rng.random(X.shape) < 0.3, NAN, X)
    whole = explainer.ask.next_inputs(gappy), explainer.ask.overturn(gappy)
    monkeypatch.setattr("shafer.asking.inputs._CHUNK", 37)
    assert explainer.ask.next_inputs(gappy).round(12).equals(whole[0].round(12))
    assert_allclose(explainer.ask.overturn(gappy), whole[1], atol=1e-12)


def test_a_fitted_model_by_name() -> None:
    heart = shafer.datasets.load_heart()
    frame = pd.DataFrame(heart.data, columns=heart.feature_names)
    model = LogisticRegression(max_iter=5000).fit(frame, heart.target)
    explainer = shafer.Explainer(model, frame)
    gappy = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.3)
    found = explainer.ask.next_inputs(gappy)
    permuted = explainer.ask.next_inputs(gappy[gappy.columns[::-1]])
    assert found.equals(permuted)
    single = explainer.ask.next_inputs(gappy.astype(np.float32))
    assert_allclose(single["information"].sum(), found["information"].sum(), rtol=1e-4)


# Measurements within a budget.


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
def test_refusals_of_next_measurements(budget: Any) -> None:
    explainer, X = gappy_world()
    with pytest.raises(ValueError, match="budget must be a number > 0"):
        explainer.ask.next_measurements(X, budget)


# Losing inputs, with their expectations in their place.


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("gaps", [[], [2]])
def test_each_loss_is_the_change_to_the_expectation(n_classes: int, gaps: list[int]) -> None:
    explainer, X, _ = linear_world(3, n_classes)
    for row in with_gaps(X[:10], gaps):
        known = [j for j in range(6) if j not in gaps]
        logits = expected_logits(explainer, row)
        chosen = logits.argmax()
        shifts = np.array([logits - expected_logits(explainer, with_gaps(row, [j])) for j in known])
        total = 0.0
        for gone in product([0, 1], repeat=len(known)):
            left = logits - np.array(gone) @ shifts
            share = 0.3 ** sum(gone) * 0.7 ** (len(known) - sum(gone))
            total += share * (left.argmax() != chosen)
        assert_allclose(explainer.ask.fragility(row[None, :], 0.3)[0], total, atol=1e-9)


def expected_logits(explainer: shafer.Explainer, row: np.ndarray) -> np.ndarray:
    filled = row.copy()
    if np.isnan(row).any():
        out, expected, _ = conditional(explainer, row)
        filled[out] = expected
    return np.asarray(explainer(filled[None, :]).logits[0])


def test_many_inputs_against_losing_them_at_random() -> None:
    """Filled one by one the loss is a sum; filled together it is almost the same."""
    explainer, X, rng = linear_world(5, 3, n_inputs=14)
    read = shafer.Explainer(explainer.model, X, missing="conditional")
    rows = X[:25]
    found = explainer.ask.fragility(rows, 0.2)
    decisions = explainer(rows).probability.argmax(axis=1)
    rates = []
    for row, decision in zip(rows, decisions, strict=True):
        gone = rng.random((400, 14)) < 0.2
        many = np.where(gone, np.nan, row)
        rates.append((np.asarray(read(many).probability).argmax(axis=1) != decision).mean())
    assert np.abs(found - rates).mean() < 0.05
    assert np.corrcoef(found, rates)[0, 1] > 0.9


def test_mean_fill_is_that_of_the_evidence() -> None:
    explainer, X, _ = linear_world(3, 3)
    assert_allclose(explainer.ask.fragility(X, 0.3, fill="mean"), explainer(X).fragility(0.3))
    X, y = load_iris(return_X_y=True)
    bayes = shafer.Explainer(GaussianNB().fit(X, y), X)
    assert_allclose(bayes.ask.fragility(X, fill="mean"), bayes(X).fragility())
    with pytest.raises(shafer.UnsupportedModelError, match=r"ev\.fragility"):
        bayes.ask.fragility(X)
    with pytest.raises(ValueError, match="fill must be 'conditional' or 'mean'; got 'median'"):
        bayes.ask.fragility(X, fill="median")
    with pytest.raises(ValueError, match="q must be"):
        explainer.ask.fragility(X, 2.0)


# Inputs behind one-hot encoders, imputers and other transformers of single columns.


def table(n: int = 400) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "age": 40.0 + 10 * group + 5 * rng.normal(size=n),
            "ward": np.array(["east", "north", "west"], dtype=object)[group],
            "dose": rng.normal(size=n),
            "smokes": np.array(["no", "yes"], dtype=object)[rng.integers(0, 2, n)],
        }
    )
    score = (frame["ward"] == "west") * 2.0 + frame["dose"] + (frame["smokes"] == "yes")
    return frame, np.where(score + rng.normal(size=n) > 1.5, "ill", "well")


def encoded(drop: Any = None) -> Any:
    return make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "dose"]),
        (OneHotEncoder(drop=drop, handle_unknown="ignore"), ["ward", "smokes"]),
    )


def explained(drop: Any = None, **options: Any) -> tuple[Any, Any]:
    X, y = table()
    return shafer.Explainer(make_pipeline(encoded(drop), LogisticRegression()).fit(X, y), X,
                            **options), X  # fmt: skip


@pytest.mark.parametrize("drop", [None, "first", "if_binary"])
def test_a_category_is_one_input(drop: Any) -> None:
    explainer, X = explained(drop)
    gappy = X[:6].copy()
    gappy.loc[0, "ward"] = None
    gappy.loc[1, ["ward", "smokes", "dose", "age"]] = None
    found = explainer.ask.next_inputs(gappy, top=None)
    assert found["row"].tolist() == [0, 1, 1, 1, 1]
    assert set(found["input"]) == set(X.columns)
    assert (found["information"] > 0).all()
    # The joint information of the indicators, on the Gaussian that was fitted to them.
    inputs = explainer.ask.model().inputs
    block = list(inputs.blocks.features[inputs.blocks.names.index("ward")])
    gaussian = inputs.gaussian
    covariance = gaussian.correlation * np.outer(gaussian.spread, gaussian.spread)
    slopes = inputs.beta
    moved = covariance[block] @ slopes
    q = moved.T @ np.linalg.solve(covariance[np.ix_(block, block)], moved)
    z = inputs.level(explainer.weighed_model.model)
    variance = 2 * np.trace(slopes.T @ covariance @ slopes)
    after = 2 * np.trace(q)
    factors = [1 / np.sqrt(1 + np.pi / 8 * v) for v in (variance, variance - after)]
    spread = np.sqrt(q[0, 0] + q[1, 1] - 2 * q[0, 1])  # of the log-odds
    lead = z[1] - z[0] + spread * np.random.default_rng(0).normal(size=10**6)
    new = np.stack([expit(-factors[1] * lead), expit(factors[1] * lead)], axis=1)
    each = rel_entr(new, softmax(factors[0] * z)).sum(axis=1)
    line = found[(found["row"] == 1) & (found["input"] == "ward")]
    assert abs(line["information"].iloc[0] - each.mean()) < 4.5 * each.std() / 1e3


def test_frames_of_all_libraries() -> None:
    explainer, X = explained()
    gaps = np.random.default_rng(1).random(X.shape) < 0.3
    gappy = X.mask(gaps)
    found = explainer.ask.overturn(gappy)
    assert 0 < found.max() < 1
    for other in (
        gappy[X.columns[::-1]],
        pl.from_pandas(gappy),
        pa.Table.from_pandas(gappy, preserve_index=False),
        gappy.assign(unused=1.0),
        gappy.astype({"ward": "category"}),
    ):
        assert_allclose(explainer.ask.overturn(other), found, atol=1e-12)
    ev = explained(missing="conditional")[0](pl.from_pandas(gappy))
    assert np.isfinite(ev.weights).all()


def test_encodings_agree() -> None:
    """Dropping a category gives other coefficients, but almost the same answers."""
    X, _ = table()
    gappy = X.mask(np.random.default_rng(1).random(X.shape) < 0.3)
    full, dropped = explained()[0].ask.overturn(gappy), explained("first")[0].ask.overturn(gappy)
    assert np.corrcoef(full, dropped)[0, 1] > 0.98


def test_missing_conditional_fills_categories() -> None:
    """The expectation of the indicators is near the share of the categories."""
    explainer, X = explained(missing="conditional")
    gappy = X.copy()
    gappy["ward"] = None
    filled = explainer.weighed_model.missing.complete(explainer.weighed_model.model, gappy)
    blocks = explainer.weighed_model.missing.blocks
    indicators = filled.rows.terms[:, list(blocks.features[blocks.names.index("ward")])]
    assert_allclose(indicators.sum(axis=1), 1.0, atol=0.1)
    old = X["age"] > 58
    west = indicators[:, 2]
    assert west[old].mean() > 0.6 > 0.25 > west[~old].mean()


def test_cells_in_words() -> None:
    explainer, X = explained()
    found = explainer.ask.check_cells(X[:20], top=None, order="stake")
    wards = found[found["input"] == "ward"]
    assert set(wards["value"]) | set(wards["expected"]) <= {"east", "north", "west"}
    ages = found[found["input"] == "age"]
    assert_allclose(ages["value"].astype(float), X["age"][:20], rtol=1e-5)
    assert ages["expected"].astype(float).between(30, 75).all()
    odd = X[:1].copy()
    odd["age"], odd["ward"] = 80.0, "east"
    worst = explainer.ask.check_cells(odd, top=None, order="stake").sort_values("surprise").iloc[-1]
    assert worst["input"] in ("age", "ward")
    guarded = explainer.ask.guard(odd.assign(age=500.0)).to_frame()
    assert guarded["input"].tolist() == ["age"]
    assert guarded["value"].tolist() == ["500"]


def test_splines_are_one_input() -> None:
    X, y = table()
    encoder = make_column_transformer((SplineTransformer(), ["age"]), (StandardScaler(), ["dose"]))
    model = make_pipeline(encoder, LogisticRegression()).fit(X[["age", "dose"]], y)
    explainer = shafer.Explainer(model, X[["age", "dose"]])
    gappy = X.loc[:3, ["age", "dose"]].copy()
    gappy.loc[1, "age"] = np.nan
    assert explainer.ask.next_inputs(gappy)["input"].tolist() == ["age"]
    cells = explainer.ask.check_cells(X[["age", "dose"]], top=None, order="stake").set_index(
        "input"
    )
    assert cells.loc["age", "expected"].between(20, 90).all()


def test_refusals_of_categories() -> None:
    X, y = table()
    numbers = X[["age", "dose"]]
    mixed = make_pipeline(PCA(2), LogisticRegression()).fit(numbers, y)
    with pytest.raises(shafer.UnsupportedModelError, match="transformers of single columns"):
        shafer.Explainer(mixed, numbers).ask.overturn(numbers)
    marked = make_pipeline(SimpleImputer(add_indicator=True), LogisticRegression())
    holes = numbers.mask(np.random.default_rng(0).random(numbers.shape) < 0.2)
    marked.fit(holes, y)
    with pytest.raises(shafer.UnsupportedModelError, match="adds features for missing values"):
        shafer.Explainer(marked, holes).ask.overturn(holes)
    words = make_pipeline(CountVectorizer(), LogisticRegression()).fit(X["ward"], y)
    with pytest.raises(shafer.UnsupportedModelError, match="single columns"):
        shafer.Explainer(words, X["ward"].tolist()).ask.overturn(["east"])
