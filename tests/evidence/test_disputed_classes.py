from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import shafer
from shafer.evidence.contrast import disputed_classes


def _cancelled(weights: np.ndarray, a: int, b: int) -> float:
    """The weight that cancels in the log-odds of a over b."""
    ev = shafer.Evidence.from_weights(weights[None])
    contrast = ev.contrast(a, b)[0]
    return float(np.abs(contrast).sum() - abs(contrast.sum())) / 2


@given(st.integers(2, 6), st.integers(1, 5), st.integers(0, 2**32 - 1), st.floats(-6, 6))
def test_the_pair_in_which_most_cancels(
    classes: int, components: int, seed: int, power: float
) -> None:
    weights = 10.0**power * np.random.default_rng(seed).normal(size=(components, classes))
    found = disputed_classes(weights)
    sizes = {pair: _cancelled(weights, *pair) for pair in combinations(range(classes), 2)}
    largest = max(sizes.values())
    if found is None:
        assert largest <= 1e-11 * np.abs(weights).max()
        return
    a, b = found
    np.testing.assert_allclose(sizes[min(a, b), max(a, b)], largest, rtol=1e-9)
    contrast = weights[:, a] - weights[:, b]
    assert contrast.min() < 0.0 < contrast.max()  # the bars point both ways
    assert contrast.sum() >= -1e-9 * np.abs(contrast).sum()  # the more supported comes first


@given(st.integers(2, 6), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_no_dispute_means_that_all_favour_the_answer(
    classes: int, components: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(classes)
    weights = np.sort(rng.normal(size=(components, classes)), axis=1)[:, order]
    assert disputed_classes(weights) is None
    answer = int(np.argmax(weights.sum(axis=0)))
    assert (weights[:, [answer]] >= weights).all()


def test_bars_that_point_one_way_are_not_a_dispute() -> None:
    """All components favour a over b and over c; they dispute about b and c."""
    weights = np.array([[1.0, 0.6, -1.6], [1.0, -1.6, 0.6], [1.0, 0.6, -1.6], [1.0, -1.6, 0.6]])
    assert disputed_classes(weights) == (1, 2)
    # Both support a and b, a a little more. Their mass functions contradict each other, but no
    # component favours b.
    assert disputed_classes(np.array([[1.5, 1.4, -2.9], [1.5, 1.4, -2.9]])) is None


def test_without_dispute() -> None:
    assert disputed_classes(np.array([[3.0, -1.0, -2.0]])) is None  # one component
    assert disputed_classes(np.zeros((4, 3))) is None
    assert disputed_classes(np.array([[3.0, 0.0, 0.0], [2.0, 0.0, 0.0]])) is None  # one class


def test_two_classes() -> None:
    assert disputed_classes(np.array([[1.0, -1.0], [-2.0, 2.0]])) == (1, 0)
    assert disputed_classes(np.array([[1.0, -1.0], [0.5, -0.5]])) is None


def test_many_classes_and_large_weights() -> None:
    weights = np.zeros((2, 1000))
    weights[0, 300], weights[1, 900] = 5000.0, 4000.0
    assert disputed_classes(weights) == (300, 900)
