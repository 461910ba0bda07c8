"""``DiscountedMasses``: pooled evidence from a source that may be wrong."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from shafer._checks.arrays import frozen, to_numpy
from shafer._masses.masses import Focal, Masses
from shafer._masses.pooled import PooledMasses
from shafer._typing import Array, BoolArray, FloatArray


@final
@dataclass(frozen=True, eq=False)
class DiscountedMasses(Masses):
    r"""A share 1 − r of every mass moves to the whole frame (Shafer 1976, p. 252).

    .. math:: m' = r\, m + (1 - r)\, m_\Theta

    Parameters
    ----------
    pooled : PooledMasses
        The mass function m before discounting.
    reliability : array of shape (...)
        r, between 0 and 1.
    """

    pooled: PooledMasses
    reliability: Array

    @property
    def base(self) -> PooledMasses:
        """The mass function before discounting."""
        return self.pooled

    def _mixed(self, value: Array, ignorant: Array | float) -> Array:
        """Mix a reading of m, of the rows (...) or with one more axis, with that of ignorance."""
        r = self.reliability
        if value.ndim > r.ndim:
            r = r[..., None]
        return r * value + (1.0 - r) * ignorant

    @cached_property
    def belief(self) -> Array:
        """Belief in each class, (..., K): r Bel."""
        return frozen(self._mixed(self.pooled.belief, 0.0))

    @cached_property
    def plausibility(self) -> Array:
        """Plausibility of each class, (..., K): 1 − r + r Pl."""
        return frozen(self._mixed(self.pooled.plausibility, 1.0))

    @cached_property
    def pignistic(self) -> Array:
        """Pignistic probability, (..., K): r BetP + (1 − r)/K."""
        return frozen(self._mixed(self.pooled.pignistic, 1.0 / self.belief.shape[-1]))

    @property
    def log_plausibility(self) -> Array:
        """Those of m, (..., K): discounting keeps the order, except that r = 0 makes all equal."""
        return self._where_reliable(self.pooled.log_plausibility)

    @property
    def log_belief(self) -> Array:
        """Those of m, (..., K); all equal where r = 0."""
        return self._where_reliable(self.pooled.log_belief)

    def _where_reliable(self, logs: Array) -> Array:
        xp = array_namespace(logs)
        return xp.where((self.reliability > 0)[..., None], logs, xp.zeros_like(logs))

    @property
    def ignorance(self) -> Array:
        """Mass of the whole frame, (...): 1 − r + r m(Θ)."""
        return self._mixed(self.pooled.ignorance, 1.0)

    @property
    def conflict(self) -> Array:
        """That of m."""
        return self.pooled.conflict

    @property
    def weight_of_conflict(self) -> Array:
        """That of m."""
        return self.pooled.weight_of_conflict

    @property
    def doubt(self) -> Array:
        """Belief in all other classes, (..., K): r times that of m."""
        return self._mixed(self.pooled.doubt, 0.0)

    @property
    def surplus(self) -> Array:
        """Sum of the plausibilities less one, (...)."""
        return self._mixed(self.pooled.surplus, self._n_classes - 1.0)

    @property
    def _n_classes(self) -> int:
        return int(self.pooled.pooled.logits.shape[-1])

    def mass_of(self, inside: list[int]) -> Array:
        """Mass of a set of classes, (...)."""
        return self._mixed(self.pooled.mass_of(inside), float(len(inside) == self._n_classes))

    def belief_of(self, inside: list[int]) -> Array:
        """Belief in a set of classes, (...)."""
        return self._mixed(self.pooled.belief_of(inside), float(len(inside) == self._n_classes))

    def plausibility_of(self, inside: list[int]) -> Array:
        """Plausibility of a set of classes, (...)."""
        return self._mixed(self.pooled.plausibility_of(inside), float(bool(inside)))

    def commonality_of(self, inside: list[int]) -> Array:
        """Commonality of a set of classes, (...)."""
        return self._mixed(self.pooled.commonality_of(inside), 1.0)

    def of_all_sets(self) -> Array:
        """All masses, (..., 2^K)."""
        masses = self.pooled.of_all_sets()
        xp = array_namespace(masses)
        scaled = self._mixed(masses[..., :-1], 0.0)
        return xp.concat([scaled, self._mixed(masses[..., -1:], 1.0)], axis=-1)

    def focal_sets(self, top: int) -> list[list[Focal]]:
        """Find the largest focal sets of each row, without enumerating 2^K."""
        frame = tuple(range(self._n_classes))
        reliability = to_numpy(self.reliability).reshape(-1)
        ignorance = to_numpy(self.ignorance).reshape(-1)
        rows = []
        for found, r, rest in zip(self.pooled.focal_sets(top), reliability, ignorance, strict=True):
            sets = [(float(r) * mass, inside) for mass, inside in found if len(inside) < len(frame)]
            sets.append((float(rest), frame))
            sets.sort(key=lambda entry: -entry[0])  # stable: ties stay in order
            rows.append([entry for entry in sets if entry[0] > 0.0][:top])
        return rows

    def lower_risk(self, loss: Array) -> Array:
        """Lower expected loss of each act, (..., acts): r · lower + (1 − r) · the least loss."""
        xp = array_namespace(loss)
        return self._mixed(self.pooled.lower_risk(loss), xp.min(loss, axis=-1))

    def upper_risk(self, loss: Array) -> Array:
        """Upper expected loss of each act, (..., acts): r · upper + (1 − r) · the largest loss."""
        xp = array_namespace(loss)
        return self._mixed(self.pooled.upper_risk(loss), xp.max(loss, axis=-1))

    def extreme_points(self, value: FloatArray, rows: NDArray[np.intp]) -> FloatArray:
        """Those of m times r; the class of least value gets 1 − r more."""
        r = to_numpy(self.reliability).reshape(-1)[rows].astype(np.float64)
        point = r[:, None] * self.pooled.extreme_points(value, rows)
        point[:, int(np.argmin(value))] += 1.0 - r
        return point

    def best_sets(self, utility: FloatArray, alpha: float) -> BoolArray:
        """Choose as m does: a set answer is a bet."""
        return self.pooled.best_sets(utility, alpha)

    def e_admissible_classes(self) -> Array:
        """Mark the E-admissible classes: ``r Bel(B) ≤ |B| pl'_k`` for every set B without k."""
        xp = array_namespace(self.reliability)
        r = self.reliability[..., None]
        # Any threshold from one on is met: no belief exceeds the number of classes.
        met = r * 2.0 <= self.plausibility
        threshold = xp.where(met, 2.0, self.plausibility / xp.where(met, 1.0, r))
        return self.pooled.classes_within(threshold)

    @property
    def rounding(self) -> Array:
        """As of m."""
        return self.pooled.rounding

    @property
    def relative_rounding(self) -> float:
        """As of m."""
        return self.pooled.relative_rounding

    @property
    def log_rounding(self) -> float:
        """As of m."""
        return self.pooled.log_rounding

    def in_double(self) -> DiscountedMasses:
        """Return the same in double precision."""
        xp = array_namespace(self.reliability)
        if self.reliability.dtype == xp.float64:
            return self
        return DiscountedMasses(self.pooled.in_double(), xp.astype(self.reliability, xp.float64))
