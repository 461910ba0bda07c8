"""Frames and mass functions: how they are made, read and written."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shafer import belief
from shafer.belief import Frame, MassFunction, dempster, structure
from shafer.errors import FrameTooLargeError, TotalConflictError

from .strategies import mass_functions, separable_weights


@pytest.fixture
def frame():
    return Frame(["cat", "dog", "owl"])


def test_label_k_is_bit_k(frame):
    assert [frame.subset(label) for label in frame] == [1, 2, 4]
    assert frame.full == 7
    assert frame.n_subsets == 8
    assert len(frame) == 3


def test_masks_and_label_sets_are_inverse(frame):
    for mask in range(8):
        assert frame.subset(frame.labels_in(mask)) == mask


def test_collections_of_any_kind_name_a_subset(frame):
    for labels in (["cat", "owl"], {"owl", "cat"}, np.array(["cat", "owl"]), iter(["owl", "cat"])):
        assert frame.subset(labels) == 5
    assert frame.subset(()) == 0


def test_a_string_is_one_label(frame):
    assert frame.subset("dog") == 2
    with pytest.raises(ValueError, match=r"Unknown class label\(s\) \['cow'\].*'cat', 'dog'"):
        frame.subset("cow")


def test_scalars_and_tuples_can_be_labels():
    assert Frame([10, 20]).subset(20) == 2
    assert Frame([(0, 1), (1, 0)]).subset((1, 0)) == 2
    assert Frame([(0, 1), (1, 0)]).subset([(1, 0), (0, 1)]) == 3


def test_unknown_labels_are_listed_with_the_known_ones(frame):
    with pytest.raises(ValueError, match=r"label\(s\) \['cow', 3\]; the classes are \['cat'"):
        frame.subset(["cat", "cow", 3])
    with pytest.raises(ValueError, match=r"Unknown class label\(s\) \[3\]"):
        frame.subset(3)
    with pytest.raises(ValueError, match="Unknown class label"):
        frame.subset([["cat"]])
    with pytest.raises(ValueError, match="Unknown class label.*'cow'"):
        frame.position("cow")


def test_masks_out_of_range_are_refused(frame):
    with pytest.raises(ValueError, match=r"mask must be between 0 and 7 .* got 8"):
        frame.labels_in(8)


def test_numpy_labels_become_plain():
    frame = Frame(np.array([1, 2]))
    assert frame == Frame([1, 2])
    assert repr(frame) == "Frame([1, 2])"


def test_frames_compare_by_labels_in_order(frame):
    assert hash(frame) == hash(Frame(("cat", "dog", "owl")))
    assert frame != Frame(["dog", "cat", "owl"])


def test_too_few_too_many_or_repeated_labels_are_refused():
    with pytest.raises(ValueError, match=r"at least 2 labels; got \['a'\]"):
        Frame(["a"])
    with pytest.raises(ValueError, match="distinct"):
        Frame(["a", "b", "a"])
    with pytest.raises(FrameTooLargeError, match=r"at most 16 labels.*got 17"):
        Frame(range(17))
    assert len(Frame(range(16))) == 16


@pytest.mark.parametrize("labels", ["abc", {"a", "b"}, frozenset("ab"), b"ab"])
def test_unordered_labels_are_refused(labels):
    with pytest.raises(ValueError, match="ordered collection"):
        Frame(labels)


def test_frames_are_frozen(frame):
    with pytest.raises(AttributeError):
        frame.labels = ("a", "b")


def test_public_names():
    assert belief.__all__ == sorted(belief.__all__)
    assert all(hasattr(belief, name) for name in belief.__all__)


# Mass.


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


# Structure.


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


# Probabilities.


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
