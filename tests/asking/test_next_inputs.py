"""The information of missing inputs, against Monte Carlo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import rel_entr, softmax
from sklearn.linear_model import LogisticRegression

import shafer
from linear_worlds import conditional, draws, linear_world, logits_of, with_gaps

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


def second_order(explainer: shafer.Explainer, sample: Any, asked: list[int], p: Any) -> float:
    """Return half the expected variance of the moved logits over classes drawn from p."""
    moved = moved_logits(explainer, sample, asked)
    moved = moved - moved.mean(axis=0)
    centred = moved - (moved @ p)[:, None]
    return float(0.5 * ((centred**2) @ p).mean())


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5])
def test_single_inputs_and_groups_against_monte_carlo(n_classes: int) -> None:
    for seed in range(3):
        explainer, X, rng = linear_world(seed, n_classes)
        read = shafer.Explainer(explainer.model, X, missing="conditional")
        row = with_gaps(X[seed], [0, 2, 3, 5])
        p = read(row[None, :]).probability[0]
        out, _, left = conditional(explainer, row)
        slopes = explainer.pool.beta[out]
        variance = 2 / (n_classes - 1) * np.trace(slopes.T @ left @ slopes)
        kappa = 1 / np.sqrt(1 + np.pi / 8 * variance)
        for asked, options in [([0], {}), ([3], {}), ([2, 5], {"groups": {"two": [2, 5]}})]:
            name = "two" if options else f"x{asked[0]}"
            sample = draws(explainer, row, rng)
            expected = kappa**2 * second_order(explainer, sample, asked, p)
            parts = [second_order(explainer, part, asked, p) for part in np.split(sample, 20)]
            error = kappa**2 * np.std(parts) / np.sqrt(20)
            found = information(explainer, row, **options)[name]
            assert abs(found - expected) < 4.5 * error
            assert error < 0.1 * found


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
        "row", "rank", "input", "information", "cost", "information_per_cost", "class", "against",
        "index",
    ]  # fmt: skip
    assert found["row"].tolist() == [1, 1, 3]
    assert found["index"].tolist() == ["b", "b", "d"]
    assert found["rank"].tolist() == [1, 2, 1]
    assert (found["cost"] == 1).all()
    assert found["information"].iloc[0] >= found["information"].iloc[1] > 0
    assert set(found["class"]) | set(found["against"]) <= {"u", "v", "w"}
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
        assert {line["class"], line["against"]} == pair
        assert p["abcde".index(line["class"])] >= p["abcde".index(line["against"])]


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
    tempered = shafer.Explainer(explainer.model, X, temper=0.5)
    row = with_gaps(X[0], [0, 1])[None, :]
    read = shafer.Explainer(explainer.model, X, temper=0.5, missing="conditional")(row)
    p = read.probability[0]
    found = tempered.ask.next_inputs(row)["information"]
    plain = shafer.Explainer(explainer.model, X, missing="conditional")(row).probability[0]
    before = explainer.ask.next_inputs(row)["information"]
    assert_allclose(found / before, 0.25 * (p[0] * p[1]) / (plain[0] * plain[1]))


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
