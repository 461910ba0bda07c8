"""Contributions given directly: the same identification, and what the pool refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from shafer.evidence import least_commitment, least_commitment_additive


@pytest.fixture
def linear() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {
        "coef": rng.normal(size=(3, 4)),
        "intercept": rng.normal(size=3),
        "features": rng.normal(size=(20, 4)) + 2.0,
    }


def test_it_agrees_with_the_linear_form(linear: dict[str, Any]) -> None:
    features, coef = linear["features"], linear["coef"]
    contributions = features[:, :, None] * coef.T
    means = features.mean(axis=0)
    expected = least_commitment(coef, linear["intercept"], means)(features)
    pool = least_commitment_additive(contributions.mean(axis=0), linear["intercept"])
    assert_allclose(pool(contributions).weights, expected.weights, atol=1e-12)
    tensors = least_commitment_additive(
        torch.asarray(contributions.mean(axis=0)), torch.asarray(linear["intercept"])
    )(torch.asarray(contributions))
    assert isinstance(tensors.belief, torch.Tensor)
    assert_allclose(tensors.weights.numpy(), expected.weights, atol=1e-12)


def test_constants_may_move(linear: dict[str, Any]) -> None:
    # From the intercept to a component, or between classes and components: nothing changes.
    contributions = linear["features"][:, :, None] * linear["coef"].T
    moved = contributions.copy()
    moved[:, 1] += linear["intercept"]
    moved += np.random.default_rng(1).normal(size=(20, 4, 1))
    one = least_commitment_additive(contributions.mean(axis=0), linear["intercept"])
    other = least_commitment_additive(moved.mean(axis=0))
    assert_allclose(other(moved).weights, one(contributions).weights, atol=1e-12)


def test_it_has_the_smallest_sum_of_squares(linear: dict[str, Any]) -> None:
    contributions = np.tanh(linear["features"])[:, :, None] * linear["coef"].T
    pool = least_commitment_additive(contributions.mean(axis=0), linear["intercept"])
    weights = pool(contributions).weights
    rng = np.random.default_rng(2)
    for _ in range(20):
        shares = rng.normal(size=(4, 3))
        shares -= shares.mean(axis=0)  # what one component gives up another gets
        other = weights + 0.1 * shares + 0.1 * rng.normal(size=(20, 4, 1))
        assert (other**2).sum() > (weights**2).sum()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.0, 1.0],), r"mean_contributions must have 2 dimension\(s\)"),
        ((np.zeros((0, 2)),), "mean_contributions must not be empty"),
        ((np.zeros((2, 2)), [1.0]), "one value for each of the 2 classes; got shape"),
        ((np.full((2, 2), np.nan),), "mean_contributions must be finite"),
    ],
)
def test_wrong_means(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        least_commitment_additive(*arguments)


@pytest.mark.parametrize(
    ("contributions", "message"),
    [
        (np.zeros((3, 2)), r"contributions must have 3 dimension\(s\)"),
        (np.zeros((3, 5, 2)), r"must have shape \(n, 4, 2\); got \(3, 5, 2\)"),
        (np.zeros((0, 4, 2)), "at least one row"),
        (np.full((1, 4, 2), np.inf), "contributions must be finite"),
    ],
)
def test_wrong_contributions(contributions: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        least_commitment_additive(np.zeros((4, 2)))(contributions)
