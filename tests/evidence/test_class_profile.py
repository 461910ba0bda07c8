"""The profile of one class: distances and ranks by their formulas."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shafer.evidence.typicality import class_profile, shrinkage_intensity


def test_typicality_is_a_rank_with_a_tail() -> None:
    weights = np.random.default_rng(0).normal(size=(3, 1))
    profile = class_profile(weights, weights.var(axis=0), 2e-16)
    unit = replace(
        profile,
        mean=np.zeros(1),
        spread=np.ones(1),
        axes=np.ones((1, 1)),
        precision=np.ones(1),
        rest=0.0,
        distances=np.array([1.0, 4.0, 9.0]),
    )
    x = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    assert_allclose(unit.distance(x), [0.0, 1.0, 4.0, 9.0, 16.0])
    # (1 + rows at least as far) / (n + 1), then 2 / (n + 1) · (1 + 9) / (1 + d).
    tail = 2.0 / 4.0 * 10.0 / 17.0
    assert_allclose(unit.typicality(x), [1.0, 1.0, 0.75, 0.5, tail])


def test_without_correlations_distances_are_sums_of_squares(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.modules[class_profile.__module__], "_MOST_CORRELATED", 2)
    weights = np.random.default_rng(1).normal(size=(40, 3)) * [1.0, 2.0, 3.0]
    profile = class_profile(weights, weights.var(axis=0), 2e-16)
    standard = (weights - weights.mean(axis=0)) / profile.spread
    assert_allclose(profile.distance(weights), (standard**2).sum(axis=1))
    assert_allclose(profile.spread, weights.std(axis=0))
    others = (40 / 39) ** 2 * np.sort((standard**2).sum(axis=1))
    assert_allclose(profile.distances, others)


def test_shrinkage_does_not_depend_on_the_unit() -> None:
    x = np.random.default_rng(2).normal(size=(30, 4)) * [1.0, 2.0, 3.0, 4.0]
    x = x - x.mean(axis=0)
    expected = shrinkage_intensity(x)
    assert 0.01 < expected < 0.9
    for unit in (1e-6, 1e-3, 1e3):
        assert shrinkage_intensity(unit * x) == pytest.approx(expected)


def test_the_spread_borrows_one_row_of_the_overall_variance() -> None:
    weights = np.random.default_rng(2).normal(size=(4, 2))
    profile = class_profile(weights, np.array([9.0, 25.0]), 2e-16)
    squares = ((weights - weights.mean(axis=0)) ** 2).sum(axis=0)
    borrowed = np.array([9.0, 25.0])
    assert_allclose(profile.spread, np.sqrt((squares + borrowed) / 5.0))


@pytest.mark.parametrize("n", [5, 8, 9, 40])
def test_distances_are_those_of_the_shrunk_correlations(n: int) -> None:
    """With fewer rows than components, some directions have no variance but the shrinkage."""
    rng = np.random.default_rng(n)
    weights = rng.normal(size=(n, 8)) @ rng.normal(size=(8, 8))
    profile = class_profile(weights, weights.var(axis=0), 2e-16)
    x = (weights - profile.mean) / profile.spread
    shrinkage = shrinkage_intensity(x)
    assert 0.01 < shrinkage < 0.99
    covariance = (1.0 - shrinkage) * x.T @ x / (n - 1) + shrinkage * np.eye(8)
    new = rng.normal(size=(20, 8))
    z = (new - profile.mean) / profile.spread
    expected = (z * np.linalg.solve(covariance, z.T).T).sum(axis=1)
    assert_allclose(profile.distance(new), expected)
