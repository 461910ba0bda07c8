"""Groups of components, and where components lie."""

from __future__ import annotations

import pickle
from itertools import combinations
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from shafer.evidence import ChannelLayout, GridLayout, RegionLayout, TokenLayout
from shafer.evidence.groups import merged_components
from shafer.evidence.layout import is_label_map, read_layout, read_regions, region_shares

# Few groups of many components: against the direct search, names, and speed.


def random_weights(n: int, n_components: int, n_classes: int, seed: int = 0) -> Any:
    weights = np.random.default_rng(seed).normal(size=(n, n_components, n_classes))
    return weights - weights.mean(axis=2, keepdims=True)


def by_hand(weights: Any, n_groups: int) -> set[frozenset[int]]:
    """Join the best of all pairs again and again."""
    groups = [frozenset([g]) for g in range(weights.shape[1])]

    def total(group: frozenset[int]) -> float:
        return float(np.abs(weights[:, sorted(group)].sum(axis=1)).sum())

    while len(groups) > n_groups:
        first, second = max(
            combinations(groups, 2),
            key=lambda pair: sum(map(total, pair)) - total(pair[0] | pair[1]),
        )
        groups = [g for g in groups if g not in (first, second)] + [first | second]
    return set(groups)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("n_groups", [1, 3, 5])
def test_the_pair_that_cancels_most_is_joined(n_classes: int, n_groups: int) -> None:
    for seed in range(4):
        weights = random_weights(30, 9, n_classes, seed)
        found = merged_components(weights, n_groups)
        assert {frozenset(group) for group in found} == by_hand(weights, n_groups)


def test_the_weakest_are_joined_before() -> None:
    weights = random_weights(50, 20, 2)
    weights[:, 8:] *= 1e-4
    found = merged_components(weights, 5)
    assert list(range(8, 20)) in found
    assert len(found) == 5
    assert merged_components(np.zeros((4, 7, 2)), 3) is not None


def test_names_and_probabilities() -> None:
    weights = random_weights(40, 12, 3)
    weights[:, 0] *= 5
    names = [f"input {g}" for g in range(12)]
    ev = shafer.Evidence.from_weights(weights, names=names)
    few = ev.grouped("auto", n_groups=3)
    assert few.n_components == 3
    assert_allclose(few.probability, ev.probability, atol=1e-12)
    assert few.conflict.mean() < ev.conflict.mean()
    first = few.component_names[0]
    assert first.startswith("input 0 + ")
    assert sum(int(n.split(" + ")[-1].split()[0]) + 2 for n in few.component_names if "more" in n) \
        + sum(1 + n.count(" + ") for n in few.component_names if "more" not in n) == 12  # fmt: skip
    assert ev.grouped("auto").n_components == 5
    assert ev.grouped("auto", n_groups=50).component_names == ev.component_names


def test_all_of_few_rows_count_alike() -> None:
    weights = np.array([[1.0, -1.0, 0.5, 0.5], [0.5, 0.5, 3.0, -3.0]])
    for rows in ([0, 1], [1, 0]):
        ev = shafer.Evidence.from_weights(
            weights[rows][:, :, None] * [1.0, -1.0], names=list("abcd")
        )
        assert ev.grouped("auto", n_groups=3).component_names == ("a", "b", "c + d")


def test_copies_do_not_count_twice() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    noise = 0.1 * np.random.default_rng(0).normal(size=X.shape)
    both = np.hstack([X, X + noise])
    plain, copied = (
        shafer.Explainer(LogisticRegression(max_iter=2000).fit(Z, y), Z)(Z) for Z in (X, both)
    )
    before, after = (ev.grouped("auto").conflict.mean() for ev in (plain, copied))
    assert after < 1.5 * before
    assert before < 0.2 * plain.conflict.mean()


def test_explainers_find_them_and_keep_them() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    explainer = shafer.Explainer(model, X, "auto", n_groups=4, prior="shared")
    assert len(explainer.component_names) == 4
    assert_allclose(explainer(X).probability, model.predict_proba(X), atol=1e-9)
    again = pickle.loads(pickle.dumps(explainer))
    assert again.component_names == explainer.component_names
    assert_allclose(again(X).weights, explainer(X).weights)
    own = shafer.Explainer(model, X, "auto", prior="own")
    assert own.component_names[-1] == "base rate"
    assert len(own.component_names) == 6
    batches = shafer.Explainer(model, iter([X[:300], X[300:]]), "auto", prior="shared")
    assert len(batches.component_names) == 5
    classifier = shafer.EvidentialClassifier(model, groups="auto", prior="shared").fit(X, y)
    assert classifier.evidence(X).n_components == 5


