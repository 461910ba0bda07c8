"""The chance that some lead turns negative, against Monte Carlo and in the limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr

from shafer.evidence.robustness import fall_probability, leads


def chance(logits: Any, root: Any) -> Any:
    """Return the chance for logits (n, K) that move by normal numbers times a root (R, K)."""
    margins, chosen = leads(logits)
    result = np.empty(len(logits))
    for i, a in enumerate(chosen):
        apart = root[:, [a]] - root
        covariance = apart.T @ apart
        result[i] = fall_probability(
            margins[[i]],
            np.diag(covariance)[None, :],
            lambda classes, c=covariance: c[classes[:, :, None], classes[:, None, :]],
            chosen[[i]],
        )[0]
    return result


@pytest.mark.parametrize(("n_classes", "largest"), [(2, 0.006), (3, 0.05), (6, 0.06), (12, 0.1)])
def test_against_monte_carlo(n_classes: int, largest: float) -> None:
    """Exact for two classes. For 12, with 5 random numbers, the leads are strongly correlated."""
    rng = np.random.default_rng(n_classes)
    errors = []
    for _ in range(12):
        root = rng.normal(size=(5, n_classes))
        logits = rng.normal(size=(1, n_classes)) * rng.uniform(0.5, 4)
        found = chance(logits, root)[0]
        moved = logits + rng.normal(size=(100_000, 5)) @ root
        errors.append((moved.argmax(axis=1) != logits.argmax()).mean() - found)
    assert np.abs(errors).max() < largest
    assert np.abs(errors).mean() < largest / 2


def test_two_classes_are_exact() -> None:
    logits, root = np.array([[0.7, -0.7], [-3.0, 3.0]]), np.array([[0.5, -0.5], [0.2, 0.1]])
    spread = np.sqrt(((root[:, 0] - root[:, 1]) ** 2).sum())
    assert_allclose(chance(logits, root), ndtr([-1.4 / spread, -6.0 / spread]), rtol=1e-12)


def test_limits() -> None:
    logits = np.array([[2.0, 1.0, 0.0]])
    assert_array_equal(chance(logits, np.zeros((2, 3))), [0.0])
    equal = np.ones((1, 3))  # moves all logits together
    assert_array_equal(chance(logits, equal), [0.0])
    one = np.array([[0.0, 0.0, 5.0]])  # only the third class can overtake
    assert_allclose(chance(logits, one), ndtr(-2.0 / 5.0), rtol=1e-12)
    copied = np.array([[2.0, 1.0, 1.0]])  # two classes overtake together
    same = np.array([[0.0, 1.0, 1.0]])
    # The worst case of taking the second as normal again; independent leads would give 0.29.
    assert_allclose(chance(copied, same), ndtr(-1.0), atol=0.05)


def test_a_lead_below_zero_without_variance_has_fallen() -> None:
    mean = np.array([[0.0, -1.0, 2.0], [0.0, 0.0, 3.0], [0.0, 1e300, 1.0]])
    zero = np.zeros((3, 3))
    found = fall_probability(
        mean, zero, lambda classes: np.zeros((*classes.shape, classes.shape[1])), np.zeros(3, int)
    )
    assert_array_equal(found, [1.0, 0.0, 0.0])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 30), st.floats(-3, 3), st.floats(-6, 6))
def test_a_probability_for_any_scale(seed: int, n_classes: int, big: float, small: float) -> None:
    rng = np.random.default_rng(seed)
    logits = 10.0**big * rng.normal(size=(4, n_classes))
    root = 10.0**small * rng.normal(size=(3, n_classes)) * rng.integers(0, 2, n_classes)
    found = chance(logits, root)
    assert ((found >= 0.0) & (found <= 1.0)).all()
