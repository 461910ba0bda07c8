import numpy as np
import pytest
from hypothesis import given

from shafer.belief import Frame, MassFunction, structure

from .strategies import separable_weights

ABC = Frame(["a", "b", "c"])


def mass(values):
    return MassFunction.from_dict(values, ABC)


VACUOUS = MassFunction.vacuous(ABC)
CERTAIN = MassFunction.categorical("a", ABC)
SIMPLE = MassFunction.simple(["a", "b"], ABC, support=0.3)
BAYESIAN = MassFunction.bayesian([0.2, 0.3, 0.5], ABC)
NESTED = mass({"a": 0.2, ("a", "b"): 0.3, ("a", "b", "c"): 0.5})
SUBNORMAL = mass({(): 0.2, "a": 0.3, ("a", "b", "c"): 0.5})
OVERLAPPING = mass({("a", "b"): 0.45, ("b", "c"): 0.45, ("a", "b", "c"): 0.1})
NOTHING = MassFunction.categorical([], ABC)


@pytest.mark.parametrize(
    ("m", "kinds"),
    [
        (VACUOUS, "normalised vacuous simple separable consonant"),
        (CERTAIN, "normalised dogmatic bayesian simple separable consonant"),
        (SIMPLE, "normalised simple separable consonant"),
        (BAYESIAN, "normalised dogmatic bayesian"),
        (NESTED, "normalised separable consonant"),
        (SUBNORMAL, "separable consonant"),
        (OVERLAPPING, "normalised"),
        (NOTHING, "dogmatic consonant"),
    ],
)
def test_kinds(m, kinds):
    names = ["normalised", "vacuous", "dogmatic", "bayesian", "simple", "separable", "consonant"]
    found = [name for name in names if getattr(m, f"is_{name}")]
    assert sorted(found) == sorted(kinds.split())


@given(separable_weights(largest=5.0))
def test_dempster_sums_of_simple_mass_functions_are_separable(drawn):
    frame, weights = drawn
    assert MassFunction.from_weights(weights, frame).is_separable


def test_separability_of_dogmatic_mass_functions_is_judged_inside_the_core():
    # {a, b} is certain, and inside it {a} and {b} have finite weights.
    dogmatic = MassFunction.from_weights({("a", "b"): np.inf, "a": 1.0, "b": 2.0}, ABC)
    assert dogmatic.is_dogmatic
    assert dogmatic.is_separable


def test_core_is_the_union_of_the_focal_sets():
    assert structure.core(BAYESIAN.masses) == 7
    assert structure.core(CERTAIN.masses) == 1
    assert structure.core(NOTHING.masses) == 0


def test_weights_below_zero_by_rounding_are_separable():
    # {a, b} and {b, c} with mass .3 each give {b} the mass .09. With δ less, its weight is −δ.
    def separable(weight):
        masses = np.array([0.0, 0.0, 0.09, 0.21, 0.0, 0.0, 0.21, 0.49])
        masses[2] += weight
        masses[1] -= weight
        return structure.is_separable(masses)

    assert separable(-0.9e-9)
    assert not separable(-1.1e-9)
