"""Shapley values from tables against the definition: every set of known features."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from shafer._kernels import tree_tables
from shafer._kernels.compiled.numba_tree_tables import looked_up as compiled
from shafer._kernels.tree_tables import (
    background_tables,
    looked_up,
    pair_tables,
    path_tables,
    table_size,
)
from shafer._kernels.trees import forest_paths, tree_shap
from tree_oracle import N_FEATURES, expectation, random_forest, some_rows

EVERY = tuple(range(N_FEATURES))


def mean_score(forest, rows, weight):
    """Return the weighted mean of the scores of rows, (outputs,)."""
    mean = np.zeros(forest.n_outputs)
    for tree, root in enumerate(forest.starts[:-1]):
        scores = [expectation(forest, row, EVERY, root) for row in rows]
        mean[forest.output[tree]] += np.average(scores, weights=weight)
    return mean


def worths(forest, row, background, weight):
    """Return the mean score with some features from the row, the others from the background."""
    worth = {}
    for size in range(N_FEATURES + 1):
        for known in combinations(EVERY, size):
            mixed = background.copy()
            mixed[:, known] = row[list(known)]
            worth[known] = mean_score(forest, mixed, weight)
    return worth


def with_feature(known, *more):
    return tuple(sorted((*known, *more)))


def pairs_by_definition(forest, row, background, weight):
    """Return half of what each pair of features adds only together, (outputs, J, J)."""
    worth = worths(forest, row, background, weight)
    found = np.zeros((forest.n_outputs, N_FEATURES, N_FEATURES))
    for i, j in combinations(EVERY, 2):
        for known in worth:
            if i not in known and j not in known:
                share = 1 / ((N_FEATURES - 1) * comb(N_FEATURES - 2, len(known))) / 2
                both, one = with_feature(known, i, j), with_feature(known, i)
                found[:, i, j] += share * (worth[both] - worth[one])
                found[:, i, j] -= share * (worth[with_feature(known, j)] - worth[known])
    return found


def by_definition(forest, row, background, weight):
    """Average over all sets of features that are known."""
    worth = worths(forest, row, background, weight)
    values = np.zeros((forest.n_outputs, N_FEATURES))
    for j in EVERY:
        for known, before in worth.items():
            if j not in known:
                share = 1 / (N_FEATURES * comb(N_FEATURES - 1, len(known)))
                values[:, j] += share * (worth[with_feature(known, j)] - before)
    return values


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("depth", [1, 3, 6])
def test_values_are_interventional_shapley_values(seed, depth):
    rng = np.random.default_rng(seed)
    forest = random_forest(rng, 3, depth)
    rows, background, weight = some_rows(rng, 2), some_rows(rng, 8), rng.random(8)
    expected = np.stack([by_definition(forest, row, background, weight) for row in rows])
    tables = background_tables(forest, forest_paths(forest), background, weight)
    np.testing.assert_allclose(looked_up(forest, tables, rows), expected, atol=1e-13)


@pytest.mark.parametrize("depth", [2, 5])
def test_pairs_are_shapley_interactions(depth):
    rng = np.random.default_rng(depth)
    forest = random_forest(rng, 3, depth)
    rows, background, weight = some_rows(rng, 2), some_rows(rng, 8), rng.random(8)
    tables = pair_tables(forest, forest_paths(forest), N_FEATURES, background, weight)
    expected = np.stack([pairs_by_definition(forest, row, background, weight) for row in rows])
    for kernel in (looked_up, compiled):
        found = kernel(forest, tables, rows, N_FEATURES**2).reshape(expected.shape)
        np.testing.assert_allclose(found, expected, atol=1e-13)
    assert len(tables.values) == table_size(forest, forest_paths(forest), pairs=True)


@pytest.mark.parametrize("depth", [1, 4, 8])
def test_tables_of_paths_give_the_values_of_the_quadrature(depth):
    rng = np.random.default_rng(depth)
    forest = random_forest(rng, 5, depth, empty=0.1)
    paths, rows = forest_paths(forest), some_rows(rng, 30)
    found = looked_up(forest, path_tables(forest, paths), rows)
    np.testing.assert_allclose(found, tree_shap(forest, paths, rows), atol=1e-13)


@pytest.mark.parametrize(("n_trees", "depth"), [(1, 0), (3, 1), (20, 4), (8, 8)])
def test_bits_are_the_same_with_and_without_numba_and_in_any_batch(n_trees, depth, monkeypatch):
    rng = np.random.default_rng(depth)
    forest = random_forest(rng, n_trees, depth)
    rows = some_rows(rng, 600)  # more than one block
    tables = background_tables(forest, forest_paths(forest), rows[:50])
    expected = compiled(forest, tables, rows)
    assert compiled(forest, tables, rows[7:8]).tobytes() == expected[7:8].tobytes()
    assert looked_up(forest, tables, rows[:99]).tobytes() == expected[:99].tobytes()
    monkeypatch.setattr(tree_tables, "_BLOCK", 1000)
    assert looked_up(forest, tables, rows[:99]).tobytes() == expected[:99].tobytes()


def test_trees_in_parts_and_leaves_apart_give_the_same(monkeypatch):
    rng = np.random.default_rng(3)
    forest = random_forest(rng, 12, 5)
    paths, rows = forest_paths(forest), some_rows(rng, 40)
    together = background_tables(forest, paths, rows)
    expected = looked_up(forest, together, rows)
    monkeypatch.setattr(tree_tables, "_BLOCK", 500)
    parts = background_tables(forest, paths, rows)
    assert all(np.array_equal(a, b) for a, b in zip(together[:-1], parts[:-1], strict=True))
    np.testing.assert_allclose(parts.values, together.values, atol=1e-15)
    monkeypatch.setattr(tree_tables, "_JOIN", 0.0)
    apart = background_tables(forest, paths, rows)
    assert len(apart.first_column) > 1.5 * len(together.first_column)
    assert len(apart.values) == table_size(forest, paths)
    np.testing.assert_allclose(looked_up(forest, apart, rows), expected, atol=1e-13)


def test_values_add_up_and_average_to_nothing_over_the_background():
    rng = np.random.default_rng(4)
    forest = random_forest(rng, 10, 7)
    background, weight = some_rows(rng, 60), rng.random(60)
    values = looked_up(
        forest, background_tables(forest, forest_paths(forest), background, weight), background
    )
    usual = mean_score(forest, background, weight)
    own = [mean_score(forest, background[i : i + 1], [1.0]) - usual for i in range(5)]
    np.testing.assert_allclose(values[:5].sum(axis=2), own, atol=1e-13)
    np.testing.assert_allclose(np.average(values, axis=0, weights=weight), 0.0, atol=1e-13)


def test_a_symmetric_tree_is_one_table():
    rng = np.random.default_rng(5)
    forest = random_forest(rng, 1, 0)
    ask = np.array([0, 1, 1, 2, 2, 2, 2] + [-1] * 8)  # three levels, one question each
    nodes = np.arange(7)
    left, right = (np.concatenate([2 * nodes + side, np.full(8, -1)]) for side in (1, 2))
    empty = np.zeros(15, dtype=np.int64)
    forest = forest._replace(
        starts=np.array([0, 15]),
        feature=ask,
        threshold=np.where(ask == 1, 0.3, 0.0),
        left=left,
        right=right,
        missing=np.full(15, 2, dtype=np.uint8),
        missing_left=np.ones(15, dtype=bool),
        first_word=empty,
        n_words=empty,
        set_goes_right=np.zeros(15, dtype=bool),
        value=np.where(ask < 0, rng.normal(size=15), 0.0),
        cover=np.concatenate([[8.0, 4, 4, 2, 2, 2, 2], np.ones(8)]),
    )
    paths, rows = forest_paths(forest), some_rows(rng, 20)
    tables = path_tables(forest, paths)
    assert len(tables.split) == 3
    assert len(tables.values) == 3 * 2**3
    expected = tree_shap(forest, paths, rows)
    np.testing.assert_allclose(looked_up(forest, tables, rows), expected, atol=1e-14)
