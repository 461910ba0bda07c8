"""Every decision rule by its definition over all 2^K masses, to compare answers with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from shafer.belief import MassFunction

CLOSE = 1e-8  # what brute force calls a tie: either answer is right


def members(n_classes: int) -> NDArray[Any]:
    """Return which class is in which set, (2^K, K), by bitmask."""
    return (np.arange(2**n_classes)[:, None] >> np.arange(n_classes) & 1).astype(bool)


def risks(masses: NDArray[Any], loss: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sum the least and the largest loss over every focal set."""
    inside = members(loss.shape[1])[1:]
    lower = np.array([masses[1:] @ np.where(inside, row, np.inf).min(axis=1) for row in loss])
    upper = np.array([masses[1:] @ np.where(inside, row, -np.inf).max(axis=1) for row in loss])
    return lower, upper


def no_admissibility(mass: MassFunction, loss: NDArray[Any], act: int) -> float:
    """Return min over compatible P of max_g E_P(L_f − L_g), with all 2^K − 1 constraints."""
    n = len(mass.frame)
    inside = members(n)[1:]
    bel = np.array([mass.masses[1:][~(inside & ~b).any(axis=1)].sum() for b in inside])
    gains = loss[act] - loss
    above = np.hstack([gains, -np.ones((len(loss), 1))])
    believed = np.hstack([-inside.astype(float), np.zeros((len(inside), 1))])
    done = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.vstack([above, believed]),
        b_ub=np.concatenate([np.zeros(len(loss)), -bel]),
        A_eq=np.append(np.ones(n), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, 1)] * n + [(None, None)],
    )
    return float(done.fun)


def by_risk(risk: NDArray[Any], chosen: NDArray[Any], *, ties: bool = True) -> None:
    """Check a rule that chooses one: no act is clearly better, and none before it is as good."""
    assert chosen.sum() == 1
    act = int(chosen.argmax())
    assert risk[act] <= risk.min() + CLOSE
    # Risks close to 0 and 1 have lost the digits by which a rule tells acts apart in logarithms.
    saturated = abs(risk[act] - round(risk[act])) < 1e-9
    # Discounted evidence chooses as without the discount, which may create ties: ``ties=False``.
    assert not ties or saturated or (risk[:act] > risk.min()).all(), "ties go to the first"


def by_margin(margin: NDArray[Any], kept: NDArray[Any]) -> None:
    """Check a rule that keeps what has margin ≤ 0, away from ties; and that it keeps something."""
    assert kept.any()
    clear = np.abs(margin) > CLOSE
    assert (kept == (margin <= 0))[clear].all()
    assert kept[margin == 0].all()


def weak_margins(lower: NDArray[Any], upper: NDArray[Any]) -> NDArray[Any]:
    """Return 1 where an act is clearly dominated, −1 where it clearly is not, else NaN."""
    margin = np.full(len(lower), -1.0)
    for f in range(len(lower)):
        less_l, less_u = lower[f] - lower, upper[f] - upper
        if ((less_l > CLOSE) & (less_u > CLOSE)).any():
            margin[f] = 1.0
        elif ((less_l >= -CLOSE) & (less_u >= -CLOSE)).sum() > 1:
            margin[f] = np.nan  # another act, not only f itself, is close in one of the two
    return margin


def check_rule(
    mass: MassFunction, rule: str, loss: NDArray[Any], chosen: NDArray[Any], *, ties: bool = True
) -> None:
    """Compare what a rule chose with its definition."""
    lower, upper = risks(mass.masses, loss)
    if rule == "plausibility":
        # It compares logits, which differ where plausibilities are the same number. Exact ties
        # are tested in decision/test_rules.py.
        by_risk(lower, chosen, ties=False)
    elif rule == "belief":
        by_risk(upper, chosen, ties=ties)
    elif rule == "pignistic":
        by_risk(loss @ np.asarray(mass.pignistic), chosen, ties=ties)
    elif rule == "expected_loss":  # of the mass function one bets with; logits, as above
        by_risk(loss @ np.asarray(mass.probability), chosen, ties=False)
    elif rule == "hurwicz":
        by_risk(0.5 * lower + 0.5 * upper, chosen, ties=ties)
    elif rule == "minimax_regret":
        by_risk(risks(mass.masses, loss - loss.min(axis=0))[1], chosen, ties=ties)
    elif rule == "interval_dominance":
        by_margin(lower - upper.min(), chosen)
    elif rule == "maximality":
        worst = [risks(mass.masses, loss[f] - loss)[0].max() for f in range(len(loss))]
        by_margin(np.array(worst), chosen)
    elif rule == "e_admissible":
        margin = np.array([no_admissibility(mass, loss, f) for f in range(len(loss))])
        by_margin(np.where(np.abs(margin) < CLOSE, 1e-300, margin), chosen)
    elif rule == "weak_dominance":
        margin = weak_margins(lower, upper)
        known = ~np.isnan(margin)
        assert chosen.any()
        assert (chosen == (margin < 0))[known].all()
    else:
        raise AssertionError(f"Add the definition of the rule {rule!r} to check_rule.")


def expectations(mass: MassFunction, utility: NDArray[Any], name: str) -> NDArray[Any]:
    """Return the expectation of each row of a utility, by definition."""
    if name in ("probability", "pignistic"):
        return utility @ np.asarray(getattr(mass, name))
    lower, upper = risks(mass.masses, utility)
    return {"lower": lower, "upper": upper, "hurwicz": 0.3 * lower + 0.7 * upper}[name]


def best_by_value(value: NDArray[Any], sets: NDArray[Any], chosen: NDArray[Any]) -> None:
    """Check that the set is the best up to a tie, and that no smaller set is clearly as good."""
    position = int(np.flatnonzero((sets == chosen).all(axis=1))[0])
    assert value[position] >= value.max() - CLOSE
    smaller = sets.sum(axis=1) < chosen.sum()
    assert (value[smaller] < value[position]).all()
