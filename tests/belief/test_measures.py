import math

import numpy as np
import pytest
from hypothesis import given

from shafer.belief import (
    Frame,
    MassFunction,
    conjunctive,
    degree_of_conflict,
    entropy,
    information,
    nonspecificity,
    weight_of_conflict,
)

from .strategies import mass_functions, separable_weights

ABC = Frame(["a", "b", "c"])


@given(mass_functions(2))
def test_degree_of_conflict_is_its_definition(drawn):
    first, second = drawn
    expected = sum(
        x * y
        for b, x in first.focal_sets.items()
        for c, y in second.focal_sets.items()
        if not b & c
    )
    assert degree_of_conflict(first, second) == pytest.approx(expected, rel=1e-12)


@given(mass_functions(3, nondogmatic=True))
def test_weight_of_conflict_is_the_log_of_the_degree(drawn):
    expected = -math.log1p(-degree_of_conflict(*drawn))
    assert weight_of_conflict(*drawn) == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_weight_of_conflict_does_not_saturate():
    a, b = (MassFunction.simple(label, ABC, weight=300) for label in "ab")
    assert degree_of_conflict(a, b) == 1
    assert weight_of_conflict(a, b) == pytest.approx(300 - math.log(2), rel=1e-14)


def test_faint_conflict_is_not_lost():
    a, b = (MassFunction.simple(label, ABC, weight=1e-10) for label in "ab")
    assert degree_of_conflict(a, b) == pytest.approx(1e-20, rel=1e-9)
    assert weight_of_conflict(a, b) == pytest.approx(1e-20, rel=1e-9)


def test_total_conflict_weighs_infinitely():
    a, b = (MassFunction.categorical(label, ABC) for label in "ab")
    assert weight_of_conflict(a, b) == math.inf


@given(separable_weights(largest=5.0))
def test_information_is_the_sum_of_powers(drawn):
    frame, weights = drawn
    m = MassFunction.from_weights(weights, frame)
    for power in (0.5, 1, 2):
        # a weight of 1e-16, which is rounding, has a root of 1e-8
        tolerance = 1e-6 if power < 1 else 1e-9
        expected = np.sum(weights**power)
        assert information(m, power) == pytest.approx(expected, rel=tolerance, abs=tolerance)


def test_information_is_for_separable_mass_functions():
    overlapping = MassFunction.from_dict(
        {("a", "b"): 0.45, ("b", "c"): 0.45, ("a", "b", "c"): 0.1}, ABC
    )
    with pytest.raises(ValueError, match=r"mass must be separable.*smallest weight is -"):
        information(overlapping, 2)
    with pytest.raises(ValueError, match="dogmatic"):
        information(MassFunction.categorical("a", ABC), 2)


@pytest.mark.parametrize("power", [0, -1, math.inf, math.nan])
def test_information_needs_a_positive_power(power):
    with pytest.raises(ValueError, match="power must be a positive number; got"):
        information(MassFunction.vacuous(ABC), power)


def test_nonspecificity_and_entropy_by_hand():
    m = MassFunction.from_dict({"a": 0.5, ("a", "b"): 0.25, ("a", "b", "c"): 0.25}, ABC)
    expected = 0.25 + 0.25 * math.log2(3)
    assert nonspecificity(m) == pytest.approx(expected)
    p = np.array([1, 0.5, 0.25]) / 1.75
    assert entropy(m) == pytest.approx(expected - p @ np.log2(p))
    assert entropy(MassFunction.categorical("a", ABC)) == 0


@given(mass_functions(2, nondogmatic=True))
def test_bounds(drawn):
    m = conjunctive(*drawn)
    bits = math.log2(len(m.frame))
    assert 0 <= nonspecificity(m) <= bits + 1e-12
    assert -1e-12 <= entropy(m) <= 2 * bits + 1e-12
