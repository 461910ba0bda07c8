"""Weights of heads and groups, at once and one component after another."""

from __future__ import annotations

import numpy as np
import pytest

import shafer

from ..graph_runs import EVERYTHING, check

RNG = np.random.default_rng(3)
ROWS = RNG.normal(size=(40, 6)) * [1.0, 10.0, 100.0, 1e-3, 1.0, 1.0] + [0.0, 5.0, 900.0, 0, 1, 1]


def _head(n_classes: int) -> shafer.LinearHead:
    scale = np.array([1.0, 0.1, 0.01, 1e3, 1.0, 1.0])
    return shafer.LinearHead(RNG.normal(size=(n_classes, 6)) * scale, RNG.normal(size=n_classes))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("prior", ["shared", "own"])
@pytest.mark.parametrize("groups", [None, {"a": [0, 1], "b": [2], "c": [5, 4, 3]}, "one"])
def test_groups_prior_and_tempering(n_classes: int, prior: str, groups: object) -> None:
    explainer = shafer.Explainer(_head(n_classes), ROWS, groups, prior=prior, temper=0.6)
    check(explainer, ROWS)
    check(explainer, ROWS, ("belief", "conflict"))


def test_many_rows_are_summed_by_component(monkeypatch: pytest.MonkeyPatch) -> None:
    without = tuple(name for name in EVERYTHING if name != "weights")
    monkeypatch.setattr("shafer.export.nodes._MOST_AT_ONCE", 20)
    for n_classes in (2, 4):
        explainer = shafer.Explainer(_head(n_classes), ROWS, prior="own")
        check(explainer, ROWS[:1], without)  # 6 features × K weights: one row is at the limit
        check(explainer, ROWS, without)


def test_large_groups_have_a_product_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shafer.export.nodes._LARGEST_BLOCK", 10)
    groups = {"a": [0, 5], "b": [2, 1], "c": [3, 4]}
    check(shafer.Explainer(_head(3), ROWS, groups), ROWS)


def test_many_classes_without_all_weights_in_memory() -> None:
    coef = RNG.normal(size=(1000, 300)) * 0.1
    rows = RNG.normal(size=(20, 300))  # 20 × 300 × 1000 weights are above the limit
    explainer = shafer.Explainer(shafer.LinearHead(coef, np.zeros(1000)), rows)
    model = check(explainer, rows, ("probability", "belief", "plausibility", "ignorance"))
    branches = [node for node in model.graph.node if node.op_type == "If"]
    assert len(branches) == 1
    inside = [node.op_type for a in branches[0].attribute for node in a.g.node]
    assert inside.count("Scan") == 1
