"""Weights of the components for one class over another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import shafer

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
    with pytest.raises(ValueError, match="b must be one class label; got \\[1, 2\\]"):
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
