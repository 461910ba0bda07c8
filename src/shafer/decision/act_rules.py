"""Rules for any loss: acts in rows, classes in columns, lower and upper risks by sorting.

All rules compare acts, so a constant taken off all losses changes nothing; they are centred and
scaled to [−1, 1] first. Every comparison allows for ``Masses.rounding``: one act is chosen as the
first of those that cannot be told from the best, and none is dropped unless it is really worse.

Expected loss is compared in another way: as regret, a sum of terms that are not negative. It keeps
its relative precision for losses of any size.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._kernels.products import product
from shafer._masses.masses import Masses
from shafer._typing import Array, BoolArray, FloatArray
from shafer.decision.dominance import choose_smallest, levels, undominated
from shafer.decision.set_utility import owa_weights
from shafer.errors import FrameTooLargeError

_SOFTMAX_ULPS = 800  # a probability e^{-745}, the smallest double, has so many ulps of error


def scaled(loss: Array) -> Array:
    """Bring the losses to [−1, 1] by one shift and one factor."""
    xp = array_namespace(loss)
    low, high = xp.min(loss), xp.max(loss)
    half = 0.5 * high - 0.5 * low
    centred = loss - (0.5 * high + 0.5 * low)
    return centred / xp.where(half > 0, half, xp.ones_like(half))


def least_lower_risk(masses: Masses, loss: Array) -> Array:
    """Choose the act of least lower risk (optimistic)."""
    return choose_smallest(masses.lower_risk(scaled(loss)), masses.rounding)


def least_upper_risk(masses: Masses, loss: Array) -> Array:
    """Choose the act of least upper risk (pessimistic)."""
    return choose_smallest(masses.upper_risk(scaled(loss)), masses.rounding)


def least_pignistic_risk(masses: Masses, loss: Array) -> Array:
    """Choose the act of least expected loss under the pignistic probability."""
    return choose_smallest(product(masses.pignistic, scaled(loss).T), masses.rounding)


def least_expected_loss(masses: Masses, loss: Array) -> Array:
    r"""Choose the act of least expected loss under the probabilities one bets with.

    :math:`\sum_k p_k (L_{fk} - \min_g L_{gk})` orders the acts as the expected loss does, and is
    computed without cancellation. p are the probabilities before any discount. Acts within rounding
    of the best (some :math:`10^{-13}` of its expected regret) are tied, and the first is chosen.
    """
    base = masses.base
    xp = array_namespace(loss)
    risk = product(base.probability, (loss - xp.min(loss, axis=0, keepdims=True)).T)
    ulps = _SOFTMAX_ULPS + 4 * int(loss.shape[1])
    relative = base.log_rounding + ulps * float(xp.finfo(risk.dtype).eps)
    return choose_smallest(risk, relative * xp.min(risk, axis=-1, keepdims=True))


def least_hurwicz_risk(masses: Masses, loss: Array, alpha: float) -> Array:
    """Choose the act of least α · upper + (1 − α) · lower risk."""
    loss = scaled(loss)
    risk = alpha * masses.upper_risk(loss) + (1.0 - alpha) * masses.lower_risk(loss)
    return choose_smallest(risk, masses.rounding)


def least_upper_regret(masses: Masses, loss: Array) -> Array:
    """Choose the act whose regret, the loss beyond that of the best act, has least upper risk."""
    xp = array_namespace(loss)
    loss = scaled(loss)
    regret = loss - xp.min(loss, axis=0, keepdims=True)
    return choose_smallest(masses.upper_risk(scaled(regret)), masses.rounding)


def not_interval_dominated(masses: Masses, loss: Array) -> Array:
    """Keep every act whose lower risk no other act's upper risk undercuts."""
    xp = array_namespace(loss)
    loss = scaled(loss)
    best = xp.min(masses.upper_risk(loss), axis=-1, keepdims=True)
    return masses.lower_risk(loss) <= best + 2.0 * masses.rounding


def not_weakly_dominated(masses: Masses, loss: Array) -> Array:
    """Keep every act that no other matches in both risks and beats in one."""
    loss = scaled(loss)
    lower = levels(masses.lower_risk(loss), masses.rounding)
    upper = levels(masses.upper_risk(loss), masses.rounding)
    return undominated(-lower, -upper)


def maximal(masses: Masses, loss: Array) -> Array:
    r"""Keep every act f unless some g has :math:`E_*(L_f - L_g) > 0`: exchanging them surely pays.

    What interval dominance drops is dropped here too, and no act is needed to drop it or another:
    only acts that some row keeps are compared.
    """
    xp = array_namespace(loss)
    loss = scaled(loss)
    kept = not_interval_dominated(masses, loss)
    asked = xp.any(xp.reshape(kept, (-1, loss.shape[0])), axis=0)
    rivals = xp.take(loss, xp.nonzero(asked)[0], axis=0)
    columns = []
    for act in range(loss.shape[0]):
        column = kept[..., act]
        if bool(asked[act]):
            gain = masses.lower_risk(loss[act : act + 1, :] - rivals)
            column = column & ~xp.any(gain > 2.0 * masses.rounding, axis=-1)
        columns.append(column)
    return xp.stack(columns, axis=-1)


# Sets of acts for any utility: every nonempty set of acts is an act of its own.

MOST_ACTS = 12


