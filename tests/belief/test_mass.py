import numpy as np
import pytest
from hypothesis import given

from shafer.belief import Frame, MassFunction, dempster
from shafer.errors import TotalConflictError

from .strategies import mass_functions

AB = Frame(["a", "b"])
ABC = Frame(["a", "b", "c"])


def test_smets_murder_case():
    # A coin decided between Mary and one of Peter and Paul; then Peter turns out to have an alibi.
    frame = Frame(["Peter", "Paul", "Mary"])
    coin = MassFunction.from_dict({"Mary": 0.5, ("Peter", "Paul"): 0.5}, frame)
    np.testing.assert_allclose(coin.pignistic, [0.25, 0.25, 0.5])
    after = coin.conditioned_on(["Paul", "Mary"])
    assert after.focal_sets == {frozenset({"Paul"}): 0.5, frozenset({"Mary"}): 0.5}
    np.testing.assert_allclose(after.pignistic, [0, 0.5, 0.5])


def test_belief_and_plausibility_of_a_small_example():
    m = MassFunction.from_dict({"a": 0.4, ("a", "b"): 0.3, ("b", "c"): 0.2, "c": 0.1}, ABC)
    assert m.mass_of(["b", "a"]) == 0.3
    assert m.belief_of(["a", "b"]) == pytest.approx(0.7)
    assert m.plausibility_of(["a", "b"]) == pytest.approx(0.9)
    assert m.commonality_of("b") == pytest.approx(0.5)
    np.testing.assert_allclose(m.contour, [0.7, 0.5, 0.3])


def test_empty_set_counts_for_implicability_only():
    m = MassFunction.from_array([0.25, 0.5, 0, 0.25], AB)
    assert m.belief.tolist() == [0, 0.5, 0, 0.75]
    assert m.implicability.tolist() == [0.25, 0.75, 0.25, 1]


def test_constructors_agree():
    simple = MassFunction.from_dict({"a": 0.25, ("a", "b"): 0.75}, AB)
    assert MassFunction.from_array([0, 0.25, 0, 0.75], AB) == simple
    assert MassFunction.simple("a", AB, support=0.25) == simple
    assert MassFunction.simple("a", AB, weight=-np.log(0.75)).is_close(simple)
    assert MassFunction.from_weights({"a": -np.log(0.75)}, AB).is_close(simple)
    assert MassFunction.from_weights({}, AB) == MassFunction.vacuous(AB)
    assert MassFunction.simple("a", AB, weight=np.inf) == MassFunction.categorical("a", AB)
    assert MassFunction.bayesian({"b": 0.75, "a": 0.25}, AB).focal_sets == {
        frozenset("a"): 0.25,
        frozenset("b"): 0.75,
    }


def test_tiny_weights_are_exact():
    m = MassFunction.simple("a", AB, weight=1e-20)
    assert m.mass_of("a") == 1e-20


@given(mass_functions(empty=True, nondogmatic=True))
def test_normalised_is_its_definition(drawn):
    m = drawn[0]
    normalised = m.normalised()
    assert normalised.is_normalised
    np.testing.assert_allclose(normalised.masses[1:], m.masses[1:] / (1 - m.masses[0]), rtol=1e-12)


@given(mass_functions(nondogmatic=True))
def test_conditioning_is_combination_with_certainty(drawn):
    m = drawn[0]
    subset = m.frame.labels[:2]
    certain = MassFunction.categorical(subset, m.frame)
    assert m.conditioned_on(subset).is_close(dempster(m, certain))


def test_no_mass_left_is_total_conflict():
    with pytest.raises(TotalConflictError, match="κ = 1"):
        MassFunction.categorical([], AB).normalised()
    with pytest.raises(TotalConflictError, match="nothing is left to normalise"):
        MassFunction.categorical("a", AB).conditioned_on("b")


def test_a_faint_rest_can_still_be_normalised():
    faint = MassFunction.from_array([1, 1e-300, 0, 1e-300], AB)
    assert faint.normalised().masses.tolist() == [0, 0.5, 0, 0.5]


