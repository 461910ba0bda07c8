"""Class weights in the loss: expected weights and gradients, against sums over the classes."""

from __future__ import annotations

import numpy as np
import pytest

import shafer
from shafer.explain.laplace import ClassWeighting


def test_expectations_against_their_definitions() -> None:
    rng = np.random.default_rng(0)
    c = np.array([0.5, 2.0, 7.0])
    p = rng.dirichlet(np.ones(3), size=4)  # the classes as they come
    fitted = p * c / (p @ c)[:, None]
    contrasts = rng.normal(size=(3, 2))
    weighting = ClassWeighting.read({"a": 0.5, "b": 2.0, "c": 7.0}, ["a", "b", "c"])
    counted, spread = weighting.expected(fitted, contrasts)
    np.testing.assert_allclose(counted, p @ c)
    for i in range(4):
        outer = sum(
            p[i, k] * c[k] ** 2 * np.outer(np.eye(3)[k] - fitted[i], np.eye(3)[k] - fitted[i])
            for k in range(3)
        )
        np.testing.assert_allclose(spread[i], contrasts.T @ outer @ contrasts)


def test_equal_weights_change_nothing() -> None:
    p = np.random.default_rng(0).dirichlet(np.ones(3), size=4)
    counted, spread = ClassWeighting(np.ones(3)).expected(p, np.eye(3))
    np.testing.assert_allclose(counted, 1.0)
    expected = np.einsum("ik,kl->ikl", p, np.eye(3)) - p[:, :, None] * p[:, None, :]
    np.testing.assert_allclose(spread, expected, atol=1e-15)


def test_reading() -> None:
    assert ClassWeighting.read(None, [0, 1]) is None
    assert ClassWeighting.read({1: 3}, np.array([0, 1])).weights.tolist() == [1.0, 3.0]
    with pytest.raises(shafer.UnsupportedModelError, match="class_weight='balanced' leaves them"):
        ClassWeighting.read("balanced", [0, 1])
    with pytest.raises(shafer.UnsupportedModelError, match="class 1 has the weight 0"):
        ClassWeighting.read({1: 0.0}, np.array([0, 1]))


def test_certain_probabilities_stay_finite() -> None:
    fitted = np.array([[1.0, 0.0], [0.0, 1.0]])
    counted, spread = ClassWeighting(np.array([1e-6, 1e6])).expected(fitted, np.eye(2))
    np.testing.assert_allclose(counted, [1e-6, 1e6])
    np.testing.assert_allclose(spread, 0.0, atol=1e-12)
