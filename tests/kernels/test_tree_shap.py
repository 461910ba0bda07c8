"""Shapley values of trees against the definition: every set of known features."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from shafer._kernels import trees
from shafer._kernels.compiled.numba_trees import tree_shap as compiled
from shafer._kernels.trees import forest_paths, quadrature, tree_shap
from tree_oracle import N_FEATURES, expectation, random_forest, some_rows


def by_definition(forest, row):
    """Average what a feature changes over all sets of features that are known before it."""
    values = np.zeros((forest.n_outputs, N_FEATURES))
    for tree, root in enumerate(forest.starts[:-1]):
        worth = {
            known: expectation(forest, row, known, root)
            for size in range(N_FEATURES + 1)
            for known in combinations(range(N_FEATURES), size)
        }
        for j in range(N_FEATURES):
            for known, before in worth.items():
                if j not in known:
                    weight = 1 / (N_FEATURES * comb(N_FEATURES - 1, len(known)))
                    after = worth[tuple(sorted((*known, j)))]
                    values[forest.output[tree], j] += weight * (after - before)
    return values


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("depth", [1, 3, 6])
def test_values_are_shapley_values(seed, depth):
    rng = np.random.default_rng(seed)
    forest = random_forest(rng, 3, depth)
    rows = some_rows(rng, 4)
    expected = np.stack([by_definition(forest, row) for row in rows])
    paths = forest_paths(forest)
    np.testing.assert_allclose(tree_shap(forest, paths, rows), expected, atol=1e-12)
    np.testing.assert_allclose(compiled(forest, paths, rows), expected, atol=1e-12)


def test_values_add_up_to_the_leaves():
    rng = np.random.default_rng(7)
    forest = random_forest(rng, 20, 8)
    paths, rows = forest_paths(forest), some_rows(rng, 300)  # more than one block of rows
    every = tuple(range(N_FEATURES))
    leaves = np.zeros((len(rows), forest.n_outputs))
    for i, row in enumerate(rows):
        for tree, root in enumerate(forest.starts[:-1]):
            leaves[i, forest.output[tree]] += expectation(forest, row, every, root)
    values = compiled(forest, paths, rows)
    np.testing.assert_allclose(values.sum(axis=2) + paths.expected, leaves, atol=1e-12)


def test_rows_do_not_depend_on_each_other():
    rng = np.random.default_rng(8)
    forest = random_forest(rng, 5, 5)
    paths, rows = forest_paths(forest), some_rows(rng, 200)
    together = compiled(forest, paths, rows)
    alone = np.concatenate([compiled(forest, paths, rows[i : i + 1]) for i in range(len(rows))])
    assert together.tobytes() == alone.tobytes()


@pytest.mark.parametrize(("n_trees", "depth"), [(1, 0), (3, 1), (20, 4), (8, 8)])
def test_bits_are_the_same_with_and_without_numba(n_trees, depth, monkeypatch):
    rng = np.random.default_rng(depth)
    forest = random_forest(rng, n_trees, depth, empty=0.1)
    paths, rows = forest_paths(forest), some_rows(rng, 140)
    expected = compiled(forest, paths, rows)
    assert tree_shap(forest, paths, rows).tobytes() == expected.tobytes()
    assert tree_shap(forest, paths, rows[:1]).tobytes() == expected[:1].tobytes()
    monkeypatch.setattr(trees, "_BLOCK", 100)
    assert tree_shap(forest, paths, rows).tobytes() == expected.tobytes()


def test_branches_that_no_training_row_reached():
    rng = np.random.default_rng(9)
    forest = random_forest(rng, 10, 6, empty=0.5)
    paths, rows = forest_paths(forest), some_rows(rng, 20)
    expected = np.stack([by_definition(forest, row) for row in rows])
    assert (forest.cover == 0).any()
    np.testing.assert_allclose(compiled(forest, paths, rows), expected, atol=1e-12)
    np.testing.assert_allclose(tree_shap(forest, paths, rows), expected, atol=1e-12)


def test_a_tree_without_splits_gives_nothing():
    rng = np.random.default_rng(10)
    forest = random_forest(rng, 2, 0)
    paths = forest_paths(forest)
    rows = some_rows(rng, 3)
    assert not compiled(forest, paths, rows).any()
    np.testing.assert_allclose(paths.expected, forest.value)


def test_no_rows():
    forest = random_forest(np.random.default_rng(11), 2, 3)
    assert compiled(forest, forest_paths(forest), np.zeros((0, N_FEATURES))).shape == (0, 2, 4)


@pytest.mark.parametrize("n_points", [1, 2, 5, 30])
def test_quadrature_is_exact_for_twice_its_points(n_points):
    nodes, weights = quadrature(n_points)
    degree = 2 * n_points - 1
    assert weights @ nodes**degree == pytest.approx(1 / (degree + 1), rel=1e-12)
