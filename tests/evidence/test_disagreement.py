"""Conflict between the components, without the conflict that each has by itself."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import shafer
from oracle import pooled_by_dempster
from shafer import belief

ELEMENT = st.one_of(
    st.sampled_from([0.0, 0.5, -0.5, 3.0, -3.0]), st.integers(-4096, 4096).map(lambda i: i / 1024)
)
WEIGHTS = st.tuples(st.integers(1, 5), st.integers(2, 5)).flatmap(
    lambda shape: arrays(float, (2, *shape), elements=ELEMENT)
)


def by_brute_force(weights):
    """Combine the normalised mass functions of the components, and return what lands on ∅."""
    single = [pooled_by_dempster(component[None, :]) for component in weights]
    together = functools.reduce(belief.conjunctive, single)
    return float(together.masses[0])


@given(WEIGHTS)
def test_it_is_the_conflict_of_the_normalised_components(weights):
    ev = shafer.Evidence.from_weights(weights)
    expected = [by_brute_force(row) for row in weights]
    np.testing.assert_allclose(ev.disagreement, expected, rtol=0, atol=1e-12)


@given(WEIGHTS)
def test_the_conflict_is_its_product_with_the_components_own(weights):
    ev = shafer.Evidence.from_weights(weights)
    own = np.prod(1.0 - ev.components.conflict, axis=1)
    np.testing.assert_allclose(
        1.0 - ev.conflict, own[:, ...].reshape(-1) * (1.0 - ev.disagreement), atol=1e-12
    )


@settings(max_examples=200)
@given(
    st.tuples(st.integers(1, 6), st.integers(2, 7)).flatmap(
        lambda shape: arrays(
            float, (3, *shape), elements=st.floats(-1e12, 1e12, allow_subnormal=True)
        )
    ),
    st.floats(-15, 0),
)
def test_hostile_weights(weights, exponent):
    ev = shafer.Evidence.from_weights(weights * 10.0**exponent)
    assert np.isfinite(ev.weight_of_disagreement).all()
    assert (ev.weight_of_disagreement >= 0.0).all()
    assert ((ev.disagreement >= 0.0) & (ev.disagreement <= 1.0)).all()


@given(arrays(float, (3, 4), elements=st.floats(-30.0, 30.0)))
def test_for_two_classes_it_is_the_conflict(logits):
    ev = shafer.Evidence.from_weights(np.stack([logits, -logits], axis=-1))
    np.testing.assert_allclose(ev.disagreement, ev.conflict, rtol=0, atol=1e-13)


@pytest.mark.parametrize("first", [1e-9, 0.5, 3.0, 800.0])
@pytest.mark.parametrize("second", [1e-9, 0.5, 3.0, 800.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_own_conflict_of_two_classes_in_closed_form(first, second, sign):
    """The short form for K = 2 agrees with the general one, which a third class brings in."""
    two = shafer.Evidence.from_weights([[[sign * first, sign * second]]]).components
    weights = np.array([[[sign * first, sign * second]]])
    ours = shafer._kernels.own_weights_of_conflict(weights)
    np.testing.assert_allclose(ours[0], two.weight_of_conflict[0], rtol=1e-12)


def test_a_single_component_cannot_disagree():
    ev = shafer.Evidence.from_weights([[[2.0, 1.0, -3.0]]])
    assert ev.conflict[0] > 0.3
    assert ev.disagreement[0] == 0.0


def test_three_components_that_agree():
    """All for the same class over each other class: conflict, but hardly any disagreement."""
    weights = np.tile([1.0, 0.6, -1.6], (6, 1))[None]
    ev = shafer.Evidence.from_weights(weights)
    assert ev.disagreement[0] < ev.conflict[0]
    assert ev.grouped("one").disagreement[0] == 0.0


def test_many_rows_in_blocks():
    weights = np.random.default_rng(0).normal(size=(40_000, 10, 3))
    ev = shafer.Evidence.from_weights(weights)
    some = [0, 17, 39_999]
    np.testing.assert_allclose(
        ev.disagreement[some], [by_brute_force(weights[i]) for i in some], atol=1e-12
    )


def test_tensors():
    torch = pytest.importorskip("torch")
    weights = np.random.default_rng(0).normal(size=(5, 3, 4))
    ev = shafer.Evidence.from_weights(torch.tensor(weights))
    assert isinstance(ev.disagreement, torch.Tensor)
    expected = shafer.Evidence.from_weights(weights).disagreement
    np.testing.assert_allclose(ev.disagreement.numpy(), expected, atol=1e-14)


def test_no_rows():
    ev = shafer.Evidence.from_weights(np.ones((2, 3, 3)))[[]]
    assert ev.disagreement.shape == (0,)
