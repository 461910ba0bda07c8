"""Every decision rule by its definition, over all types of evidence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

import shafer
from evidence_types import CLOSE, PAIRS, TYPES, Weights, every_type, made
from rule_oracle import best_by_value, check_rule, expectations, members, risks
from shafer import Evidence, combine
from shafer.decision import BETTING_RULES, PRECISE_RULES, RULES, owa_weights, set_utility
from shafer.decision.rules import EXPECTATIONS
from shafer.fusion import FiniteEvidence

OWA = [owa_weights(size, 0.8) for size in (1, 2, 3)]
LOSSES = arrays(float, (3, 4), elements=st.floats(-3, 3).map(lambda x: round(x, 3)))


# Every rule sees every case: to draw a case takes longer than to decide it.


@every_type
@given(pair=PAIRS, loss=LOSSES)
@settings(max_examples=25)
def test_rules(kind: str, pair: tuple[Weights, Weights], loss: Weights) -> None:
    case = TYPES[kind](*pair)
    n_classes = case.evidence.n_classes
    loss = loss[:, :n_classes]
    for rule in RULES:
        if rule == "utility_set":
            continue
        note(rule)
        zero_one, any_loss = case.evidence.decide(rule), case.evidence.decide(rule, loss=loss)
        utility = case.evidence.decide(rule, utility=-loss)
        assert_array_equal(utility, any_loss)
        for i, m in enumerate(case.bets if rule in BETTING_RULES else case.rows):
            check_rule(m, rule, 1.0 - np.eye(n_classes), zero_one[i])
            check_rule(m, rule, loss, any_loss[i])


@every_type
@pytest.mark.parametrize("expectation", EXPECTATIONS)
@given(pair=PAIRS, loss=LOSSES, tolerance=st.sampled_from(["u65", "u80", 0.5, 0.7, 1.0]))
@settings(max_examples=25)
def test_best_sets(
    kind: str, expectation: str, pair: tuple[Weights, Weights], loss: Weights, tolerance: Any
) -> None:
    case = TYPES[kind](*pair)
    n_classes = case.evidence.n_classes
    sets = members(n_classes)[1:]
    worth = set_utility(n_classes, tolerance)[sets.sum(axis=1) - 1][:, None] * sets
    options = {"expectation": expectation} | ({"alpha": 0.3} if expectation == "hurwicz" else {})
    chosen = case.evidence.decide("utility_set", tolerance=tolerance, **options)
    of_acts = case.evidence.decide(
        "utility_set", loss=loss[:, :n_classes], tolerance=0.8, **options
    )
    # Acts that are worse than some other whatever the class are left out.
    never = loss[:, :n_classes].min(axis=1) > loss[:, :n_classes].max(axis=1).min()
    act_sets = np.array([inside for inside in members(3)[1:] if not inside[never].any()])
    utility = np.array(
        [OWA[inside.sum() - 1] @ -np.sort(loss[inside, :n_classes], axis=0) for inside in act_sets]
    )
    for i, m in enumerate(case.bets):
        best_by_value(expectations(m, worth, expectation), sets, chosen[i])
        best_by_value(expectations(m, utility, expectation), act_sets, of_acts[i])


@every_type
@given(pair=PAIRS, loss=LOSSES)
@settings(max_examples=25)
def test_risks(kind: str, pair: tuple[Weights, Weights], loss: Weights) -> None:
    case = TYPES[kind](*pair)
    loss = loss[:, : case.evidence.n_classes]
    expected = np.array([risks(m.masses, loss) for m in case.rows])
    assert_allclose(case.evidence.lower_risk(loss), expected[:, 0], **CLOSE)
    assert_allclose(case.evidence.upper_risk(loss), expected[:, 1], **CLOSE)


@every_type
def test_rejection(kind: str) -> None:
    case = made(kind, n=20)
    loss = 1.0 - np.eye(3)
    lower, upper = np.moveaxis([risks(m.masses, loss) for m in case.rows], 1, 0)
    bet = 1.0 - np.array([m.pignistic for m in case.rows])
    before_discounting = 1.0 - np.array([m.probability for m in case.bets])
    by_rule = {
        "plausibility": lower,
        "belief": upper,
        "pignistic": bet,
        "expected_loss": before_discounting,
        "hurwicz": 0.5 * (lower + upper),
        "minimax_regret": upper,
    }
    assert set(by_rule) == set(PRECISE_RULES)
    for rule, risk in by_rule.items():
        cost = float(np.median(risk.min(axis=1)))
        rejected = risk.min(axis=1) > cost + 1e-9
        clear = np.abs(risk.min(axis=1) - cost) > 1e-9
        assert rejected[clear].any()
        assert not rejected[clear].all()
        kept = case.evidence.decide(rule, reject=cost)
        assert_array_equal(kept.all(axis=1)[clear], rejected[clear])
        named = case.evidence.acts(rule, loss=loss, reject=cost)
        found = np.array([row == ("reject",) for row in named])
        assert_array_equal(found[clear], rejected[clear])


@every_type
def test_ties_go_to_the_first(kind: str) -> None:
    a = np.array([[[2.0, 0.0, 0.0], [-2.0, 0.0, 0.0]], [[0.1, 0.7, 0.7], [-0.3, 0.7, 0.7]]])
    tied = [[0, 1], [1, 2]]  # of the first row under the pignistic rule, of the second always
    case = TYPES[kind](np.concatenate([a, a[::-1]]), np.concatenate([a, a[::-1]]))
    for rule in PRECISE_RULES:
        for options in ({}, {"loss": 1.0 - np.eye(3)}):
            chosen = case.evidence.decide(rule, **options).argmax(axis=1)
            assert chosen[1] == chosen[2] == tied[1][0]
            alone = [case.evidence[i].decide(rule, **options).argmax() for i in range(4)]
            assert chosen.tolist() == alone


@every_type
def test_unknown_options(kind: str) -> None:
    ev = made(kind).evidence
    with pytest.raises(ValueError, match="rule must be one of 'plausibility'"):
        ev.decide("guess")
    with pytest.raises(TypeError, match="Unknown option 'cost'"):
        ev.acts("belief", cost=1)


def test_large_frames() -> None:
    random = np.random.default_rng(0)
    sources = [Evidence.from_weights(random.normal(size=(2, 2, 20))) for _ in range(2)]
    mixed = combine(sources, reliability=[0.8, 0.6])
    kept = mixed.decide("e_admissible")
    assert (kept <= mixed.decide("maximality")).all()
    assert kept.any(axis=1).all()
    with pytest.raises(shafer.FrameTooLargeError, match="at most 16 classes are accepted; got 20"):
        mixed.decide("utility_set", expectation="lower")
    assert isinstance(combine(sources[:1], reliability=1.0), Evidence)
    assert not isinstance(mixed, FiniteEvidence)
