"""Every rule against its definition over all 2^K masses of ``belief/``, for random losses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

import shafer
from oracle import pooled_by_dempster
from rule_oracle import (
    CLOSE,
    best_by_value,
    by_risk,
    check_rule,
    expectations,
    members,
    risks,
)
from shafer import belief
from shafer.decision import BETTING_RULES, PRECISE_RULES, RULES, owa_weights, set_utility

SIZES = st.sampled_from([0.0, 0.0, 1e-9, -1e-9, 0.5, -0.5, 2.0, -3.0, 20.0, -20.0])
ELEMENT = st.one_of(SIZES, st.floats(-4, 4))
LOSS = st.one_of(st.sampled_from([0.0, 1.0, 0.5, -1.0]), st.floats(-3, 3))


@dataclass
class Case:
    """One random row: the evidence as the library sees it, and as ``belief/`` does."""

    evidence: Any
    mass: belief.MassFunction
    loss: NDArray[Any]

    @property
    def masses(self) -> NDArray[Any]:
        return self.mass.masses

    @property
    def ties(self) -> bool:
        """Whether the rules see the ties of the mass function: a discount may add some."""
        return isinstance(self.evidence, shafer.Evidence)

    @property
    def bet(self) -> belief.MassFunction:
        """The mass function before discounting: what one bets with."""
        masses = getattr(self.evidence, "evidence", self.evidence).masses()[0]
        return belief.MassFunction(self.mass.frame, masses / masses.sum())

    def decided_by(self, rule: str) -> belief.MassFunction:
        """The mass function that a rule decides with."""
        return self.bet if rule in BETTING_RULES else self.mass

    @property
    def n(self) -> int:
        return len(self.mass.frame)


@st.composite
def cases(draw: Any, most_classes: int = 6, most_acts: int = 4) -> Case:
    n_classes = draw(st.integers(2, most_classes))
    n_components = draw(st.integers(1, 3))
    size = n_classes * n_components
    w = np.array(draw(st.lists(ELEMENT, min_size=size, max_size=size)))
    w = w.reshape(n_components, n_classes)
    if draw(st.booleans()):
        w = -np.abs(w)
    n_acts = draw(st.integers(1, most_acts))
    loss = draw(st.lists(LOSS, min_size=n_acts * n_classes, max_size=n_acts * n_classes))
    ev, mass = shafer.Evidence.from_weights(w[None]), pooled_by_dempster(w)
    if draw(st.booleans()):
        r = draw(st.one_of(st.sampled_from([0.0, 1.0, 0.5]), st.floats(0, 1)))
        ev, mass = ev.discounted(r), mass.discounted(1.0 - r)
    return Case(ev, mass, np.array(loss).reshape(n_acts, n_classes))


ONE_ACT_RULES = [rule for rule in RULES if rule != "utility_set"]


# Every rule sees every case: to draw a case takes longer than to decide it.


@given(case=cases())
@settings(max_examples=100)
def test_any_loss(case: Case) -> None:
    for rule in ONE_ACT_RULES:
        note(rule)
        chosen = case.evidence.decide(rule, loss=case.loss)[0]
        check_rule(case.decided_by(rule), rule, case.loss, chosen, ties=case.ties)
        utility = case.evidence.decide(rule, utility=-case.loss)[0]
        assert utility.tolist() == chosen.tolist()


@given(case=cases())
@settings(max_examples=100)
def test_zero_one_loss(case: Case) -> None:
    for rule in ONE_ACT_RULES:
        note(rule)
        zero_one, chosen = 1.0 - np.eye(case.n), case.evidence.decide(rule)[0]
        check_rule(case.decided_by(rule), rule, zero_one, chosen, ties=case.ties)


@given(case=cases())
def test_risks(case: Case) -> None:
    lower, upper = risks(case.masses, case.loss)
    assert_allclose(case.evidence.lower_risk(case.loss)[0], lower, rtol=1e-9, atol=1e-12)
    assert_allclose(case.evidence.upper_risk(case.loss)[0], upper, rtol=1e-9, atol=1e-12)


@given(case=cases(), alpha=st.floats(0, 1))
def test_hurwicz(case: Case, alpha: float) -> None:
    for loss, options in ((case.loss, {"loss": case.loss}), (1.0 - np.eye(case.n), {})):
        lower, upper = risks(case.masses, loss)
        chosen = case.evidence.decide("hurwicz", alpha=alpha, **options)[0]
        by_risk(alpha * upper + (1 - alpha) * lower, chosen, ties=case.ties)


@given(case=cases())
@settings(max_examples=60)
def test_rules_are_nested(case: Case) -> None:
    for options in ({}, {"loss": case.loss}):
        admissible, maximal, interval = (
            case.evidence.decide(rule, **options)[0]
            for rule in ("e_admissible", "maximality", "interval_dominance")
        )
        assert (admissible <= maximal).all()
        assert (maximal <= interval).all()


@given(case=cases(), cost=st.floats(0, 1))
def test_reject(case: Case, cost: float) -> None:
    loss = 1.0 - np.eye(case.n)
    lower, upper = risks(case.masses, loss)
    of = {
        "plausibility": lower,
        "belief": upper,
        "pignistic": 1 - np.asarray(case.mass.pignistic),
        "expected_loss": 1 - np.asarray(case.bet.probability),
        "hurwicz": 0.5 * (lower + upper),
        "minimax_regret": upper,
    }
    for rule in PRECISE_RULES:
        assume(abs(of[rule].min() - cost) > CLOSE)
        kept = case.evidence.decide(rule, reject=cost)[0]
        assert kept.all() if of[rule].min() > cost else kept.sum() == 1
        with_act = case.evidence.decide(rule, loss=loss, reject=cost)[0]
        assert with_act.sum() == 1
        assert with_act[-1] == (of[rule].min() > cost)


TOLERANCES = st.one_of(st.sampled_from(["u65", "u80", 0.5, 0.8, 1.0]), st.floats(0.5, 1))
EXPECTATIONS = st.sampled_from(["probability", "pignistic", "lower", "upper", "hurwicz"])


@given(case=cases(), tolerance=TOLERANCES, expectation=EXPECTATIONS)
@settings(max_examples=300)
def test_best_set_of_classes(case: Case, tolerance: Any, expectation: str) -> None:
    mass = case.bet
    sets = members(case.n)[1:]
    utility = set_utility(case.n, tolerance)[sets.sum(axis=1) - 1][:, None] * sets
    options = {"alpha": 0.3} if expectation == "hurwicz" else {}
    chosen = case.evidence.decide(
        "utility_set", tolerance=tolerance, expectation=expectation, **options
    )[0]
    best_by_value(expectations(mass, utility, expectation), sets, chosen)


@given(case=cases(), gamma=st.floats(0.5, 1), expectation=EXPECTATIONS)
@settings(max_examples=100)
def test_best_set_of_acts(case: Case, gamma: float, expectation: str) -> None:
    mass = case.bet
    sets = members(len(case.loss))[1:]
    utility = np.array([owa_weights(s.sum(), gamma) @ -np.sort(case.loss[s], axis=0) for s in sets])
    options = {"alpha": 0.3} if expectation == "hurwicz" else {}
    chosen = case.evidence.decide(
        "utility_set", loss=case.loss, tolerance=gamma, expectation=expectation, **options
    )[0]
    best_by_value(expectations(mass, utility, expectation), sets, chosen)


@given(case=cases())
def test_readings_of_the_mass_function(case: Case) -> None:
    close = {"rtol": 1e-9, "atol": 1e-12}
    ev, mass = case.evidence, case.mass
    assert_allclose(ev.masses()[0], mass.masses, **close)
    assert_allclose(ev.plausibility[0], mass.contour, **close)
    assert_allclose(ev.pignistic[0], mass.pignistic, **close)
    assert_allclose(ev.ignorance[0], mass.masses[-1], **close)
    for inside in members(case.n):
        subset = np.flatnonzero(inside).tolist()
        for name in ("mass_of", "belief_of", "plausibility_of", "commonality_of"):
            assert_allclose(getattr(ev, name)(subset)[0], getattr(mass, name)(subset), **close)
    for inside, value in ev.focal_sets(5)[0]:
        assert_allclose(value, mass.mass_of(inside), **close)
