"""Sets of acts for any utility: every nonempty set of acts is an act of its own.

The utility of a set is the ordered weighted average of its members' utilities, class by class (Ma
and Denœux 2021). The rule looks at all sets, so the number of acts is limited.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from array_api_compat import array_namespace

from shafer._errors import FrameTooLargeError
from shafer._typing import Array, BoolArray, FloatArray
from shafer._validation import to_numpy
from shafer.decision.rules.act_rules import scaled
from shafer.decision.rules.dominance import choose_smallest
from shafer.decision.rules.set_utility import owa_weights
from shafer.opinion import Opinion

MOST_ACTS = 12


def best_set_of_acts(
    opinion: Opinion, loss: Array, orness: float, expectation: str, alpha: float
) -> Array:
    """Choose the set of acts of least expected loss, boolean (..., acts).

    Ties go to the first of fewest acts.
    """
    if loss.shape[0] > MOST_ACTS:
        raise FrameTooLargeError(
            f"rule 'utility_set' looks at every set of acts, so at most {MOST_ACTS} acts are "
            f"accepted; got {loss.shape[0]}. Use fewer acts. Without a loss, any number of classes "
            "is accepted."
        )
    like = opinion.belief
    xp = array_namespace(like)
    members = _sets(int(loss.shape[0]))
    table = _losses_of_sets(to_numpy(scaled(loss)), members, orness)
    there = xp.asarray(table, dtype=like.dtype, device=like.device)
    risk = _risk(opinion, there, expectation, alpha)
    chosen = choose_smallest(risk, opinion.rounding)
    position = xp.argmax(xp.astype(chosen, xp.int64), axis=-1)
    table_of_members = xp.asarray(members, device=like.device)
    flat = xp.take(table_of_members, xp.reshape(position, (-1,)), axis=0)
    return xp.reshape(flat, (*position.shape, loss.shape[0]))


def _sets(n_acts: int) -> BoolArray:
    """Return all nonempty sets, (2^A − 1, A): fewer acts first, then earlier ones."""
    sets = [c for size in range(1, n_acts + 1) for c in combinations(range(n_acts), size)]
    members = np.zeros((len(sets), n_acts), dtype=np.bool_)
    for row, inside in zip(members, sets, strict=True):
        row[list(inside)] = True
    return members


def _losses_of_sets(loss: FloatArray, members: BoolArray, orness: float) -> FloatArray:
    """Average the losses of each set's members, with the largest weight on the best, (sets, K)."""
    weights = [owa_weights(size, orness) for size in range(1, len(loss) + 1)]
    averages = [weights[inside.sum() - 1] @ np.sort(loss[inside], axis=0) for inside in members]
    return np.array(averages)


def _risk(opinion: Opinion, loss: Array, expectation: str, alpha: float) -> Array:
    """Return the expected loss; the lower expectation of a utility is the upper risk."""
    if expectation == "probability":
        return opinion.probability @ loss.T
    if expectation == "pignistic":
        return opinion.pignistic @ loss.T
    if expectation == "lower":
        return opinion.upper_risk(loss)
    if expectation == "upper":
        return opinion.lower_risk(loss)
    return alpha * opinion.upper_risk(loss) + (1.0 - alpha) * opinion.lower_risk(loss)
