"""Rules for any loss: acts in rows, classes in columns, lower and upper risks by sorting.

All rules compare acts, so a constant taken off all losses changes nothing; they are centred and
scaled to [−1, 1] first. Every comparison allows for ``Opinion.rounding``: one act is chosen as the
first of those that cannot be told from the best, and none is dropped unless it is really worse.

Expected loss is compared in another way: as regret, a sum of terms that are not negative. It keeps
its relative precision for losses of any size.
"""

from __future__ import annotations

from array_api_compat import array_namespace

from shafer._typing import Array
from shafer.decision.rules.dominance import choose_smallest, levels, undominated
from shafer.opinion import Opinion

_SOFTMAX_ULPS = 800  # a probability e^{-745}, the smallest double, has so many ulps of error


def scaled(loss: Array) -> Array:
    """Bring the losses to [−1, 1] by one shift and one factor."""
    xp = array_namespace(loss)
    low, high = xp.min(loss), xp.max(loss)
    half = 0.5 * high - 0.5 * low
    centred = loss - (0.5 * high + 0.5 * low)
    return centred / xp.where(half > 0, half, xp.ones_like(half))


def least_lower_risk(opinion: Opinion, loss: Array) -> Array:
    """Choose the act of least lower risk (optimistic)."""
    return choose_smallest(opinion.lower_risk(scaled(loss)), opinion.rounding)


def least_upper_risk(opinion: Opinion, loss: Array) -> Array:
    """Choose the act of least upper risk (pessimistic)."""
    return choose_smallest(opinion.upper_risk(scaled(loss)), opinion.rounding)


def least_pignistic_risk(opinion: Opinion, loss: Array) -> Array:
    """Choose the act of least expected loss under the pignistic probability."""
    return choose_smallest(opinion.pignistic @ scaled(loss).T, opinion.rounding)


def least_expected_loss(opinion: Opinion, loss: Array) -> Array:
    r"""Choose the act of least expected loss under the probabilities one bets with.

    :math:`\sum_k p_k (L_{fk} - \min_g L_{gk})` orders the acts as the expected loss does, and is
    computed without cancellation. p are the probabilities before any discount. Acts within rounding
    of the best (some :math:`10^{-13}` of its expected regret) are tied, and the first is chosen.
    """
    base = opinion.base
    xp = array_namespace(loss)
    risk = base.probability @ (loss - xp.min(loss, axis=0, keepdims=True)).T
    ulps = _SOFTMAX_ULPS + 4 * int(loss.shape[1])
    relative = base.log_rounding + ulps * float(xp.finfo(risk.dtype).eps)
    return choose_smallest(risk, relative * xp.min(risk, axis=-1, keepdims=True))


def least_hurwicz_risk(opinion: Opinion, loss: Array, alpha: float) -> Array:
    """Choose the act of least α · upper + (1 − α) · lower risk."""
    loss = scaled(loss)
    risk = alpha * opinion.upper_risk(loss) + (1.0 - alpha) * opinion.lower_risk(loss)
    return choose_smallest(risk, opinion.rounding)


def least_upper_regret(opinion: Opinion, loss: Array) -> Array:
    """Choose the act whose regret, the loss beyond that of the best act, has least upper risk."""
    xp = array_namespace(loss)
    loss = scaled(loss)
    regret = loss - xp.min(loss, axis=0, keepdims=True)
    return choose_smallest(opinion.upper_risk(scaled(regret)), opinion.rounding)


def not_interval_dominated(opinion: Opinion, loss: Array) -> Array:
    """Keep every act whose lower risk no other act's upper risk undercuts."""
    xp = array_namespace(loss)
    loss = scaled(loss)
    best = xp.min(opinion.upper_risk(loss), axis=-1, keepdims=True)
    return opinion.lower_risk(loss) <= best + 2.0 * opinion.rounding


def not_weakly_dominated(opinion: Opinion, loss: Array) -> Array:
    """Keep every act that no other matches in both risks and beats in one."""
    loss = scaled(loss)
    lower = levels(opinion.lower_risk(loss), opinion.rounding)
    upper = levels(opinion.upper_risk(loss), opinion.rounding)
    return undominated(-lower, -upper)


def maximal(opinion: Opinion, loss: Array) -> Array:
    r"""Keep every act f unless some g has :math:`E_*(L_f - L_g) > 0`: exchanging them surely pays.

    What interval dominance drops is dropped here too, and no act is needed to drop it or another:
    only acts that some row keeps are compared.
    """
    xp = array_namespace(loss)
    loss = scaled(loss)
    kept = not_interval_dominated(opinion, loss)
    asked = xp.any(xp.reshape(kept, (-1, loss.shape[0])), axis=0)
    rivals = xp.take(loss, xp.nonzero(asked)[0], axis=0)
    columns = []
    for act in range(loss.shape[0]):
        column = kept[..., act]
        if bool(asked[act]):
            gain = opinion.lower_risk(loss[act : act + 1, :] - rivals)
            column = column & ~xp.any(gain > 2.0 * opinion.rounding, axis=-1)
        columns.append(column)
    return xp.stack(columns, axis=-1)