def test_masses_are_a_read_only_copy():
    given_masses = np.array([0, 0.5, 0, 0.5])
    m = MassFunction(AB, given_masses)
    given_masses[1] = 9
    assert m.mass_of("a") == 0.5
    for array in (m.masses, m.belief, m.implicability, m.plausibility, m.commonality, m.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        m.masses = given_masses


def test_equality_is_by_value():
    first = MassFunction.simple("a", AB, support=0.5)
    same = MassFunction.from_array([-0.0, 0.5, 0, 0.5], AB)
    assert first == same
    assert hash(first) == hash(same)
    assert first != MassFunction.simple("b", AB, support=0.5)
    assert first != MassFunction.simple("a", Frame(["a", "c"]), support=0.5)
    assert first != "a mass function"
    assert not first.is_close(MassFunction.simple("b", AB, support=0.5))
    assert not first.is_close(MassFunction.simple("a", Frame(["a", "c"]), support=0.5))


def test_repr_lists_the_largest_focal_sets():
    m = MassFunction.from_dict({(): 0.1, "b": 0.2, ("a", "c"): 0.3, ("a", "b", "c"): 0.4}, ABC)
    assert repr(m) == "MassFunction(∅: 0.1, {b}: 0.2, {a, c}: 0.3, Θ: 0.4)"
    many = MassFunction.from_array(np.arange(16) / 120, Frame(list("abcd")))
    assert repr(many).endswith("Θ: 0.125, … 7 smaller)")


def test_rounding_is_repaired():
    assert MassFunction.from_array([0, 0.5, -1e-16, 0.5], AB).masses.tolist() == [0, 0.5, 0, 0.5]
    off = MassFunction.from_array([0, 0.5, 0, 0.5 + 1e-10], AB)
    assert off.masses.sum() == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize(
    ("masses", "message"),
    [
        ([0, 1.5, -0.5, 0], r"masses must be numbers >= 0; got -0.5 for \{b\}"),
        ([0, np.nan, 0, 1], r"masses must be numbers >= 0; got nan for \{a\}"),
        ([0, np.inf, 0, 1], "masses must sum to 1 within 1e-09; got a sum of inf"),
        ([0, 0.5, 0, 0.4], "masses must sum to 1 within 1e-09; got a sum of 0.9"),
        ([0.5, 0.5], r"masses must have shape \(4,\).* got shape \(2,\)"),
    ],
)
def test_arrays_that_are_not_masses_are_refused(masses, message):
    with pytest.raises(ValueError, match=message):
        MassFunction.from_array(masses, AB)


def test_mappings_must_name_each_subset_once():
    with pytest.raises(ValueError, match=r"masses must name each subset once; got \('b', 'a'\)"):
        MassFunction.from_dict({("a", "b"): 0.5, ("b", "a"): 0.5}, AB)


def test_weights_must_fit_the_frame():
    with pytest.raises(ValueError, match=r"weights must have shape \(8,\)"):
        MassFunction.from_weights([0, 1, 0, 0], ABC)


def test_probabilities_must_fit_the_frame():
    with pytest.raises(ValueError, match=r"probabilities must have shape \(2,\).*\(3,\)"):
        MassFunction.bayesian([0.2, 0.3, 0.5], AB)
    with pytest.raises(ValueError, match="Unknown class label.*'z'"):
        MassFunction.bayesian({"z": 1.0}, AB)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "exactly one of weight and support; got weight=None, support=None"),
        ({"weight": 1, "support": 0.5}, "exactly one of weight and support"),
        ({"support": 1.5}, "support must be a number between 0 and 1; got 1.5"),
        ({"weight": -1}, "weight must be a number >= 0 .*; got -1"),
        ({"weight": np.nan}, "weight must be a number >= 0 .*; got nan"),
    ],
)
def test_simple_needs_one_sensible_number(arguments, message):
    with pytest.raises(ValueError, match=message):
        MassFunction.simple("a", AB, **arguments)


@pytest.mark.parametrize("subset", [[], ["a", "b"]])
def test_simple_needs_a_strict_nonempty_subset(subset):
    with pytest.raises(
        ValueError, match="needs a subset that is not empty and not the whole frame"
    ):
        MassFunction.simple(subset, AB, support=0.5)


def test_rounding_does_not_lead_above_one():
    # Sums of these masses are 1 + 2e-16 in floating point.
    masses = np.zeros(16)
    masses[1::2] = [1, 17, 3, 9, 26, 12, 5, 1]
    m = MassFunction(Frame(list("abcd")), masses / masses.sum())
    for values in (m.belief, m.implicability, m.plausibility, m.commonality, m.contour):
        assert values.max() == 1.0
