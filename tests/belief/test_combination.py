"""Combining, discounting and extending mass functions."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shafer.belief import (
    Frame,
    MassFunction,
    bold,
    cautious,
    conjunctive,
    degree_of_conflict,
    dempster,
    disjunctive,
    dubois_prade,
    is_w_more_committed,
    products,
    yager,
)
from shafer.errors import TotalConflictError

from .strategies import mass_functions, naive_product

ABC = Frame(["a", "b", "c"])
ZADEH = (
    MassFunction.from_dict({"a": 0.99, "b": 0.01}, ABC),
    MassFunction.from_dict({"c": 0.99, "b": 0.01}, ABC),
)


def test_zadehs_example():
    assert degree_of_conflict(*ZADEH) == pytest.approx(0.9999, rel=1e-14)
    assert dempster(*ZADEH).is_close(MassFunction.categorical("b", ABC))
    assert yager(*ZADEH).is_close(MassFunction.simple("b", ABC, support=1e-4))
    expected = {("a", "c"): 0.9801, ("a", "b"): 0.0099, ("b", "c"): 0.0099, "b": 0.0001}
    assert dubois_prade(*ZADEH).is_close(MassFunction.from_dict(expected, ABC))


def test_two_testimonies():
    frame = Frame(["Peter", "John", "Mary"])
    man = MassFunction.simple(["Peter", "John"], frame, support=0.8)
    blond = MassFunction.simple(["John", "Mary"], frame, support=0.6)
    expected = {"John": 0.48, ("Peter", "John"): 0.32, ("John", "Mary"): 0.12, tuple(frame): 0.08}
    assert dempster(man, blond).is_close(MassFunction.from_dict(expected, frame))


@given(mass_functions(2, max_labels=4))
def test_conjunctive_and_dempster_are_their_definitions(drawn):
    exact = naive_product(*drawn, operator.and_)
    np.testing.assert_allclose(conjunctive(*drawn).masses, [float(x) for x in exact], rtol=1e-14)
    assume(exact[0] < 1)
    left = sum(exact[1:])
    expected = [0.0, *(float(x / left) for x in exact[1:])]
    np.testing.assert_allclose(dempster(*drawn).masses, expected, rtol=1e-14)


@given(mass_functions(2, max_labels=4))
def test_disjunctive_is_its_definition(drawn):
    exact = naive_product(*drawn, operator.or_)
    np.testing.assert_allclose(disjunctive(*drawn).masses, [float(x) for x in exact], rtol=1e-14)


@given(st.one_of(mass_functions(2), mass_functions(2, empty=True)))
def test_commonalities_and_implicabilities_multiply(drawn):
    first, second = drawn
    q = first.commonality * second.commonality
    b = first.implicability * second.implicability
    np.testing.assert_allclose(conjunctive(first, second).commonality, q, rtol=1e-12)
    np.testing.assert_allclose(disjunctive(first, second).implicability, b, rtol=1e-12)


@pytest.mark.parametrize(
    "rule", [conjunctive, dempster, disjunctive, cautious, yager, dubois_prade]
)
@given(drawn=mass_functions(2, nondogmatic=True, max_labels=3))
def test_rules_are_commutative(rule, drawn):
    first, second = drawn
    assert rule(first, second).is_close(rule(second, first), absolute=1e-9)


@pytest.mark.parametrize("rule", [conjunctive, dempster, disjunctive, cautious])
@given(drawn=mass_functions(3, nondogmatic=True, max_labels=3))
def test_rules_are_associative_and_take_many_sources(rule, drawn):
    first, second, third = drawn
    together = rule(first, second, third)
    assert together.is_close(rule(rule(first, second), third), absolute=1e-9)
    assert together.is_close(rule(first, rule(second, third)), absolute=1e-9)


@pytest.mark.parametrize("rule", [conjunctive, dempster, yager, dubois_prade])
@given(drawn=mass_functions())
def test_ignorance_is_neutral(rule, drawn):
    m = drawn[0]
    assert rule(m, MassFunction.vacuous(m.frame)).is_close(m)
    assert rule(m).is_close(m)


@given(mass_functions())
def test_contradiction_is_neutral_for_the_disjunctive_rule(drawn):
    m = drawn[0]
    assert disjunctive(m, MassFunction.categorical([], m.frame)).is_close(m)


@given(mass_functions(2, nondogmatic=True))
def test_weights_add_under_dempster(drawn):
    first, second = drawn
    total = first.weights + second.weights
    np.testing.assert_allclose(dempster(first, second).weights[1:], total[1:], atol=1e-9)


def test_many_sources_keep_their_accuracy():
    sources = [
        MassFunction.simple("abc"[i % 3], ABC, weight=w)
        for i, w in enumerate(np.geomspace(1e-9, 3, 999))
    ]
    weights = dict.fromkeys(ABC, 0.0)
    for i, w in enumerate(np.geomspace(1e-9, 3, 999)):
        weights["abc"[i % 3]] += w
    expected = MassFunction.from_weights(weights, ABC)
    np.testing.assert_allclose(dempster(*sources).masses, expected.masses, rtol=1e-12)


def test_totally_contradicting_sources():
    a, b = (MassFunction.categorical(label, ABC) for label in "ab")
    with pytest.raises(
        TotalConflictError, match=r"κ = 1.*source 2.*yager or dubois_prade.*discount"
    ):
        dempster(a, b)
    assert conjunctive(a, b).mass_of([]) == 1
    assert yager(a, b).is_vacuous
    assert dubois_prade(a, b) == MassFunction.categorical(["a", "b"], ABC)


def test_nearly_total_conflict_is_still_resolved():
    a = MassFunction.simple("a", ABC, weight=500)
    b = MassFunction.simple("b", ABC, weight=500)
    np.testing.assert_allclose(dempster(a, b).masses[[1, 2]], [0.5, 0.5], rtol=1e-12)


@given(mass_functions(1, nondogmatic=True))
def test_cautious_is_idempotent(drawn):
    m = drawn[0]
    assert cautious(m, m).is_close(m)
    assert cautious(m, m, normalise=False).is_close(m)


@given(mass_functions(1, nondogmatic=True, empty=True))
def test_cautious_without_normalisation_keeps_the_empty_set(drawn):
    m = drawn[0]
    assert cautious(m, m, normalise=False) == m
    assert cautious(m, m).is_close(m.normalised())


@given(mass_functions(2, nondogmatic=True))
def test_cautious_takes_the_largest_weights(drawn):
    first, second = drawn
    expected = np.maximum(first.weights, second.weights)
    np.testing.assert_allclose(cautious(first, second).weights[1:], expected[1:], atol=1e-8)
    unnormalised = cautious(first, second, normalise=False)
    np.testing.assert_allclose(unnormalised.weights, expected, atol=1e-8)
    assert is_w_more_committed(unnormalised, first, with_empty_set=True, tolerance=1e-8)


@given(mass_functions(3, nondogmatic=True, max_labels=3))
def test_dempster_distributes_over_cautious(drawn):
    first, second, third = drawn
    left = dempster(first, cautious(second, third))
    right = cautious(dempster(first, second), dempster(first, third))
    assert left.is_close(right, absolute=1e-8)


def test_cautious_needs_nondogmatic_sources():
    with pytest.raises(ValueError, match="dogmatic"):
        cautious(*ZADEH)


@given(mass_functions(2, empty=True, nondogmatic=True))
def test_bold_is_dual_to_cautious_and_idempotent(drawn):
    first, second = drawn
    assert bold(first, first) == first
    mirrored = [MassFunction(m.frame, m.masses[::-1]) for m in drawn]
    dual = cautious(*mirrored, normalise=False).masses[::-1]
    np.testing.assert_allclose(bold(first, second).masses, dual, atol=1e-12)


@given(mass_functions(1, empty=True))
def test_bold_follows_the_disjunctive_rule_on_comparable_evidence(drawn):
    # A second source that says everything the first does, and more, wins.
    m = drawn[0]
    more = disjunctive(
        m, MassFunction.from_array([0.5, 0.5, *[0] * (m.frame.n_subsets - 2)], m.frame)
    )
    assert bold(m, more).is_close(more, absolute=1e-9)


def test_bold_needs_mass_on_the_empty_set():
    with pytest.raises(
        ValueError, match=r"bold rule needs mass on the empty set.*source 1 is Mass"
    ):
        bold(*ZADEH)


@given(mass_functions(2, max_labels=4))
def test_yager_is_its_definition(drawn):
    exact = naive_product(*drawn, operator.and_)
    exact[-1] += exact[0]
    exact[0] = 0
    np.testing.assert_allclose(yager(*drawn).masses, [float(x) for x in exact], rtol=1e-13)


@given(st.one_of(mass_functions(2, max_labels=4), mass_functions(2, max_labels=3, empty=True)))
def test_dubois_prade_is_its_definition(drawn):
    exact = naive_product(*drawn, lambda b, c: b & c or b | c)
    np.testing.assert_allclose(dubois_prade(*drawn).masses, [float(x) for x in exact], rtol=1e-13)


def test_dubois_prade_takes_all_sources_at_once():
    a, b, c = (MassFunction.categorical(label, ABC) for label in "abc")
    assert dubois_prade(a, b, c).is_vacuous
    assert dubois_prade(a, b, b) == MassFunction.categorical(["a", "b"], ABC)


@pytest.mark.parametrize(
    "rule", [conjunctive, dempster, disjunctive, cautious, bold, yager, dubois_prade]
)
def test_sources_must_share_a_frame(rule):
    other = MassFunction.vacuous(Frame(["c", "b", "a"]))
    with pytest.raises(ValueError, match=r"share one frame.*\['a', 'b', 'c'\].*\['c', 'b', 'a'\]"):
        rule(MassFunction.vacuous(ABC), other)
    with pytest.raises(ValueError, match="at least one mass function; got none"):
        rule()


# Discounting.


RATE = st.floats(0, 1)


@given(mass_functions(), RATE)
def test_discounting_is_its_definition(drawn, rate):
    m = drawn[0]
    expected = (1 - rate) * m.masses
    expected[-1] += rate
    np.testing.assert_allclose(m.discounted(rate).masses, expected, rtol=1e-12, atol=1e-300)


@given(mass_functions(), st.lists(RATE, min_size=5, max_size=5))
def test_contextual_discounting_is_a_disjunctive_combination(drawn, rates):
    m = drawn[0]
    used = rates[: len(m.frame)]
    contexts = [
        MassFunction.from_dict({(): 1 - rate, label: rate}, m.frame)
        for label, rate in zip(m.frame, used, strict=True)
    ]
    assert m.contextually_discounted(used).is_close(disjunctive(m, *contexts))


@given(mass_functions(), RATE)
def test_one_context_is_classical_discounting(drawn, rate):
    m = drawn[0]
    assert m.contextually_discounted({m.frame.labels: rate}).is_close(m.discounted(rate))


@given(mass_functions())
def test_extreme_rates(drawn):
    m = drawn[0]
    assert m.discounted(0) == m
    assert m.discounted(1).is_close(MassFunction.vacuous(m.frame))
    assert m.contextually_discounted([1] * len(m.frame)).is_vacuous


def test_a_sensor_that_confuses_one_class():
    # Reliable unless the truth is b, when it fails in 4 cases of 10: b can then not be excluded.
    m = MassFunction.from_dict({"a": 0.5, "c": 0.3, ("b", "c"): 0.2}, ABC)
    found = m.contextually_discounted({"b": 0.4})
    expected = {"a": 0.3, ("a", "b"): 0.2, "c": 0.18, ("b", "c"): 0.32}
    assert found.is_close(MassFunction.from_dict(expected, ABC))


@pytest.mark.parametrize("rate", [-0.1, 1.1, np.nan])
def test_rates_must_be_probabilities(rate):
    m = MassFunction.vacuous(ABC)
    with pytest.raises(ValueError, match="rate must be a number between 0 and 1; got"):
        m.discounted(rate)
    with pytest.raises(ValueError, match="rate must be a number between 0 and 1; got"):
        m.contextually_discounted({"a": rate})


def test_contexts_must_be_nonempty_and_disjoint():
    m = MassFunction.vacuous(ABC)
    with pytest.raises(ValueError, match="that do not overlap"):
        m.contextually_discounted({("a", "b"): 0.1, "b": 0.2})
    with pytest.raises(ValueError, match="one is empty"):
        m.contextually_discounted({(): 0.1})
    with pytest.raises(ValueError, match=r"rates must have shape \(3,\).*got shape \(2,\)"):
        m.contextually_discounted([0.1, 0.2])


# Products.


@given(mass_functions(2, max_labels=4))
def test_products_are_their_definitions(drawn):
    first, second = drawn
    for product, operation in [
        (products.intersection_product, operator.and_),
        (products.union_product, operator.or_),
    ]:
        expected = [float(x) for x in naive_product(first, second, operation)]
        result = product(first.masses, second.masses)
        np.testing.assert_allclose(result, expected, rtol=1e-14, atol=0)


def test_large_frames_recurse_to_the_same_result(monkeypatch):
    generator = np.random.default_rng(0)
    first, second = generator.random((2, 64))
    whole = products.intersection_product(first, second)
    monkeypatch.setattr(products, "_BLOCK_LABELS", 2)
    split = products.intersection_product(first, second)
    np.testing.assert_allclose(split, whole, rtol=1e-14)


def test_masses_of_any_size_keep_their_relative_accuracy():
    first = np.array([0, 1e-120, 1.0, 1e-150])
    second = np.array([0, 1e-130, 1.0, 1e-140])
    result = products.intersection_product(first, second)
    expected_a = 1e-250 + 1e-260 + 1e-280
    expected_empty = 1e-120 + 1e-130
    np.testing.assert_allclose(result[[0, 1, 3]], [expected_empty, expected_a, 1e-290], rtol=1e-13)


def test_orthogonal_sum_needs_a_source():
    with pytest.raises(ValueError, match="at least one array"):
        products.orthogonal_sum([])


def test_orthogonal_sum_says_which_source_contradicts():
    impossible = np.array([1.0, 0, 0, 0])
    with pytest.raises(TotalConflictError, match="at source 1: all its mass is on ∅"):
        products.orthogonal_sum([impossible])
    with pytest.raises(TotalConflictError, match="at source 2: it agrees with none"):
        products.orthogonal_sum([np.array([0, 1.0, 0, 0]), np.array([0, 0, 1.0, 0])])


def test_weight_of_conflict_of_one_array_neither_cancels_nor_saturates():
    _, weak = products.split_off_conflict(np.array([1e-30, 0.5, 0, 0.5]))
    assert weak == pytest.approx(1e-30, rel=1e-14)
    _, strong = products.split_off_conflict(np.array([1.0, 1e-200, 0, 0]))
    assert strong == pytest.approx(200 * np.log(10), rel=1e-14)
