"""Weights for one class over another, and the classes that are in dispute."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import shafer
from shafer.evidence.contrast import disputed_classes

# Weights of the components for one class over another.


WEIGHTS = st.tuples(st.integers(1, 4), st.integers(2, 5)).flatmap(
    lambda shape: arrays(float, (3, *shape), elements=st.floats(-50.0, 50.0))
)


@given(WEIGHTS)
def test_it_sums_to_the_log_odds(weights):
    ev = shafer.Evidence.from_weights(weights, classes=list("abcde")[: weights.shape[-1]])
    contrast = ev.contrast("b", "a")
    assert contrast.shape == weights.shape[:2]
    log_p = np.log(np.maximum(ev.probability, 1e-300))
    near = np.abs(ev.logits).max(axis=1) < 150
    odds = (log_p[:, 1] - log_p[:, 0])[near]
    np.testing.assert_allclose(contrast.sum(axis=1)[near], odds, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(contrast, -ev.contrast("a", "b"))


def test_it_needs_one_label_each():
    ev = shafer.Evidence.from_weights(np.zeros((1, 2, 3)), classes=[1, 2, 3])
    with pytest.raises(ValueError, match="over must be one class label; got \\[1, 2\\]"):
        ev.contrast(3, [1, 2])
    with pytest.raises(ValueError, match="0"):
        ev.contrast(0, 1)  # a position, not a label


def test_of_fused_and_tempered_sources():
    random = np.random.default_rng(0)
    first, second = (
        shafer.Evidence.from_weights(random.normal(size=(4, 2, 3)), classes=["x", "y", "z"])
        for _ in range(2)
    )
    both = shafer.combine({"a": first, "b": second.tempered([0.1, 0.2, 0.3, 0.4])})
    np.testing.assert_allclose(
        both.contrast("z", "x"), both.weights[..., 2] - both.weights[..., 0], atol=1e-15
    )
    cautious = shafer.combine({"a": first, "b": second}, "cautious")
    np.testing.assert_allclose(
        cautious.contrast("z", "x"), cautious.weights[..., 2] - cautious.weights[..., 0], atol=1e-15
    )


def test_one_pair_of_many_classes_does_not_need_all_weights():
    random = np.random.default_rng(0)
    coef = random.normal(size=(1000, 300))
    ev = shafer.least_commitment(coef, np.zeros(1000))(random.normal(size=(50, 300)))
    contrast = ev.contrast(7, 3)
    assert "weights" not in vars(ev)
    np.testing.assert_allclose(contrast.sum(axis=1), ev.logits[:, 7] - ev.logits[:, 3], rtol=1e-9)


# Disputed classes.


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


# The two sides of the scale.


@given(WEIGHTS)
def test_the_sides_divide_to_the_odds_of_answer_and_rival(weights):
    ev = shafer.Evidence.from_weights(weights * 0.2)
    order = np.argsort(-ev.logits, axis=1, kind="stable")
    rows = np.arange(len(ev))
    apart = ev.weights[rows, :, order[:, 0]] - ev.weights[rows, :, order[:, 1]]
    np.testing.assert_allclose(np.log(ev.odds_for), np.maximum(apart, 0).sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(
        np.log(ev.odds_against), np.maximum(-apart, 0).sum(axis=1), atol=1e-12
    )
    assert (ev.odds_for >= 1.0).all()
    assert (ev.odds_against >= 1.0).all()


def test_the_sides_are_those_of_the_answer_under_a_threshold():
    explainer = shafer.Explainer(([1.0, -0.4], -2.0), np.zeros((1, 2)), threshold=0.1)
    ev = explainer([[1.0, 1.0]])
    log_odds = np.log([ev.odds_for[0], ev.odds_against[0]])
    np.testing.assert_allclose(log_odds[0] - log_odds[1], -1.4)  # of the positive class


def test_the_sides_of_many_rows_and_of_huge_weights(monkeypatch):
    ev = shafer.Evidence.from_weights(np.random.default_rng(0).normal(size=(50, 4, 3)))
    whole = ev.odds_for
    monkeypatch.setattr("shafer.evidence.contrast._BLOCK", 4 * 7)
    np.testing.assert_array_equal(ev[:].odds_for, whole)
    assert ev[[]].odds_against.shape == (0,)
    huge = shafer.Evidence.from_weights([[[1e5, -1e5], [-2.0, 2.0]]])
    assert huge.odds_for[0] == np.inf
    np.testing.assert_allclose(huge.odds_against, [np.exp(4.0)])
    with pytest.raises(ValueError, match="of single components"):
        ev.components.odds_for  # noqa: B018 - the access is the test


def test_the_sides_of_tensors():
    torch = pytest.importorskip("torch")
    weights = np.random.default_rng(0).normal(size=(5, 3, 4))
    ev = shafer.Evidence.from_weights(torch.tensor(weights))
    expected = shafer.Evidence.from_weights(weights)
    np.testing.assert_allclose(ev.odds_for.numpy(), expected.odds_for, rtol=1e-12)
    np.testing.assert_allclose(ev.surprise.numpy(), expected.surprise, rtol=1e-12)
