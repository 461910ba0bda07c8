import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shafer.belief import Frame, MassFunction, dempster
from shafer.errors import TotalConflictError

from .strategies import mass_functions

ANY = st.one_of(mass_functions(), mass_functions(empty=True, nondogmatic=True))


@given(ANY)
def test_pignistic_is_its_definition(drawn):
    m = drawn[0]
    conflict = m.mass_of([])
    for label, value in zip(m.frame, m.pignistic, strict=True):
        shares = [x / len(A) for A, x in m.focal_sets.items() if label in A]
        assert value == pytest.approx(sum(shares) / (1 - conflict), rel=1e-12)


@given(mass_functions())
def test_belief_below_pignistic_below_plausibility(drawn):
    m = drawn[0]
    belief = np.array([m.belief_of([label]) for label in m.frame])
    assert np.all(belief <= m.pignistic + 1e-12)
    assert np.all(m.pignistic <= m.contour + 1e-12)


@given(ANY)
def test_contour_is_the_plausibility_of_labels(drawn):
    m = drawn[0]
    expected = [m.plausibility_of([label]) for label in m.frame]
    np.testing.assert_allclose(m.contour, expected, rtol=1e-13)
    np.testing.assert_allclose(m.probability, m.contour / m.contour.sum(), rtol=1e-12)


@given(mass_functions(2, nondogmatic=True))
def test_plausibility_transform_turns_dempster_into_a_product(drawn):
    first, second = drawn
    product = first.probability * second.probability
    expected = product / product.sum()
    np.testing.assert_allclose(dempster(first, second).probability, expected, rtol=1e-12)


def test_pure_contradiction_has_no_probability():
    nothing = MassFunction.categorical([], Frame(["a", "b"]))
    with pytest.raises(TotalConflictError, match="κ = 1"):
        _ = nothing.pignistic
    with pytest.raises(TotalConflictError, match="κ = 1"):
        _ = nothing.probability
