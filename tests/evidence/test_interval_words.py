from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shafer
from shafer.evidence.words import below_belief_words


def test_words() -> None:
    """m({1}) = m({2, 3}) = 1/2: all plausibilities are 1/2, so p = 1/3 and the belief is 1/2."""
    words = below_belief_words(1 / 3, 1 / 2)
    assert words.startswith("p is 0.167 below the belief: ")
    assert below_belief_words(0.5, 0.5 + 4e-4).startswith("p is less than 0.001 below the belief")
    assert below_belief_words(0.5, 0.5 + 6e-4).startswith("p is 0.001 below the belief")
    for belief in (0.5, 0.5 + 1e-12, 0.4, 0.0):
        assert below_belief_words(0.5, belief) == ""


@given(
    n_classes=st.integers(2, 8),
    scale=st.sampled_from([1e-6, 0.1, 1.0, 10.0, 1e3]),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_probability_is_never_above_its_plausibility(
    n_classes: int, scale: float, seed: int
) -> None:
    """So the words need one direction only; and none for two classes."""
    weights = np.random.default_rng(seed).normal(size=(20, 4, n_classes)) * scale
    weights -= weights.mean(axis=2, keepdims=True)
    ev = shafer.Evidence.from_weights(weights)
    assert np.all(ev.probability <= ev.plausibility + 1e-12)
    if n_classes == 2:
        assert np.all(ev.belief <= ev.probability + 1e-12)
    below = [bool(below_belief_words(float(p), float(b)))
             for p, b in zip(ev.probability.ravel(), ev.belief.ravel(), strict=True)]  # fmt: skip
    assert below == (ev.belief - ev.probability > 1e-9).ravel().tolist()


def test_the_explanation_is_the_difference() -> None:
    """With mass on several classes counted once, by pignistic shares, no probability is below."""
    weights = np.random.default_rng(0).normal(size=(200, 4, 5))
    weights -= weights.mean(axis=2, keepdims=True)
    ev = shafer.Evidence.from_weights(weights)
    assert np.any(ev.probability < ev.belief - 1e-3)
    assert np.all(ev.pignistic >= ev.belief - 1e-12)
    sizes = np.array([bin(column).count("1") for column in range(2**5)])
    counted = ev.masses() @ sizes  # each set once for each of its classes
    np.testing.assert_allclose(ev.plausibility / counted[:, None], ev.probability, rtol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_notebooks_say_why(n_classes: int) -> None:
    weights = np.zeros((1, 2, n_classes))
    weights[0, 0] = -2.0
    weights[0, 0, 0] = 2.0 * (n_classes - 1)
    weights[0, 1] = -weights[0, 0] * 0.9
    ev = shafer.Evidence.from_weights(weights)
    outside = bool(np.any(ev.belief - ev.probability > 1e-9))
    assert outside == (n_classes == 3)
    assert ("below the belief" in ev._repr_html_()) == outside
