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
