import pytest
from hypothesis import given

from shafer.belief import (
    Frame,
    MassFunction,
    conjunctive,
    dempster,
    information,
    is_pl_more_committed,
    is_q_more_committed,
    is_w_more_committed,
)

from .strategies import mass_functions, separable_weights

ABC = Frame(["a", "b", "c"])
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
