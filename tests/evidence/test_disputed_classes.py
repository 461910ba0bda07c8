from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import shafer
from shafer.evidence.disputed_classes import disputed_classes


def _contradictions(weights: np.ndarray) -> dict[tuple[int, int], float]:
    """The mass that one component gives to a alone and another to b alone, pair by pair."""
    components = shafer.Evidence.from_weights(weights[:, None, :])
    masses = [[float(components.mass_of(k)[g]) for k in range(weights.shape[1])]
              for g in range(len(weights))]  # fmt: skip
    found = dict.fromkeys(combinations(range(weights.shape[1]), 2), 0.0)
    for g, one in enumerate(masses):
        for h, other in enumerate(masses):
            for a, b in found:
                found[a, b] += one[a] * other[b] if g != h else 0.0
    return found


@given(st.integers(2, 6), st.integers(1, 5), st.integers(0, 2**32 - 1), st.floats(0.01, 20.0))
def test_the_pair_of_most_contradictions(
    classes: int, components: int, seed: int, size: float
) -> None:
    weights = size * np.random.default_rng(seed).normal(size=(components, classes))
    found = disputed_classes(weights)
    expected = {
        (a, b): mass
        for (a, b), mass in _contradictions(weights).items()
        if (weights[:, a] > weights[:, b]).any() and (weights[:, a] < weights[:, b]).any()
    }
    assert (found is None) == (not expected)
    if found is not None:
        largest = max(expected.values())
        assert expected[min(found), max(found)] >= (1.0 - 1e-9) * largest


def test_the_more_supported_class_comes_first() -> None:
    assert disputed_classes(np.array([[1.5, 1.2, -2.7], [1.3, 1.4, -2.7]])) == (0, 1)
    assert disputed_classes(np.array([[-2.9, 1.4, 1.6], [-2.9, 1.5, 1.4]])) == (2, 1)


def test_bars_that_point_one_way_are_not_a_dispute() -> None:
    """All components favour a over b and over c; they dispute about b and c."""
    weights = np.array([[1.0, 0.6, -1.6], [1.0, -1.6, 0.6], [1.0, 0.6, -1.6], [1.0, -1.6, 0.6]])
    assert disputed_classes(weights) == (1, 2)
    # Both support a and b, a a little more: their support of b contradicts the other's of a, but
    # no component favours b.
    assert disputed_classes(np.array([[1.5, 1.4, -2.9], [1.5, 1.4, -2.9]])) is None


def test_without_dispute() -> None:
    assert disputed_classes(np.array([[3.0, -1.0, -2.0]])) is None  # one component
    assert disputed_classes(np.zeros((4, 3))) is None
    assert disputed_classes(np.array([[3.0, 0.0, 0.0], [2.0, 0.0, 0.0]])) is None  # one class


def test_many_classes_and_large_weights() -> None:
    weights = np.zeros((2, 1000))
    weights[0, 300], weights[1, 900] = 5000.0, 4000.0
    assert disputed_classes(weights) == (300, 900)
