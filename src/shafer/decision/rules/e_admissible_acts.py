r"""E-admissible acts for any loss, by column generation instead of 2^K constraints.

Act f is E-admissible if some probability P compatible with the mass function makes it a minimiser
of expected loss, that is, if :math:`\min_P \max_g E_P(L_f - L_g) \le 0`. The extreme points of the
compatible probabilities are the K! greedy ones, one for each order of the classes, and the best
for a given mixture of the differences is ``Opinion.extreme_points``. So a small linear programme
over a few of them gives prices, the prices give the next point, until one side is certain.
"""

from __future__ import annotations

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from shafer._typing import Array, BoolArray, FloatArray
from shafer._validation import to_numpy
from shafer.decision.rules import act_rules
from shafer.opinion import Opinion

# Relative to the largest difference from each rival. The solver's own tolerance is 1e-10.
_TOLERANCE = 1e-9
_SOLVER = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def e_admissible_acts(opinion: Opinion, loss: Array) -> Array:
    """Mark the E-admissible acts, boolean (..., acts).

    They are among the maximal ones, and only these can stand in their way: for any P, what beats
    an act that is not maximal is itself beaten by none. Against a single rival the two rules are
    one. Of the rest, most minimise the expected loss under the pignistic probability or under some
    act's own most favourable probability, and need no programme.
    """
    maximal = act_rules.maximal(opinion, loss)
    kept: BoolArray = to_numpy(maximal).reshape(-1, maximal.shape[-1]).copy()
    asked = np.flatnonzero(kept.sum(axis=1) > 2)
    if len(asked):
        kept[asked] = _admissible_among(kept[asked], opinion, asked, loss)
    xp = array_namespace(maximal)
    return xp.asarray(kept.reshape(maximal.shape), device=maximal.device)


def _admissible_among(
    candidates: BoolArray, opinion: Opinion, asked: NDArray[np.intp], loss: Array
) -> BoolArray:
    """Mark the E-admissible ones among the maximal acts of each row that is asked for."""
    matrix = to_numpy(act_rules.scaled(loss)).astype(np.float64)
    points = _favourable(opinion, asked, matrix)  # (rows, points, K)
    risk = points @ matrix.T
    best = risk <= risk.min(axis=-1, keepdims=True) + _rounding(opinion, asked)
    kept: BoolArray = candidates & best.any(axis=1)
    for row, act in np.argwhere(candidates & ~kept):
        # Which rivals it must not lose to has no unit: each of them may have its own. It is among
        # them itself, with no difference.
        difference = matrix[act] - matrix[candidates[row]]
        difference /= _nonzero(np.abs(difference).max(axis=1, keepdims=True))
        kept[row, act] = _reaches_zero(opinion, asked[row : row + 1], difference, points[row])
    return kept


def _favourable(opinion: Opinion, rows: NDArray[np.intp], loss: FloatArray) -> FloatArray:
    """Return probabilities that may do, (rows, 1 + 2A, K).

    The pignistic one, and those that favour each act most, by itself and against the mean.
    """
    n_classes = loss.shape[1]
    bet = to_numpy(opinion.pignistic).reshape(-1, n_classes)[rows].astype(np.float64)
    alone = [opinion.extreme_points(act, rows) for act in loss]
    together = [opinion.extreme_points(act - loss.mean(axis=0), rows) for act in loss]
    return np.stack([bet, *alone, *together], axis=1)


def _rounding(opinion: Opinion, rows: NDArray[np.intp]) -> FloatArray:
    """Return the tolerance of each row, (rows, 1, 1)."""
    if isinstance(opinion.rounding, float):
        return np.full((len(rows), 1, 1), opinion.rounding)
    return to_numpy(opinion.rounding).reshape(-1)[rows].astype(np.float64)[:, None, None]


def _nonzero(size: FloatArray) -> FloatArray:
    """Leave acts that are the same as they are."""
    return np.where(size > 0.0, size, 1.0)


def _reaches_zero(
    opinion: Opinion, row: NDArray[np.intp], difference: FloatArray, points: FloatArray
) -> bool:
    r"""Return whether some compatible P has :math:`E_P(d_g) \le 0` for all rows :math:`d_g`."""
    while True:
        gains = difference @ points.T  # (rivals, points)
        mixture, prices = _game(gains)
        if (gains @ mixture).max() <= _TOLERANCE:
            return True
        point = opinion.extreme_points(prices @ difference, row)
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