def test_other_models() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=20, max_depth=2).fit(X, y)
    explainer = shafer.Explainer(
        model, pd.DataFrame(X), "auto", components="feature", prior="shared"
    )
    assert len(explainer.component_names) == 5
    assert_allclose(explainer(X).probability, model.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("n_components", [300, 2000])
def test_hundreds_of_components_are_fast(n_components: int) -> None:
    ev = shafer.Evidence.from_weights(random_weights(100, n_components, 2))
    start = perf_counter()
    few = ev.grouped("auto")
    assert perf_counter() - start < 5.0
    assert few.n_components == 5


@pytest.mark.parametrize("n_groups", [0, -1, 2.5, True, "five"])
def test_refusals(n_groups: Any) -> None:
    ev = shafer.Evidence.from_weights(random_weights(3, 4, 2))
    with pytest.raises(ValueError, match="n_groups must be an integer ≥ 1"):
        ev.grouped("auto", n_groups=n_groups)
    with pytest.raises(ValueError, match="groups must be 'one', 'auto'"):
        ev.grouped("automatic")


# Where components lie, and how a segmentation shares the cells of a grid.


LAYOUTS = [
    GridLayout(2, 3),
    RegionLayout(np.array([[0, 1], [1, 2]]), ("sky", "tree", "ground")),
    TokenLayout(4),
    ChannelLayout(5),
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: type(layout).__name__)
def test_contract(layout: GridLayout) -> None:
    n = layout.n_components
    assert len(set(layout.names)) == n
    again = read_layout(layout.plain())
    assert type(again) is type(layout)
    assert again.names == layout.names
    values = np.arange(2.0 * (n + 1)).reshape(2, n + 1)  # the last has no place
    placed = layout.spread(values)
    assert_array_equal(again.spread(values), placed)
    assert set(placed.ravel()) == set(values[:, :n].ravel())
    assert layout.rows(np.array([0])).n_components == n
    with pytest.raises(ValueError, match=f"one entry for each of the {n} components"):
        layout.spread(values[:, : n - 1])


def test_places() -> None:
    assert GridLayout(2, 3).names[5] == "row 1, column 2"
    assert_array_equal(GridLayout(2, 3).spread(np.arange(7)), [[0, 1, 2], [3, 4, 5]])
    regions = LAYOUTS[1]
    assert_array_equal(regions.spread([5.0, 6.0, 7.0, 9.0]), [[5.0, 6.0], [6.0, 7.0]])
    several = RegionLayout(np.array([[[0, 1]], [[1, 1]]]), ("a", "b"))
    assert_array_equal(several.spread([[1, 2], [3, 4]]), [[[1, 2]], [[4, 4]]])
    assert several.rows(np.array([1])).label_map.shape == (1, 1, 2)
    with pytest.raises(ValueError, match="one row for each of the 2 label maps"):
        several.spread([1, 2])


@pytest.mark.parametrize(
    "given",
    [
        {"kind": "circle"},
        {"kind": "grid", "height": 0, "width": 2},
        {"kind": "grid", "height": True, "width": 2},
        {"kind": "tokens"},
        {"kind": "regions", "labels": np.array([[0, 2]]), "names": ["a", "b"]},
        {"kind": "regions", "labels": np.array([[0.0]]), "names": ["a"]},
        {"kind": "regions", "names": ["a"]},
        {"kind": "regions", "labels": np.array([[0]]), "names": [1]},
    ],
)
def test_damaged_layouts(given: dict) -> None:
    with pytest.raises(ValueError, match="its "):
        read_layout(given)


def test_label_maps() -> None:
    assert is_label_map(np.zeros((2, 2), dtype=int))
    assert is_label_map((np.zeros((2, 2), dtype=bool), {True: "x"}))
    assert not is_label_map(np.zeros((2, 2)))
    assert not is_label_map(np.zeros(4, dtype=int))
    assert not is_label_map([[0, 1], [2, 3]])
    assert read_regions(np.array([[-1, 4]])).names == ("region -1", "region 4")
    with pytest.raises(ValueError, match="must not be empty"):
        read_regions(np.zeros((0, 2), dtype=int))
    with pytest.raises(ValueError, match="a name of its own"):
        read_regions((np.array([[0, 1]]), {0: "a", 1: "a"}))


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    image=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    grid=st.tuples(st.integers(1, 5), st.integers(1, 5)),
)
def test_shares_are_areas(seed: int, image: tuple[int, int], grid: tuple[int, int]) -> None:
    rng = np.random.default_rng(seed)
    layout = read_regions(rng.integers(0, 3, size=image))
    shares = region_shares(layout, GridLayout(*grid))
    # On a common refinement each small square lies in one pixel and one cell.
    fine = np.kron(layout.label_map, np.ones(grid, dtype=int))
    cells = np.kron(np.arange(np.prod(grid)).reshape(grid), np.ones(image, dtype=int))
    for region in range(layout.n_components):
        counted = np.bincount(cells[fine == region], minlength=shares.shape[0])
        assert_allclose(shares[:, region], counted / np.prod(image), atol=1e-12)
    assert_allclose(shares.sum(1), 1.0, rtol=1e-12)
