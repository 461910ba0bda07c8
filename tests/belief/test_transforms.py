import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shafer.belief import transforms

from .strategies import mass_functions

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
