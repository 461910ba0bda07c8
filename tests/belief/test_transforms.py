"""Probabilities from masses, and masses from weights and contours."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shafer.belief import Frame, MassFunction, dempster, transforms
from shafer.belief.weights import mass_from_weights, weights_from_mass
from shafer.errors import TotalConflictError

from .strategies import mass_functions, separable_weights

ANY = st.one_of(mass_functions(), mass_functions(empty=True))
PAIRS = [
    (transforms.belief_from_mass, transforms.mass_from_belief),
    (transforms.implicability_from_mass, transforms.mass_from_implicability),
    (transforms.plausibility_from_mass, transforms.mass_from_plausibility),
    (transforms.commonality_from_mass, transforms.mass_from_commonality),
    (transforms.sum_over_subsets, transforms.undo_sum_over_subsets),
    (transforms.sum_over_supersets, transforms.undo_sum_over_supersets),
]


def by_definition(masses, counts):
    """Sum the masses of the subsets B that count for A, for every A."""
    n = len(masses)
    return [sum(masses[b] for b in range(n) if counts(a, b)) for a in range(n)]


@given(ANY)
def test_each_transform_is_its_definition(drawn):
    masses = drawn[0].masses
    for transform, counts in [
        (transforms.implicability_from_mass, lambda a, b: b & ~a == 0),
        (transforms.belief_from_mass, lambda a, b: b and b & ~a == 0),
        (transforms.plausibility_from_mass, lambda a, b: a & b),
        (transforms.commonality_from_mass, lambda a, b: a & ~b == 0),
    ]:
        expected = by_definition(masses, counts)
        np.testing.assert_allclose(transform(masses), expected, rtol=1e-13, atol=0)


@pytest.mark.parametrize(("there", "back"), PAIRS)
@given(drawn=ANY)
def test_each_inverse_gives_the_masses_back(there, back, drawn):
    masses = drawn[0].masses
    np.testing.assert_allclose(back(there(masses)), masses, rtol=0, atol=1e-13)


@given(ANY)
def test_plausibility_and_implicability_are_dual(drawn):
    m = drawn[0]
    np.testing.assert_allclose(m.plausibility, 1 - m.implicability[::-1], atol=1e-13)


def test_small_plausibilities_are_not_lost():
    plausibility = transforms.plausibility_from_mass([0, 1, 1e-30, 1e-40])
    np.testing.assert_allclose(plausibility, [0, 1, 1e-30 + 1e-40, 1], rtol=1e-15)


def test_input_is_not_changed_and_extended_precision_is_kept():
    masses = np.array([0, 0.5, 0, 0.5], dtype=np.longdouble)
    assert transforms.belief_from_mass(masses).dtype == np.longdouble
    assert masses.tolist() == [0, 0.5, 0, 0.5]


@pytest.mark.parametrize("values", [[1, 2, 3], [[1, 2]], []])
def test_arrays_that_are_not_over_subsets_are_refused(values):
    with pytest.raises(ValueError, match=r"masses must be one-dimensional with 2\*\*K entries"):
        transforms.belief_from_mass(values)


# Weights.


AB = Frame(["a", "b"])


@given(separable_weights(largest=5.0))
def test_weights_come_back_from_the_masses(drawn):
    _, weights = drawn
    found = weights_from_mass(mass_from_weights(weights))
    np.testing.assert_allclose(found[1:], weights[1:], rtol=1e-9, atol=1e-9)


@given(mass_functions(nondogmatic=True, max_labels=4))
def test_masses_come_back_from_the_weights(drawn):
    m = drawn[0]
    again = MassFunction.from_weights(m.weights, m.frame, normalise=False)
    assert again.is_close(m, absolute=1e-8)
    assert MassFunction.from_weights(m.weights, m.frame).is_close(m, absolute=1e-8)


@given(mass_functions(empty=True, nondogmatic=True, max_labels=4))
def test_normalising_changes_only_the_weight_of_the_empty_set(drawn):
    m = drawn[0]
    np.testing.assert_allclose(m.normalised().weights[1:], m.weights[1:], atol=1e-9)
    assert MassFunction.from_weights(m.weights, m.frame, normalise=False).is_close(m, absolute=1e-8)


@given(separable_weights(max_labels=3))
def test_the_sum_of_simple_mass_functions_is_dempsters(drawn):
    frame, weights = drawn
    simple = [
        MassFunction.simple(frame.labels_in(mask), frame, weight=weights[mask])
        for mask in range(1, frame.full)
    ]
    pooled = MassFunction.from_weights(weights, frame)
    np.testing.assert_allclose(pooled.masses, dempster(*simple).masses, rtol=1e-12)


def test_weights_by_the_definition():
    # {a}^1 ⊕ {b}^2, unnormalised: every product of e^-w and 1 - e^-w, by hand.
    masses = mass_from_weights([0, 1, 2, 0], normalise=False)
    a, b = np.exp(-1), np.exp(-2)
    np.testing.assert_allclose(masses, [(1 - a) * (1 - b), (1 - a) * b, a * (1 - b), a * b])


def test_tiny_weights_keep_their_relative_accuracy():
    weights = weights_from_mass(mass_from_weights([0, 1e-12, 3e-12, 0]))
    np.testing.assert_allclose(weights[1:3], [1e-12, 3e-12], rtol=1e-5)
    np.testing.assert_allclose(mass_from_weights([0, 1e-200, 0, 0])[1], 1e-200, rtol=1e-15)


@pytest.mark.skipif(
    np.finfo(np.longdouble).minexp > -2000, reason="the platform has no extended precision"
)
def test_huge_weights_do_not_underflow():
    masses = mass_from_weights([0, 1000, 1000 - np.log(3), 0])
    np.testing.assert_allclose(masses[1:3], [0.75, 0.25], rtol=1e-12)


def test_infinite_weight_is_certainty():
    assert mass_from_weights([0, np.inf, 2, 0]).tolist() == [0, 1, 0, 0]
    with pytest.raises(TotalConflictError):
        mass_from_weights([0, np.inf, np.inf, 0])
    assert mass_from_weights([0, np.inf, np.inf, 0], normalise=False).tolist() == [1, 0, 0, 0]


def test_the_weight_of_the_empty_set_matters_only_without_normalisation():
    assert mass_from_weights([np.log(2), 0, 0, 0]).tolist() == [0, 0, 0, 1]
    masses = mass_from_weights([np.log(2), 0, 0, 0], normalise=False)
    np.testing.assert_allclose(masses, [0.5, 0, 0, 0.5])


@pytest.mark.parametrize(
    "weights", [[0, -1, 0, 0], [0, 1, -5, 0], [0, 0, -1e6, 0], [0, 1, -1e6, 0]]
)
def test_weights_of_no_mass_function_are_refused(weights):
    with pytest.raises(ValueError, match="These weights give negative masses"):
        mass_from_weights(weights)
    with pytest.raises(ValueError, match="These weights give negative masses"):
        mass_from_weights(weights, normalise=False)


def test_bad_weights_are_refused():
    with pytest.raises(ValueError, match="weights must be numbers above -inf; got nan"):
        mass_from_weights([0, np.nan, 0, 0])
    with pytest.raises(ValueError, match="above -inf; got -inf"):
        mass_from_weights([0, -np.inf, 0, 0])
    with pytest.raises(ValueError, match=r"weights must be 0 on the whole frame.*got 2.0"):
        mass_from_weights([0, 0, 0, 2])


def test_dogmatic_mass_functions_have_no_weights():
    with pytest.raises(ValueError, match=r"m\(Θ\) = 0, has no canonical weights"):
        _ = MassFunction.bayesian([0.5, 0.5], AB).weights
