"""Decisions: every rule, with and without losses, rejection and discounting."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import shafer
from shafer.decision import PRECISE_RULES, RULES

from .hostile_weights import Size, any_precision, hostile_array, hostile_weights, log_uniform
from .invariants import rounding

EXPECTATIONS = ("probability", "pignistic", "lower", "upper", "hurwicz")
MOST_ROWS_BY_PROGRAM = 20  # rows under rules that solve a linear program for each row


def decisions(seed: int) -> int:
    """Check that every rule chooses: exactly one if it is precise, at least one otherwise."""
    rng = np.random.default_rng(seed)
    size = Size(log_uniform(rng, 1, 200), log_uniform(rng, 1, 6), log_uniform(rng, 2, 12))
    weights = hostile_weights(rng, size).astype(any_precision(rng))
    evidence = shafer.Evidence.from_weights(weights)
    discounted = evidence.discounted(rng.choice([0.0, 1e-9, 0.3, 0.9, 1.0], len(evidence)))
    cases = sum(_on_classes(rng, kind, evidence) for kind in (evidence, discounted))
    few = slice(0, MOST_ROWS_BY_PROGRAM)
    return cases + _on_acts(rng, evidence[few]) + _on_acts(rng, discounted[few])


def _on_classes(rng: np.random.Generator, evidence: Any, base: shafer.Evidence) -> int:
    chosen = {rule: np.asarray(evidence.decide(rule)) for rule in RULES}
    for rule, sets in chosen.items():
        _check_number(rule, sets, evidence.n_classes)
    # Rounding may keep a class that is dropped on exact comparison.
    least = evidence.belief.max(axis=-1, keepdims=True) - 4 * rounding(base)[:, None]
    is_part_of(chosen["e_admissible"], evidence.plausibility >= least, "e_admissible, maximality")
    assert (chosen["maximality"] == chosen["interval_dominance"]).all()
    alpha = float(rng.choice([0.0, 0.3, 1.0]))
    _check_number("hurwicz", evidence.decide("hurwicz", alpha=alpha), evidence.n_classes)
    for rule in PRECISE_RULES:
        sets = np.asarray(evidence.decide(rule, reject=float(rng.random())))
        size = sets.sum(axis=-1)
        assert ((size == 1) | (size == evidence.n_classes)).all(), f"{rule} with reject"
    tolerance = rng.choice(["u65", "u80", "0.5", "0.7", "1.0"])
    for expectation in EXPECTATIONS:
        sets = evidence.decide(
            "utility_set",
            tolerance=str(tolerance) if tolerance[0] == "u" else float(tolerance),
            expectation=expectation,
        )
        _check_number("utility_set", sets, evidence.n_classes)
    return len(evidence) * (len(RULES) + len(PRECISE_RULES) + len(EXPECTATIONS) + 1)


def _on_acts(rng: np.random.Generator, evidence: Any) -> int:
    n_acts = int(rng.integers(1, 6))
    loss = hostile_array(rng, (n_acts, evidence.n_classes), float(rng.choice([1.0, 1e4])))
    lower, upper = evidence.lower_risk(loss), evidence.upper_risk(loss)
    assert np.isfinite(lower).all()
    assert np.isfinite(upper).all()
    chosen = {}
    for rule in RULES:
        chosen[rule] = np.asarray(evidence.decide(rule, loss=loss))
        _check_number(rule, chosen[rule], n_acts)
    _check_expected_loss(evidence, loss, chosen["expected_loss"])
    is_part_of(chosen["maximality"], chosen["interval_dominance"], "maximality, dominance")
    is_part_of(chosen["e_admissible"], chosen["maximality"], "e_admissible, maximality")
    return len(evidence) * len(RULES)


def _check_expected_loss(evidence: Any, loss: Any, chosen: NDArray[np.bool_]) -> None:
    """Check that no act has a clearly smaller expected regret than the chosen one."""
    wide = getattr(evidence, "evidence", evidence).logits.astype(np.float64)
    shifted = np.exp(wide - wide.max(axis=-1, keepdims=True))
    probability = shifted / shifted.sum(axis=-1, keepdims=True)
    regret = probability @ (loss - loss.min(axis=0)).T
    least = regret.min(axis=-1)
    # Below the smallest normal number there are no digits to be right in.
    wrong = regret[chosen] > least * (1.0 + 1e-11) + np.finfo(np.float64).tiny
    assert not wrong.any(), f"expected_loss is not the least in rows {np.flatnonzero(wrong)}"


def _check_number(rule: str, chosen: Any, n_acts: int) -> None:
    chosen = np.asarray(chosen)
    assert chosen.dtype == np.bool_
    assert chosen.shape[-1] == n_acts
    size = chosen.sum(axis=-1)
    wrong = size != 1 if rule in PRECISE_RULES else size < 1
    assert not wrong.any(), f"{rule} chose {size[wrong][:3]} acts in rows {np.flatnonzero(wrong)}"


def is_part_of(inner: NDArray[np.bool_], outer: NDArray[np.bool_], name: str) -> None:
    """Assert that one set is part of the other in every row."""
    wrong = (inner & ~outer).any(axis=-1)
    assert not wrong.any(), f"not a part: {name}, rows {np.flatnonzero(wrong)[:5]}"
