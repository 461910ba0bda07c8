"""Rules by name: ties, options and errors; decisions where numbers are large, small or equal."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

import shafer
from evidence_types import every_type, made
from shafer._checks import to_numpy
from shafer.decision import PRECISE_RULES, RULES
from shafer.decision.act_rules import scaled
from shafer.decision.class_rules import interval_dominance
from shafer.decision.dominance import choose_largest
from shafer.decision.set_utility import _mean_rank

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "deciding.md"


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_named_where_readers_look(rule: str) -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    assert f"\n| `{rule}` |" in guide, f"Add a row for {rule!r} to docs/guide/deciding.md."
    callers = [shafer.Evidence.decide]
    if rule in PRECISE_RULES:
        callers += [shafer.Explainer.predict, shafer.EvidentialClassifier.predict]
    for caller in callers:
        assert f'"{rule}"' in str(caller.__doc__), f"Name {rule!r} in {caller.__qualname__}."


# Rules by name: ties, options and their errors, libraries, many classes.


LIBRARIES = [np.asarray, torch.asarray, array_api_strict.asarray]
LOSS = np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 1.0], [2.0, 1.5, 0.0], [0.7, 0.7, 0.7]])


def evidence(asarray: Any = np.asarray, dtype: str = "float64") -> shafer.Evidence:
    weights = np.random.default_rng(4).normal(size=(40, 3, 3)).astype(dtype) * 0.5
    return shafer.Evidence.from_weights(asarray(weights), classes=["a", "b", "c"])


@pytest.mark.parametrize("asarray", LIBRARIES)
def test_choose_largest_takes_the_first_on_a_tie(asarray: Any) -> None:
    score = asarray([[0.2, 0.5, 0.5], [1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    chosen = choose_largest(score)
    expected = [[False, True, False], [True, False, False], [True, False, False]]
    assert type(chosen) is type(score)
    assert_array_equal(to_numpy(chosen), expected)


@pytest.mark.parametrize("asarray", LIBRARIES)
def test_interval_dominance(asarray: Any) -> None:
    belief = asarray([[0.5, 0.5, 0.0], [0.6, 0.1, 0.0], [0.0, 0.0, 0.0]])
    plausibility = asarray([[0.5, 0.5, 0.4], [0.8, 0.3, 0.6], [1.0, 1.0, 1.0]])
    expected = [[True, True, False], [True, False, True], [True, True, True]]
    assert_array_equal(to_numpy(interval_dominance(belief, plausibility)), expected)


@pytest.mark.parametrize("asarray", [np.asarray, torch.asarray])
@pytest.mark.parametrize("decimals", [0, 1, 2])
@pytest.mark.parametrize("n_classes", [3, 4, 5, 8])
def test_classes_with_the_same_evidence_are_tied(
    asarray: Any, decimals: int, n_classes: int
) -> None:
    rng = np.random.default_rng(n_classes)
    weights = (2.0 * rng.normal(size=(1500, 2, n_classes))).round(decimals)
    first, second = rng.permuted(np.tile(np.arange(n_classes), (1500, 1)), axis=1)[:, :2].T
    first, second = np.minimum(first, second), np.maximum(first, second)
    row = np.arange(1500)
    weights[row, :, second] = weights[row, :, first]
    ev = shafer.Evidence.from_weights(asarray(weights))
    for rule in RULES:
        chosen = to_numpy(ev.decide(rule))
        if rule in PRECISE_RULES:  # the first is chosen before the second
            assert not chosen[row, second].any(), rule
        elif rule == "utility_set":
            assert (chosen[row, first] >= chosen[row, second]).all()
        else:
            assert_array_equal(chosen[row, first], chosen[row, second], err_msg=rule)


@pytest.mark.parametrize("asarray", LIBRARIES)
@pytest.mark.parametrize("never", [1e6, 1e9, 1e15])
def test_an_act_that_is_never_right_changes_nothing(never: float, asarray: Any) -> None:
    ev = evidence(asarray)
    with_it = np.insert(LOSS, 1, never, axis=0)
    for rule in RULES:
        chosen = to_numpy(ev.decide(rule, loss=with_it))
        expected = to_numpy(ev.decide(rule, loss=LOSS))
        assert_array_equal(np.delete(chosen, 1, axis=1), expected, err_msg=rule)
        assert not chosen[:, 1].any(), rule


def test_a_catastrophe_does_not_blur_the_other_acts() -> None:
    """Sets of acts without the one that may cost 1e8 are compared as if it were not there."""
    ev = evidence()
    catastrophe = np.concatenate([LOSS, [[0.0, 0.5, 1e8]]])
    for expectation in ("probability", "pignistic", "lower"):
        chosen = ev.decide("utility_set", loss=catastrophe, expectation=expectation)
        assert not chosen[:, 4].any()
        expected = ev.decide("utility_set", loss=LOSS, expectation=expectation)
        assert_array_equal(chosen[:, :4], expected)


@pytest.mark.parametrize("scale", [1e-3, 0.1, 1.0, 20.0, 1e3])
def test_single_precision_decides_alike_without_a_warning(scale: float) -> None:
    weights = scale * np.random.default_rng(1).normal(size=(400, 3, 4))
    double = shafer.Evidence.from_weights(weights)
    single = shafer.Evidence.from_weights(weights.astype(np.float32))
    loss = np.random.default_rng(2).random((5, 4))
    for rule, options in itertools.product(RULES, ({}, {"loss": loss})):
        same = (double.decide(rule, **options) == single.decide(rule, **options)).all(axis=1)
        assert same.mean() > 0.97, rule


def test_hurwicz_reaches_both_ends() -> None:
    ev = evidence()
    assert_array_equal(ev.decide("hurwicz", alpha=0.0), ev.decide("plausibility"))
    assert_array_equal(ev.decide("hurwicz", alpha=1.0), ev.decide("belief"))


def test_precise_rules() -> None:
    assert set(PRECISE_RULES) < set(RULES)
    ev = evidence()
    for rule in PRECISE_RULES:
        assert (ev.decide(rule).sum(axis=1) == 1).all()
        assert (ev.decide(rule, loss=LOSS).sum(axis=1) == 1).all()


@pytest.mark.parametrize("asarray", LIBRARIES)
@pytest.mark.parametrize("rule", RULES)
def test_every_library_decides_alike(rule: str, asarray: Any) -> None:
    here, there = evidence(), evidence(asarray)
    given: list[dict[str, Any]] = [{}, {"loss": LOSS}]
    if rule == "utility_set":
        given += [{"expectation": e} for e in ("pignistic", "lower", "upper", "hurwicz")]
    elif rule in PRECISE_RULES:
        given += [{"reject": 0.4}, {"loss": LOSS, "reject": 0.5}]
    for options in given:
        for one, other in ((here, there), (here.discounted(0.8), there.discounted(0.8))):
            chosen = other.decide(rule, **options)
            assert type(chosen) is type(there.logits)
            assert_array_equal(to_numpy(chosen), one.decide(rule, **options))


@pytest.mark.parametrize("rule", RULES)
def test_single_precision(rule: str) -> None:
    wide, narrow = evidence(), evidence(dtype="float32")
    for options in ({}, {"loss": LOSS}):
        assert_array_equal(narrow.decide(rule, **options), wide.decide(rule, **options))


@pytest.mark.parametrize("rule", RULES)
def test_components_are_decided_one_by_one(rule: str) -> None:
    parts = evidence().components
    for options in ({}, {"loss": LOSS}):
        chosen = parts.decide(rule, **options)
        assert chosen.shape[:2] == (40, 3)
        alone = shafer.Evidence.from_weights(evidence().weights[:, 1:2])
        assert_array_equal(chosen[:, 1], alone.decide(rule, **options))


# Ties.


def test_nothing_known_keeps_everything_and_chooses_the_first() -> None:
    ev = shafer.Evidence.from_weights(np.zeros((1, 1, 4)))
    for rule in ("interval_dominance", "maximality", "e_admissible", "weak_dominance"):
        assert ev.decide(rule).all()
        assert ev.decide(rule, loss=1 - np.eye(4)).all()
    for rule in PRECISE_RULES:
        assert ev.decide(rule).tolist() == [[True, False, False, False]]
        assert ev.decide(rule, loss=1 - np.eye(4)).tolist() == [[True, False, False, False]]
    # Bel is zero but for the whole frame; Pl is one for all, so that fewer are better.
    assert ev.decide("utility_set", expectation="lower").all()
    assert ev.decide("utility_set", expectation="upper").sum() == 1


@pytest.mark.parametrize("scale", [1e-9, 0.1, 3.0, 1e3])
def test_symmetric_evidence_and_losses_keep_both_or_the_first(scale: float) -> None:
    # Classes 0 and 1, and acts 0 and 1, are mirror images; rounding must not tell them apart.
    weights = np.array([[[0.3, 0.3, -0.6], [-0.1, -0.1, 0.2], [0.7, 0.7, 0.1]]]) * scale
    ev = shafer.Evidence.from_weights(weights)
    loss = np.array([[0.1, 1.0, 0.6], [1.0, 0.1, 0.6], [0.9, 0.9, 0.9]])
    rules = [rule for rule in RULES if rule != "utility_set"]
    for rule, options in itertools.product(rules, ({}, {"loss": loss})):
        chosen = ev.decide(rule, **options)[0]
        if rule in PRECISE_RULES:
            assert not chosen[1], rule
        else:
            assert chosen[0] == chosen[1], rule
            assert chosen.any(), rule


def test_equal_acts_stay_together() -> None:
    ev = evidence()
    twice = np.vstack([LOSS, LOSS])
    for rule in set(RULES) - {"utility_set"}:
        once, both = ev.decide(rule, loss=LOSS), ev.decide(rule, loss=twice)
        assert_array_equal(both[:, :4], once)
        assert_array_equal(both[:, 4:], once if rule not in PRECISE_RULES else False)


def test_weak_dominance_drops_what_is_matched_and_beaten_once() -> None:
    ev = shafer.Evidence.from_weights(np.zeros((1, 1, 2)))
    # Act 1 has the upper risk of act 0 and a larger lower one; act 2 has the same as act 0.
    loss = [[0.0, 1.0], [0.2, 1.0], [1.0, 0.0], [0.3, 0.9]]
    assert ev.decide("weak_dominance", loss=loss).tolist() == [[True, False, True, True]]
    assert ev.decide("interval_dominance", loss=loss).all()


def test_the_most_plausible_of_many_that_round_to_one() -> None:
    # Weights against of 1e-18 leave every plausibility at one; the order is not lost.
    weights = -np.array([[[3e-18, 1e-18, 2e-18]]])
    ev = shafer.Evidence.from_weights(weights)
    assert (ev.plausibility == 1.0).all()
    assert ev.decide("plausibility").tolist() == [[False, True, False]]
    assert ev.decide("hurwicz", alpha=0.0).tolist() == [[False, True, False]]


def test_constants_and_factors_change_nothing() -> None:
    ev = evidence()
    for rule in RULES:
        for other in (LOSS + 1e6, LOSS * 1e-200, LOSS * 1e200):
            assert_array_equal(ev.decide(rule, loss=other), ev.decide(rule, loss=LOSS))


# Named acts and rejection.


def test_acts_in_words() -> None:
    ev = evidence()[:2]
    named = {"treat": [5.0, 0.2, 0.0], "send home": [0.0, 9.0, 9.0], "refer to a doctor": [1, 1, 1]}
    chosen = ev.decide("maximality", loss=named)
    expected = [tuple(np.array(list(named))[row]) for row in chosen]
    assert ev.acts("maximality", loss=named) == expected
    assert ev.acts() == [tuple(ev.classes[row]) for row in ev.decide()]
    assert ev.acts("belief", loss=LOSS)[0][0] in range(4)
    table = {"treat": torch.tensor([1.0, 0.0, 0.0]), "not": np.array([0, 1, 1])}
    assert ev.acts("belief", loss=table) == ev.acts(
        "belief", utility={name: -np.asarray(row) for name, row in table.items()}
    )
    assert len(ev.components.acts()[0]) == 3


def test_reject_is_the_last_act() -> None:
    ev = evidence()
    assert_array_equal(
        ev.decide("maximality", loss=LOSS[:3], reject=0.7), ev.decide("maximality", loss=LOSS)
    )
    assert set(ev.acts("belief", loss=LOSS[:3], reject=-9.0)) == {("reject",)}
    assert ev.decide("plausibility", reject=0.0).all(axis=1).any()
    assert_array_equal(ev.decide("belief", reject=1.0), ev.decide("belief"))


# What is refused.


@pytest.mark.parametrize(
    ("rule", "options", "message"),
    [
        ("best", {}, "rule must be one of 'plausibility'.*got 'best'"),
        (5, {}, "rule must be one of"),
        (
            "belief",
            {"alpha": 0.5},
            "not take alpha; got alpha=0.5. It takes no options",
        ),
        ("hurwicz", {"tolerance": 0.8}, "got tolerance=0.8. It takes alpha"),
        ("hurwicz", {"alpha": 1.5}, "alpha must be a number from 0 .* got 1.5"),
        ("hurwicz", {"alpha": True}, "alpha must be a number from 0 .* got True"),
        ("utility_set", {"alpha": 0.5}, "alpha needs expectation='hurwicz'; got"),
        ("utility_set", {"expectation": "mean"}, "expectation must be one of .* got 'mean'"),
        ("utility_set", {"tolerance": 0.2}, "tolerance must be a number from 0.5 to 1"),
        ("utility_set", {"tolerance": "u65", "loss": LOSS}, "'u65' cannot be used with a loss"),
        ("utility_set", {"loss": np.ones((13, 3))}, "at most 12 acts are accepted; got 13"),
        ("utility_set", {"reject": 0.1}, "reject= needs a rule that chooses one class"),
        ("maximality", {"reject": 0.1}, "reject= needs a rule that chooses one class"),
        ("belief", {"reject": 1.5}, "reject must be a number from 0 to 1 under 0-1 loss; got 1.5"),
        ("belief", {"reject": np.nan, "loss": LOSS}, "reject must be a finite number; got nan"),
        ("belief", {"reject": 0.1, "utility": LOSS}, "reject is a cost and needs a loss"),
        (
            "belief",
            {"reject": 0.1, "loss": {"reject": [1, 1, 1]}},
            "has an act named 'reject'",
        ),
        ("belief", {"loss": LOSS, "utility": LOSS}, "Give loss or utility, not both"),
        ("belief", {"loss": LOSS[:, :2]}, r"each of the 3 classes; got shape \(4, 2\)"),
        ("belief", {"loss": LOSS[:0]}, r"one row for each act .* got shape \(0, 3\)"),
        ("belief", {"loss": LOSS[0]}, r"loss must have 2 dimension"),
        ("belief", {"loss": {}}, "loss must name at least one act; got an empty mapping"),
        ("belief", {"loss": {"a": [1, 2]}}, r"loss\['a'\] must hold one number .* got 2"),
        ("belief", {"loss": {"a": [1, 2, np.inf]}}, r"loss\['a'\] must be finite"),
        ("belief", {"utility": [[1, np.nan, 2]]}, "utility must be finite"),
        ("belief", {"loss": [[1e308, -1e308, 0]]}, "values of loss are too large for float64"),
    ],
)
def test_refusals(rule: Any, options: dict[str, Any], message: str) -> None:
    for ev in (evidence(), evidence().discounted(0.5)):
        with pytest.raises(ValueError, match=message):
            ev.decide(rule, **options)


def test_unknown_options() -> None:
    for ev in (evidence(), evidence().discounted(0.5)):
        with pytest.raises(TypeError, match="Unknown option 'cost'; the options are loss, utility"):
            ev.acts("belief", cost=1)
    with pytest.raises(ValueError, match="loss must have 2 dimension"):
        evidence().lower_risk([1, 2, 3])
    with pytest.raises(ValueError, match="3 classes"):
        evidence().upper_risk(np.ones((2, 4)))
    with pytest.raises(ValueError, match="values of loss are too large for float32"):
        evidence(dtype="float32").upper_risk(LOSS * 1e300)


# Many classes, large weights.


@pytest.mark.parametrize("scale", [0.0, 1e-3, 0.3, 3.0, 1e4])
def test_a_thousand_classes(scale: float) -> None:
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(3, 4, 1000)) * scale
    weights[2] = -np.abs(weights[2])
    ev = shafer.Evidence.from_weights(weights)
    loss = rng.normal(size=(5, 1000))
    for one in (ev, ev.discounted([0.0, 0.4, 1.0])):
        kept = {rule: one.decide(rule) for rule in RULES}
        for rule, chosen in kept.items():
            assert chosen.any(axis=1).all(), rule
            assert one.decide(rule, loss=loss).any(axis=1).all(), rule
        assert (kept["e_admissible"] <= kept["maximality"]).all()
        for expectation in ("pignistic", "lower", "upper", "hurwicz"):
            assert one.decide("utility_set", expectation=expectation).any(axis=1).all()
        lower, upper = one.lower_risk(loss), one.upper_risk(loss)
        assert (lower <= upper + 1e-9).all()
        assert np.isfinite(lower).all()
        assert np.isfinite(upper).all()


# Decisions where numbers are large, small or equal.


ZERO_ONE = [[0, 1], [1, 0]]


@pytest.mark.parametrize("library", [np.asarray, torch.asarray])
@pytest.mark.parametrize("size", [1e3, 1e4, 1e5, 1e6, 1e9])
def test_large_weights_in_single_precision(library: Any, size: float) -> None:
    weights = library(np.array([[[-size, size]], [[size, -size]]], dtype=np.float32))
    ev = shafer.Evidence.from_weights(weights)
    for rule in RULES:
        for options in ({}, {"loss": ZERO_ONE}):
            chosen = to_numpy(ev.decide(rule, **options))
            assert chosen.tolist() == [[False, True], [True, False]], rule


@pytest.mark.parametrize("size", [1e9, 1e12, 1e15])
def test_no_tolerance_decides_against_certainty(size: float) -> None:
    ev = shafer.Evidence.from_weights([[[-size, size]]])
    for rule in RULES:
        assert ev.decide(rule, loss=ZERO_ONE).tolist() == [[False, True]]


@pytest.mark.parametrize("library", [np.asarray, torch.asarray])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1), [2, 0, 1]])
def test_exact_ties_go_to_the_first(library: Any, dtype: Any, order: Any) -> None:
    rows = np.array(
        [[[2.0, 0.0], [-2.0, 0.0]], [[0.7, 0.0], [-0.7, 0.0]], [[30.0, 0.0], [-30.0, 0.0]]], dtype
    )
    ev = shafer.Evidence.from_weights(library(rows))[order]
    for rule in PRECISE_RULES:
        assert to_numpy(ev.decide(rule)).tolist() == [[True, False]] * 3, rule
        assert to_numpy(ev.decide(rule, loss=ZERO_ONE)).tolist() == [[True, False]] * 3, rule


def test_small_differences_between_losses_still_count() -> None:
    """An act that is never best is dropped, also where it is worse by a billionth."""
    ev = shafer.Evidence.from_weights(np.zeros((1, 1, 2)))  # any probability is compatible
    shape = np.array([[0.0, 1.0], [1.0, 0.0], [0.6, 0.6]])
    for scale in (1.0, 1e-3, 1e-9):
        loss = np.array([-1.0, 1.0]) + scale * shape
        assert ev.decide("maximality", loss=loss).tolist() == [[True, True, True]]
        assert ev.decide("e_admissible", loss=loss).tolist() == [[True, True, False]]


@pytest.mark.parametrize("size", [2, 3, 7])
@pytest.mark.parametrize("rate", [1e-4, 1e-3, 1.4e-3, 2e-2, 0.5])
def test_mean_rank_of_nearly_equal_weights(size: int, rate: float) -> None:
    q = np.exp(-rate * np.arange(size))
    expected = (np.arange(size) * q).sum() / q.sum()
    found = _mean_rank(np.array([float(size)]), np.array([rate]))
    assert found[0] == pytest.approx(expected, abs=2e-13 / rate**0.5)


@every_type
def test_hurwicz_lies_between_plausibility_and_belief(kind: str) -> None:
    ev = made(kind, n_classes=4, n=60).evidence
    for alpha, rule in ((0.0, "plausibility"), (1.0, "belief")):
        found = to_numpy(ev.decide("hurwicz", alpha=alpha))
        assert found.tolist() == ev.decide(rule).tolist()
        assert found.any(axis=0).all()  # no class is chosen by default


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9, 1.0])
def test_sums_that_differ_by_rounding_are_tied(alpha: float) -> None:
    assert 0.1 + 0.2 > 0.3
    ev = shafer.Evidence.from_weights([[[0.3, 0.1, -1.0], [0.0, 0.2, 0.0], [-0.1, -0.1, 0.0]]])
    assert ev.weights_for[0, 0] < ev.weights_for[0, 1]
    assert ev.decide("hurwicz", alpha=alpha).tolist() == [[True, False, False]]


# Losses of any size are brought to one unit before they are compared.


@pytest.mark.parametrize("unit", [1e-300, 1.0, 1e307])
def test_scaled_losses(unit: float) -> None:
    loss = np.array([[2.0, 4.0, 3.0], [7.0, 2.0, 12.0]])
    expected = [[-1.0, -0.6, -0.8], [0.0, -1.0, 1.0]]
    assert_allclose(scaled(unit * loss), expected, atol=1e-15)
    assert_allclose(scaled(-unit * loss), -np.array(expected), atol=1e-15)


def test_losses_that_are_all_the_same() -> None:
    assert_array_equal(scaled(np.full((2, 3), 5.0)), np.zeros((2, 3)))
