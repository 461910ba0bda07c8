import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shafer.belief import Frame, MassFunction, disjunctive

from .strategies import mass_functions

ABC = Frame(["a", "b", "c"])
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