def best_set_of_acts(
    masses: Masses, loss: Array, orness: float, expectation: str, alpha: float
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
    like = masses.belief
    xp = array_namespace(like)
    members = _sets(int(loss.shape[0]))
    table = _losses_of_sets(to_numpy(scaled(loss)), members, orness)
    there = xp.asarray(table, dtype=like.dtype, device=like.device)
    risk = _risk(masses, there, expectation, alpha)
    chosen = choose_smallest(risk, masses.rounding)
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


def _risk(masses: Masses, loss: Array, expectation: str, alpha: float) -> Array:
    """Return the expected loss; the lower expectation of a utility is the upper risk."""
    if expectation == "probability":
        return product(masses.probability, loss.T)
    if expectation == "pignistic":
        return product(masses.pignistic, loss.T)
    if expectation == "lower":
        return masses.upper_risk(loss)
    if expectation == "upper":
        return masses.lower_risk(loss)
    return alpha * masses.upper_risk(loss) + (1.0 - alpha) * masses.lower_risk(loss)


# E-admissible acts for any loss, by column generation instead of 2^K constraints.

# Relative to the largest difference from each rival. The solver's own tolerance is 1e-10.
_TOLERANCE = 1e-9
_SOLVER = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def e_admissible_acts(masses: Masses, loss: Array) -> Array:
    """Mark the E-admissible acts, boolean (..., acts).

    They are among the maximal ones, and only these can stand in their way: for any P, what beats
    an act that is not maximal is itself beaten by none. Against a single rival the two rules are
    one. Of the rest, most minimise the expected loss under the pignistic probability or under some
    act's own most favourable probability, and need no programme.
    """
    possible = maximal(masses, loss)
    kept: BoolArray = to_numpy(possible).reshape(-1, possible.shape[-1]).copy()
    asked = np.flatnonzero(kept.sum(axis=1) > 2)
    if len(asked):
        kept[asked] = _admissible_among(kept[asked], masses, asked, loss)
    xp = array_namespace(possible)
    return xp.asarray(kept.reshape(possible.shape), device=possible.device)


def _admissible_among(
    candidates: BoolArray, masses: Masses, asked: NDArray[np.intp], loss: Array
) -> BoolArray:
    """Mark the E-admissible ones among the maximal acts of each row that is asked for."""
    matrix = to_numpy(scaled(loss)).astype(np.float64)
    points = _favourable(masses, asked, matrix)  # (rows, points, K)
    risk = points @ matrix.T
    best = risk <= risk.min(axis=-1, keepdims=True) + _rounding(masses, asked)
    kept: BoolArray = candidates & best.any(axis=1)
    for row, act in np.argwhere(candidates & ~kept):
        # Which rivals it must not lose to has no unit: each of them may have its own. It is among
        # them itself, with no difference.
        difference = matrix[act] - matrix[candidates[row]]
        difference /= _nonzero(np.abs(difference).max(axis=1, keepdims=True))
        kept[row, act] = _reaches_zero(masses, asked[row : row + 1], difference, points[row])
    return kept


def _favourable(masses: Masses, rows: NDArray[np.intp], loss: FloatArray) -> FloatArray:
    """Return probabilities that may do, (rows, 1 + 2A, K).

    The pignistic one, and those that favour each act most, by itself and against the mean.
    """
    n_classes = loss.shape[1]
    bet = to_numpy(masses.pignistic).reshape(-1, n_classes)[rows].astype(np.float64)
    alone = [masses.extreme_points(act, rows) for act in loss]
    together = [masses.extreme_points(act - loss.mean(axis=0), rows) for act in loss]
    return np.stack([bet, *alone, *together], axis=1)


def _rounding(masses: Masses, rows: NDArray[np.intp]) -> FloatArray:
    """Return the tolerance of each row, (rows, 1, 1)."""
    if isinstance(masses.rounding, float):
        return np.full((len(rows), 1, 1), masses.rounding)
    return to_numpy(masses.rounding).reshape(-1)[rows].astype(np.float64)[:, None, None]


def _nonzero(size: FloatArray) -> FloatArray:
    """Leave acts that are the same as they are."""
    return np.where(size > 0.0, size, 1.0)


def _reaches_zero(
    masses: Masses, row: NDArray[np.intp], difference: FloatArray, points: FloatArray
) -> bool:
    r"""Return whether some compatible P has :math:`E_P(d_g) \le 0` for all rows :math:`d_g`."""
    while True:
        gains = difference @ points.T  # (rivals, points)
        mixture, prices = _game(gains)
        if (gains @ mixture).max() <= _TOLERANCE:
            return True
        point = masses.extreme_points(prices @ difference, row)
        bound = (prices @ difference) @ point[0]  # no P can do better against these prices
        if bound > _TOLERANCE or bound >= (prices @ gains).min() - 0.1 * _TOLERANCE:
            return False
        points = np.concatenate([points, point])


def _game(gains: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Solve the matrix game: mix columns to make the largest row least; return both mixtures."""
    from scipy.optimize import linprog  # takes a while to load, and few rules need it

    rivals, n = gains.shape
    done = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.hstack([gains, -np.ones((rivals, 1))]),
        b_ub=np.zeros(rivals),
        A_eq=np.append(np.ones(n), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * n + [(None, None)],
        method="highs",
        options=_SOLVER,
    )
    mixture, prices = np.clip(done.x[:-1], 0, None), np.clip(-done.ineqlin.marginals, 0, None)
    return mixture / mixture.sum(), prices / prices.sum()
