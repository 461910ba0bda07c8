"""``PooledMasses``: the closed forms of pooled weights of evidence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from shafer import _kernels as kernels
from shafer._checks.arrays import frozen, to_numpy
from shafer._kernels.forms import Forms, LogTerms
from shafer._kernels.pooling import Pooled, Shares, one_minus_exp_ratio
from shafer._masses.masses import MOST_ROUNDING, Focal, Masses
from shafer._typing import Array, BoolArray, FloatArray
from shafer.errors import FrameTooLargeError

_LARGEST_TABLE = 2**26  # masses: half a gigabyte in double precision


@final
@dataclass(frozen=True, eq=False)
class PooledMasses(Masses):
    """The pooled mass function of each row, in closed form for any number of classes.

    Parameters
    ----------
    pooled : Pooled
        Evidence for and against each class; arrays of (..., K).
    """

    pooled: Pooled

    @cached_property
    def terms(self) -> LogTerms:
        """Logarithms that the closed forms share."""
        return kernels.log_terms(self.pooled)

    @cached_property
    def shares(self) -> Shares:
        """The terms relative to D, out of the logarithms."""
        return kernels.shares(self.terms)

    @cached_property
    def forms(self) -> Forms:
        """All closed forms, from the fastest kernel for the arrays."""
        return Forms(*(frozen(array) for array in kernels.closed_forms(self.pooled)))

    @property
    def belief(self) -> Array:
        """Belief in each class, (..., K)."""
        return self.forms.belief

    @property
    def plausibility(self) -> Array:
        """Plausibility of each class, (..., K)."""
        return self.forms.plausibility

    @cached_property
    def pignistic(self) -> Array:
        """Pignistic probability, (..., K), by exact quadrature.

        It lies between belief and plausibility, also where another kernel rounded these.
        """
        if self._n_classes == 2:  # besides the classes there is only the frame
            found = self.forms.belief + self.forms.ignorance[..., None] / 2.0
        else:
            found = kernels.pignistic(self.terms)
        xp = array_namespace(self.pooled.logits)
        return frozen(xp.minimum(xp.maximum(found, self.belief), self.plausibility))

    @property
    def ignorance(self) -> Array:
        """Mass of the whole frame, (...)."""
        return self.forms.ignorance

    @property
    def conflict(self) -> Array:
        """Conflict κ between all weights, (...)."""
        return self.forms.conflict

    @cached_property
    def weight_of_conflict(self) -> Array:
        r"""Shafer's weight of conflict −ln(1 − κ), (...).

        With the most plausible class k it is
        :math:`\sum_{l \neq k} w^+_l + w^-_k + \ln pl_k`, from the forms that are known already.
        """
        if not isinstance(self.forms.conflict, np.ndarray):
            return frozen(kernels.weight_of_conflict(self.terms))
        kappa, plausibility = self.forms.conflict, self.forms.plausibility
        w_for, w_against = self.pooled.weights_for, self.pooled.weights_against
        best = np.argmax(plausibility, axis=-1, keepdims=True)
        others = w_for.copy()
        np.put_along_axis(others, best, 0.0, axis=-1)
        largest = np.take_along_axis(plausibility, best, axis=-1)[..., 0]
        total = others.sum(axis=-1) + np.take_along_axis(w_against, best, axis=-1)[..., 0]
        small = kappa < 0.5
        near = -np.log1p(-np.where(small, kappa, 0.0))
        return frozen(np.where(small, near, np.maximum(total + np.log(largest), 0.0)))

    @cached_property
    def conflict_for_against(self) -> Array:
        """Conflict between all evidence for and all evidence against, (...): the paper's κ."""
        if self._n_classes == 2:  # evidence against one class is evidence for the other
            return self.conflict
        return frozen(kernels.conflict_for_against(self.terms))

    @property
    def probability(self) -> Array:
        """Softmax of the logits, (..., K)."""
        return self.forms.probability

    @cached_property
    def doubt(self) -> Array:
        """Belief in all other classes, (..., K)."""
        return frozen(kernels.doubt(self.shares))

    @cached_property
    def surplus(self) -> Array:
        """Sum of the plausibilities less one, (...)."""
        return frozen(kernels.surplus(self.shares))

    @cached_property
    def lack_and_contradiction(self) -> tuple[Array, Array]:
        """Ln Σ pl and −ln max pl, (...) each.

        Large weights cost digits of D, but not of the logits. So the larger part is what the
        smaller one leaves of −ln max p, which the logits give.
        """
        lack, contradiction = super().lack_and_contradiction
        xp = array_namespace(self.pooled.logits)
        total = kernels.surprise(self.pooled.logits)
        smaller = xp.minimum(xp.minimum(lack, contradiction), total)
        larger, lacks = total - smaller, lack > contradiction
        return frozen(xp.where(lacks, larger, smaller)), frozen(xp.where(lacks, smaller, larger))

    @property
    def log_plausibility(self) -> Array:
        """The logits, (..., K): log plausibilities up to a constant, also where those underflow."""
        return self.pooled.logits

    @cached_property
    def log_belief(self) -> Array:
        """Logarithm of the belief, (..., K): it orders beliefs that underflow."""
        return kernels.log_belief(self.terms)

    @property
    def _n_classes(self) -> int:
        return int(self.pooled.logits.shape[-1])

    def _constant(self, value: float) -> Array:
        xp = array_namespace(self.pooled.logits)
        return xp.full_like(self.pooled.logits[..., 0], value)

    def _outside(self, inside: list[int]) -> list[int]:
        return sorted(set(range(self._n_classes)).difference(inside))

    def mass_of(self, inside: list[int]) -> Array:
        """Mass of a set of classes, (...)."""
        if not inside:
            return self._constant(0.0)
        if len(inside) == 1:
            return self.belief[..., inside[0]]
        return kernels.mass_of(self.terms, inside, self._outside(inside))

    def belief_of(self, inside: list[int]) -> Array:
        """Belief in a set of classes, (...)."""
        if not inside:
            return self._constant(0.0)
        return kernels.belief_of(self.terms, inside, self._outside(inside))

    def plausibility_of(self, inside: list[int]) -> Array:
        """Plausibility of a set of classes, (...)."""
        return kernels.plausibility_of(self.terms, inside) if inside else self._constant(0.0)

    def commonality_of(self, inside: list[int]) -> Array:
        """Commonality of a set of classes, (...)."""
        if not inside:
            return self._constant(1.0)
        if len(inside) == 1:
            return self.plausibility[..., inside[0]]
        return kernels.commonality_of(self.terms, inside)

    def of_all_sets(self) -> Array:
        """All masses, (..., 2^K)."""
        rows = math.prod(self.pooled.logits.shape[:-1])
        if max(rows, 1) * 2**self._n_classes > _LARGEST_TABLE:
            raise FrameTooLargeError(
                f"masses() would hold {rows} × 2^{self._n_classes} values; at most 2^26 are "
                "accepted. Take fewer rows, or use focal_sets(top) or mass_of(set)."
            )
        return kernels.all_masses(self.terms)

    def focal_sets(self, top: int) -> list[list[Focal]]:
        """Find the largest focal sets of each row, without enumerating 2^K."""
        flat = [
            to_numpy(array).astype(np.float64).reshape(-1, array.shape[-1])
            for array in kernels.focal_logarithms(self.terms)
        ]
        return [
            [
                (float(np.exp(log_mass)), inside)
                for log_mass, inside in kernels.largest_focal_sets(
                    log_u, log_v, log_belief, float(log_scale[0]), top
                )
            ]
            for log_u, log_v, log_belief, log_scale in zip(*flat, strict=True)
        ]

    def lower_risk(self, loss: Array) -> Array:
        """Lower expected loss of each act, (..., acts)."""
        return kernels.lower_expectation(self.shares, loss)

    def upper_risk(self, loss: Array) -> Array:
        """Upper expected loss of each act, (..., acts)."""
        return kernels.upper_expectation(self.shares, loss)

    @cached_property
    def _flat_shares(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The shares s, u and v of all rows, (rows, K), NumPy."""
        flat = (to_numpy(x).reshape(-1, self._n_classes) for x in self.shares[:3])
        s, u, v = (x.astype(np.float64) for x in flat)
        return s, u, v

    def extreme_points(self, value: FloatArray, rows: NDArray[np.intp]) -> FloatArray:
        """Give s to each class, and the other mass of a set to its member of least value."""
        order = np.argsort(value, kind="stable")
        s, u, v = (x[rows][:, order] for x in self._flat_shares)
        u[:, 1:] *= np.cumprod(v[:, :-1], axis=1)  # no class before it is in the set
        point = np.empty_like(s)
        point[:, order] = s + u
        # Rounding may leave the total an ulp from one.
        normalised: FloatArray = point / point.sum(axis=1, keepdims=True)
        return normalised

    def best_sets(self, utility: FloatArray, alpha: float) -> BoolArray:
        """Choose the set of largest expected utility, by sorting and search."""
        return pooled_best_sets(self.shares, self.terms, utility, alpha)

    def e_admissible_classes(self) -> Array:
        """Mark the E-admissible classes under 0-1 loss."""
        return self.classes_within(self.plausibility)

    def classes_within(self, threshold: Array) -> Array:
        """Mark the classes k for which every set B without k has ``Bel(B) ≤ |B| threshold_k``.

        Parameters
        ----------
        threshold : array of shape (..., K)
            One for each class.

        Returns
        -------
        boolean array of shape (..., K)
        """
        return kernels.e_admissible_classes(
            self.shares, self.pooled.logits, threshold, self.rounding[..., 0]
        )

    @property
    def _eps(self) -> float:
        return float(array_namespace(self.pooled.logits).finfo(self.pooled.logits.dtype).eps)

    @cached_property
    def rounding(self) -> Array:
        """An ulp of the largest weight in the logarithm of each of 2K products, (..., 1)."""
        xp = array_namespace(self.pooled.logits)
        largest = xp.max(self.pooled.weights_for + self.pooled.weights_against, axis=-1)
        size = largest[..., None] + float(self._n_classes)
        return xp.clip(16.0 * self._eps * size, max=MOST_ROUNDING)

    @property
    def relative_rounding(self) -> float:
        """A product over K classes, which may be multiplied in another order for each class."""
        return 4.0 * self._n_classes * self._eps

    @property
    def log_rounding(self) -> float:
        """None: the logits are what the model gave, and decide as its own probabilities do."""
        return 0.0

    def in_double(self) -> PooledMasses:
        """Return the same in double precision."""
        xp = array_namespace(self.pooled.logits)
        if self.pooled.logits.dtype == xp.float64:
            return self
        return PooledMasses(Pooled(*(xp.astype(array, xp.float64) for array in self.pooled)))


# The set of classes of largest expected utility under pooled evidence, without 2^K sets.

_SLACK = 1e-12  # by which orders may disagree without moving a value by more than a tie


def pooled_best_sets(
    shares: Shares, terms: LogTerms, utility: FloatArray, alpha: float
) -> BoolArray:
    r"""Choose the best set by α · belief + (1 − α) · plausibility; boolean (..., K), NumPy.

    Where the orders of the classes by s and by −ln v agree, the best sets are the first ones of
    that order. Other rows are searched one by one.
    """
    shape = terms.logits.shape
    parts = Shares(*(to_numpy(x).astype(np.float64).reshape(-1, shape[-1]) for x in shares))
    log_d = to_numpy(terms.shift + terms.log_d).reshape(-1)
    order = np.argsort(-(parts.s + parts.t_share), axis=1, kind="stable")
    ordered = Shares(*(np.take_along_axis(x, order, axis=1) for x in parts))
    value = utility * _expectation(ordered, alpha)
    # No set of b classes has a larger expectation than this, as f(τ) ≤ τ and nothing is above one.
    bound = utility * np.clip(np.cumsum(ordered.s + ordered.t_share, axis=1), None, 1.0)
    size = np.argmax(value >= value.max(axis=1, keepdims=True) - TIE, axis=1)
    chosen = np.argsort(order, axis=1) <= size[:, None]
    # A smaller set that is tied with the best one is preferred to it.
    gap = np.where(np.arange(len(utility)) < size[:, None], -TIE, TIE)
    hopeful = bound > value.max(axis=1, keepdims=True) + gap
    for row in np.flatnonzero((hopeful & ~_in_order(ordered)).any(axis=1)):
        d = float(np.exp(np.clip(log_d[row], -690.0, 690.0)))
        gain = Gain(d, float(parts.t[row].sum()), alpha)
        search = SetSearch(parts.s[row], parts.t_share[row], gain)
        found = _search(search, utility, hopeful[row], size[row], value[row, size[row]])
        if found is not None:
            chosen[row] = False
            chosen[row, found] = True
    result: BoolArray = chosen.reshape(shape)
    return result


def _search(
    search: SetSearch, utility: FloatArray, hopeful: BoolArray, size: int, best: float
) -> NDArray[np.intp] | None:
    """Look for a better set, or a smaller one that is tied, in the sizes that may have one.

    ``size`` is that of the best set so far, less one.
    """
    found = None
    for b in np.flatnonzero(hopeful):
        gap = -TIE if b < size else TIE
        better = search.beats(int(b) + 1, (best + gap) / utility[b])
        if better is not None:
            size, best, found = int(b), utility[b] * better[0], better[1]
    return found


def _expectation(ordered: Shares, alpha: float) -> FloatArray:
    """Return the expectation of the first b classes for every b, (n, K)."""
    upper = np.cumsum(ordered.t_share, axis=1) * one_minus_exp_ratio(np.cumsum(ordered.t, axis=1))
    rest = np.cumsum(ordered.t[:, ::-1], axis=1)[:, ::-1] - ordered.t
    value: FloatArray = np.cumsum(ordered.s, axis=1) + upper * (
        alpha * np.exp(-np.clip(rest, 0, None)) + (1.0 - alpha)
    )
    return value


def _in_order(ordered: Shares) -> BoolArray:
    """Mark every b for which the first b classes are no worse than the rest in both sums."""
    agrees = np.ones(ordered.s.shape, dtype=np.bool_)
    for x in (ordered.s, ordered.t_share):
        worst_inside = np.minimum.accumulate(x, axis=1)[:, :-1]
        best_outside = np.maximum.accumulate(x[:, ::-1], axis=1)[:, ::-1][:, 1:]
        agrees[:, :-1] &= worst_inside >= best_outside - _SLACK
    return agrees


# The best set of a given size for one row, exactly, where sorting alone does not find it.

TIE = 1e-9
"""Sets whose values agree to this are tied."""
_MOST_STEPS = 100_000  # a fraction of a second


@dataclass(frozen=True)
class Gain:
    """The function f of a row: the expectation that the second sum adds."""

    d: float
    total: float  # T of the whole frame
    alpha: float

    def __call__(self, tau: float) -> float:
        """Return f(τ)."""
        t = self.d * tau
        upper = -np.expm1(-t) / self.d if t > 1e-12 else tau
        lower = np.exp(min(t - self.total, 0.0))
        return float(upper * (self.alpha * lower + (1.0 - self.alpha)))

    def most(self, slope: float, low: float, high: float) -> float:
        """Return the largest f(τ) − slope · τ between two values: at an end, or where f' = slope.

        With y = e^{-T}, f' = (1 − α) y + α e^{-T_Θ} / y; the larger root is where f is concave.
        """
        best = max(self(low) - slope * low, self(high) - slope * high)
        inside = slope**2 - 4.0 * self.alpha * (1.0 - self.alpha) * np.exp(-self.total)
        if self.alpha == 1.0 or inside < 0.0:
            return best
        y = (slope + np.sqrt(inside)) / (2.0 * (1.0 - self.alpha))
        if y > 0.0:
            tau = -np.log(y) / self.d
            if low < tau < high:
                best = max(best, self(tau) - slope * tau)
        return best


@dataclass(frozen=True)
class Corner:
    """A set of b classes, and the slope c for which no other has a larger S + c τ."""

    slope: float
    s: float
    tau: float
    inside: NDArray[np.intp]

    def line(self) -> float:
        """Return S + c τ, which no set of b classes exceeds."""
        return self.s + self.slope * self.tau


class SetSearch:
    """The sets of one row, and the best of the sets that were looked at."""

    def __init__(self, s: FloatArray, tau: FloatArray, gain: Gain) -> None:
        self.s, self.tau, self.gain = s, tau, gain
        self.found: NDArray[np.intp] | None
        self.bar: float
        self.steps_left = _MOST_STEPS

    def beats(self, size: int, bar: float) -> tuple[float, NDArray[np.intp]] | None:
        """Return the best set of ``size`` classes and its expectation if that exceeds ``bar``."""
        self.found, self.bar = None, bar
        first, last = self._corner(0.0, size), self._corner(1.0, size)
        for corner in (first, last):
            self._see(corner.s, corner.tau, corner.inside)
        waiting = [(first, last)]
        while waiting:
            left, right = waiting.pop()
            if right.tau - left.tau > 1e-15 and self._bound(left, right) > self.bar:
                waiting.extend(self._split(left, right, size))
        return None if self.found is None else (self.bar - TIE, self.found)

    def _corner(self, slope: float, size: int) -> Corner:
        value = self.s + slope * self.tau
        inside = np.lexsort((-self.tau, -value))[:size]
        return Corner(slope, float(self.s[inside].sum()), float(self.tau[inside].sum()), inside)

    def _see(self, s: float, tau: float, inside: NDArray[np.intp]) -> None:
        value = s + self.gain(tau)
        if value > self.bar:
            self.bar, self.found = value + TIE, inside

    def _bound(self, left: Corner, right: Corner) -> float:
        """Bound what lies between two corners: below both of their lines."""
        bend = (right.line() - left.line()) / (right.slope - left.slope)
        bend = min(max(bend, left.tau), right.tau)
        return max(
            left.line() + self.gain.most(left.slope, left.tau, bend),
            right.line() + self.gain.most(right.slope, bend, right.tau),
        )

    def _split(self, left: Corner, right: Corner, size: int) -> list[tuple[Corner, Corner]]:
        """Find the corner farthest out between two others; at an edge, list what is close to it."""
        slope = (left.s - right.s) / (right.tau - left.tau)
        slope = min(max(slope, left.slope), right.slope)
        middle = self._corner(slope, size)
        self._see(middle.s, middle.tau, middle.inside)
        edge = max(left.s + slope * left.tau, right.s + slope * right.tau)
        if middle.line() > edge + 1e-14 and left.slope < slope < right.slope:
            return [(left, middle), (middle, right)]
        bulge = self.gain.most(slope, left.tau, right.tau)
        if middle.line() + bulge > self.bar:
            for inside in self._close_sets(slope, size, bulge):
                self._see(float(self.s[inside].sum()), float(self.tau[inside].sum()), inside)
        return []

    def _close_sets(self, slope: float, size: int, bulge: float) -> Iterator[NDArray[np.intp]]:
        """List the sets with S + c τ + bulge above the bar, which rises as sets are seen.

        A class that is no better than another in both sums is never taken without it.
        """
        order, above = self._candidates(slope, size)
        value = self.s[order] + slope * self.tau[order]
        ahead = np.concatenate([[0.0], np.cumsum(value)])
        stack: list[tuple[int, int, float, int]] = [(0, 0, 0.0, 0)]  # next, how many, value, mask
        while stack and self.steps_left > 0:
            self.steps_left -= 1
            position, taken, so_far, mask = stack.pop()
            if taken == size:
                yield order[[i for i in range(len(order)) if mask >> i & 1]]
                continue
            end = position + size - taken
            if end > len(order):
                continue
            if so_far + ahead[end] - ahead[position] + bulge <= self.bar:
                continue
            stack.append((position + 1, taken, so_far, mask))
            if above[position] & ~mask == 0:
                with_it = mask | 1 << position
                stack.append((position + 1, taken + 1, so_far + value[position], with_it))

    def _candidates(self, slope: float, size: int) -> tuple[NDArray[np.intp], list[int]]:
        """Return the classes that fewer than ``size`` others beat, in order, and who beats them."""
        value = self.s + slope * self.tau
        order = np.lexsort((-self.tau, -value))
        s, tau = self.s[order], self.tau[order]
        beaten = (s[:, None] >= s) & (tau[:, None] >= tau)  # [i, j]: i is as good as j in both
        beaten &= np.arange(len(s))[:, None] < np.arange(len(s))
        few = np.flatnonzero(beaten.sum(axis=0) < size)
        masks = [
            sum(1 << int(i) for i in np.flatnonzero(column)) for column in beaten[few][:, few].T
        ]
        return order[few], masks
