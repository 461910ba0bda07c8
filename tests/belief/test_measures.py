"""Measures of ignorance and conflict, and which mass function commits to more."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from shafer.belief import (
    Frame,
    MassFunction,
    conjunctive,
    degree_of_conflict,
    dempster,
    entropy,
    information,
    is_pl_more_committed,
    is_q_more_committed,
    is_w_more_committed,
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


# Orderings.


ORDERS = [is_w_more_committed, is_pl_more_committed, is_q_more_committed]


@pytest.mark.parametrize("order", ORDERS)
@given(drawn=mass_functions(1, nondogmatic=True))
def test_orders_are_reflexive_and_ignorance_is_least_for_separable(order, drawn):
    m = drawn[0]
    assert order(m, m)
    if m.is_separable:
        assert order(m, MassFunction.vacuous(m.frame), tolerance=1e-8)


@given(
    mass_functions(1, nondogmatic=True, max_labels=3), separable_weights(max_labels=3, largest=3)
)
def test_w_order_with_the_empty_set_implies_the_others(drawn, evidence):
    m = drawn[0]
    frame, weights = evidence
    if frame != m.frame:
        return
    more = conjunctive(m, MassFunction.from_weights(weights, frame, normalise=False))
    assert is_w_more_committed(more, m, with_empty_set=True, tolerance=1e-8)
    assert is_pl_more_committed(more, m)
    assert is_q_more_committed(more, m)


@given(separable_weights(max_labels=4, largest=3), separable_weights(max_labels=4, largest=3))
def test_dempster_with_separable_evidence_commits_more(first, second):
    if first[0] != second[0]:
        return
    m, evidence = (MassFunction.from_weights(w, frame) for frame, w in (first, second))
    more = dempster(m, evidence)
    assert is_w_more_committed(more, m, tolerance=1e-8)
    assert information(more, 2) >= information(m, 2) - 1e-6


def test_w_order_of_normalised_masses_does_not_imply_the_others():
    a = MassFunction.simple("a", ABC, weight=2)
    both = dempster(a, MassFunction.simple("b", ABC, weight=2))
    assert is_w_more_committed(both, a)
    assert not is_w_more_committed(both, a, with_empty_set=True)
    assert not is_pl_more_committed(both, a)  # b became more plausible
    assert not is_q_more_committed(both, a)


@pytest.mark.parametrize("order", ORDERS)
def test_orders_are_partial(order):
    a, b = (MassFunction.simple(label, ABC, support=0.5) for label in "ab")
    assert not order(a, b)
    assert not order(b, a)


@pytest.mark.parametrize("order", ORDERS)
def test_orders_need_one_frame(order):
    with pytest.raises(ValueError, match="share one frame"):
        order(MassFunction.vacuous(ABC), MassFunction.vacuous(Frame(["a", "b"])))


@pytest.mark.parametrize("order", ORDERS)
def test_tolerance(order):
    less, more = (MassFunction.simple("a", ABC, weight=w) for w in (1.0, 1.01))
    assert not order(less, more)
    assert order(less, more, tolerance=0.02)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("difference", "expected"), [(0.7e-9, True), (1.5e-9, False)])
def test_differences_up_to_a_billionth_are_rounding(order, difference, expected):
    # Near ignorance, weights, plausibilities and commonalities differ by the mass moved.
    first = MassFunction.from_dict({"a": difference, ("a", "b", "c"): 1 - difference}, ABC)
    assert order(MassFunction.vacuous(ABC), first) is expected
