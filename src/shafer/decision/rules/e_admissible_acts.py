r"""E-admissible acts for any loss, by column generation instead of 2^K constraints.

Act f is E-admissible if some probability P compatible with the mass function makes it a minimiser
of expected loss, that is, if :math:`\min_P \max_g E_P(L_f - L_g) \le 0`. The extreme points of the
compatible probabilities are the K! greedy ones, one for each order of the classes, and the best
for a given mixture of the differences is found by sorting. So a small linear programme over a few
of them, asked for its prices, calls for the next, until one side is certain.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shafer._typing import Array, BoolArray, FloatArray
from shafer._validation import to_numpy
from shafer.decision.rules import act_rules
from shafer.opinion.pooled_opinion import Opinion

# Relative to the largest difference from each rival. The solver's own tolerance is 1e-10.
_TOLERANCE = 1e-9
_SOLVER = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def e_admissible(opinion: Opinion, loss: Array) -> BoolArray:
    """Mark the E-admissible acts, boolean (..., acts), as a NumPy array.

    They are among the maximal ones, and only these can stand in their way: for any P, what beats
    an act that is not maximal is itself beaten by none. Against a single rival the two rules are
    one. Of the rest, most minimise the expected loss under the pignistic probability or under some
    act's own most favourable probability, and need no programme.
    """
    maximal = to_numpy(act_rules.maximal(opinion, loss))
    batch, n_acts = maximal.shape[:-1], maximal.shape[-1]
    kept: BoolArray = maximal.reshape(-1, n_acts).copy()
    asked = np.flatnonzero(kept.sum(axis=1) > 2)
    if len(asked):
        kept[asked] = _admissible_among(kept[asked], _Rows(opinion, asked), loss)
    return kept.reshape(*batch, n_acts)


def _admissible_among(candidates: BoolArray, rows: _Rows, loss: Array) -> BoolArray:
    """Mark the E-admissible ones among the maximal acts of each row."""
    matrix = to_numpy(act_rules.scaled(loss)).astype(np.float64)
    points = rows.favourable(matrix)  # (rows, points, K)
    risk = points @ matrix.T
    best = (risk <= risk.min(axis=-1, keepdims=True) + rows.rounding[:, None]).any(axis=1)
    kept: BoolArray = candidates & best
    for row, act in np.argwhere(candidates & ~best):
        rivals = candidates[row].copy()
        rivals[act] = False
        # Which rivals it must not lose to has no unit: each of them may have its own.
        difference = matrix[act] - matrix[rivals]
        difference /= _nonzero(np.abs(difference).max(axis=1, keepdims=True))
        kept[row, act] = _reaches_zero(rows, int(row), difference, points[row])
    return kept


class _Rows:
    """The compatible probabilities of some rows, in NumPy."""

    def __init__(self, opinion: Opinion, asked: NDArray[np.intp]) -> None:
        n_classes = opinion.logits.shape[-1]
        self.s, self.u, self.v, self.bet = (
            to_numpy(x).reshape(-1, n_classes)[asked].astype(np.float64)
            for x in (*opinion.shares[:3], opinion.pignistic)
        )
        self.rounding = to_numpy(opinion.rounding).reshape(-1, 1)[asked].astype(np.float64)
        r = opinion.reliability
        known = np.ones(len(asked)) if r is None else to_numpy(r).reshape(-1)[asked]
        self.r = known.astype(np.float64)[:, None]

    def extreme(self, value: FloatArray, rows: slice) -> FloatArray:
        """Return the compatible probability under which ``value`` (K,) is least expected."""
        order = np.argsort(value, kind="stable")
        none_before = np.cumprod(self.v[rows][:, order[:-1]], axis=1)
        first = self.u[rows][:, order]
        first[:, 1:] *= none_before
        point = np.empty_like(first)
        point[:, order] = self.r[rows] * (self.s[rows][:, order] + first)
        point[:, order[0]] += 1.0 - self.r[rows][:, 0]
        # Rounding may leave the total an ulp from one.
        normalised: FloatArray = point / point.sum(axis=1, keepdims=True)
        return normalised

    def favourable(self, loss: FloatArray) -> FloatArray:
        """Return probabilities that may do, (rows, 1 + 2A, K).

        The pignistic one, and those that favour each act most, by itself and against the mean.
        """
        every = slice(None)
        alone = [self.extreme(act, every) for act in loss]
        together = [self.extreme(act - loss.mean(axis=0), every) for act in loss]
        return np.stack([self.bet, *alone, *together], axis=1)


def _nonzero(size: FloatArray) -> FloatArray:
    """Leave acts that are the same as they are."""
    return np.where(size > 0.0, size, 1.0)


def _reaches_zero(rows: _Rows, row: int, difference: FloatArray, points: FloatArray) -> bool:
    r"""Say whether some compatible P has :math:`E_P(d_g) \le 0` for all rows :math:`d_g`."""
    this = slice(row, row + 1)
    while True:
        gains = difference @ points.T  # (rivals, points)
        mixture, prices = _game(gains)
        if (gains @ mixture).max() <= _TOLERANCE:
            return True
        point = rows.extreme(prices @ difference, this)
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
