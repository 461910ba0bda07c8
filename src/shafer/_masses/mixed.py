"""``MixedMasses``: one of several mass functions holds, each with its chance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from shafer import _kernels as kernels
from shafer._checks.arrays import frozen, to_numpy
from shafer._masses.masses import MOST_ROUNDING, Focal, Masses
from shafer._masses.pooled import PooledMasses
from shafer._masses.table import TableMasses
from shafer._typing import Array, BoolArray, FloatArray
from shafer.errors import FrameTooLargeError

MOST_CLASSES = 16
"""As many classes as a table of all sets is made for."""


@final
@dataclass(frozen=True, eq=False)
class MixedMasses(Masses):
    """A mixture of pooled masses: every sum of masses is the same mixture of the members' sums.

    Parameters
    ----------
    members : tuple of M PooledMasses
    shares : array of shape (n, M)
        The chance of each member; rows sum to 1.
    conflict_mass : array of shape (n,)
        Conflict between the sources that the members are made of.
    """

    members: tuple[PooledMasses, ...]
    shares: Array
    conflict_mass: Array

    def _mixed(self, read: Callable[[PooledMasses], Array]) -> Array:
        """Mix a reading of the members, (n,) or (n, ...), by their shares.

        A mixture lies between its members. Rounding is kept from leading outside, such as above 1.
        """
        xp = array_namespace(self.shares)
        total: Array = 0.0
        low = high = None
        for position, values in enumerate(map(read, self.members)):
            share = self.shares[:, position]
            total = total + values * (share if values.ndim == 1 else share[:, None])
            low = values if low is None else xp.minimum(low, values)
            high = values if high is None else xp.maximum(high, values)
        return frozen(xp.maximum(low, xp.minimum(total, high)))

    @cached_property
    def belief(self) -> Array:
        """Belief in each class, (n, K)."""
        return self._mixed(lambda member: member.belief)

    @cached_property
    def plausibility(self) -> Array:
        """Plausibility of each class, (n, K)."""
        return self._mixed(lambda member: member.plausibility)

    @cached_property
    def pignistic(self) -> Array:
        """Pignistic probability, (n, K)."""
        return self._mixed(lambda member: member.pignistic)

    @cached_property
    def ignorance(self) -> Array:
        """Mass of the whole frame, (n,)."""
        return self._mixed(lambda member: member.ignorance)

    @property
    def conflict(self) -> Array:
        """Conflict between the sources, (n,)."""
        return self.conflict_mass

    @cached_property
    def doubt(self) -> Array:
        """Belief in all other classes, (n, K)."""
        return self._mixed(lambda member: member.doubt)

    @cached_property
    def surplus(self) -> Array:
        """Sum of the plausibilities less one, (n,)."""
        return self._mixed(lambda member: member.surplus)

    def mass_of(self, inside: list[int]) -> Array:
        """Mass of a set of classes, (n,)."""
        return self._mixed(lambda member: member.mass_of(inside))

    def belief_of(self, inside: list[int]) -> Array:
        """Belief in a set of classes, (n,)."""
        return self._mixed(lambda member: member.belief_of(inside))

    def plausibility_of(self, inside: list[int]) -> Array:
        """Plausibility of a set of classes, (n,)."""
        return self._mixed(lambda member: member.plausibility_of(inside))

    def commonality_of(self, inside: list[int]) -> Array:
        """Commonality of a set of classes, (n,)."""
        return self._mixed(lambda member: member.commonality_of(inside))

    def of_all_sets(self) -> Array:
        """All masses, (n, 2^K)."""
        return self._mixed(lambda member: member.of_all_sets())

    def focal_sets(self, top: int) -> list[list[Focal]]:
        """Find the largest focal sets of each row, among all 2^K sets."""
        return self._as_table(self.of_all_sets()).focal_sets(top)

    def _as_table(self, masses: Array) -> TableMasses:
        return TableMasses(*(to_numpy(x).astype(np.float64) for x in (masses, self.conflict_mass)))

    def lower_risk(self, loss: Array) -> Array:
        """Lower expected loss of each act, (n, acts)."""
        return self._mixed(lambda member: member.lower_risk(loss))

    def upper_risk(self, loss: Array) -> Array:
        """Upper expected loss of each act, (n, acts)."""
        return self._mixed(lambda member: member.upper_risk(loss))

    def extreme_points(self, value: FloatArray, rows: NDArray[np.intp]) -> FloatArray:
        """Mix those of the members: the greedy point is linear in the masses."""
        shares = to_numpy(self.shares)[rows].astype(np.float64)
        points = (
            shares[:, m, None] * member.extreme_points(value, rows)
            for m, member in enumerate(self.members)
        )
        return np.asarray(sum(points))

    def best_sets(self, utility: FloatArray, alpha: float) -> BoolArray:
        """Choose the set of largest expected utility, through the masses of all sets."""
        n_classes = int(self.belief.shape[-1])
        if n_classes > MOST_CLASSES:
            raise FrameTooLargeError(
                "On mixed evidence, rule 'utility_set' with expectation 'lower', 'upper' or "
                f"'hurwicz' looks at all 2^K sets: at most {MOST_CLASSES} classes are accepted; "
                f"got {n_classes}. Use expectation='probability' or 'pignistic'."
            )
        masses = self._mixed(lambda member: kernels.all_masses(member.terms))
        return self._as_table(masses).best_sets(utility, alpha)

    @property
    def _eps(self) -> float:
        return float(array_namespace(self.shares).finfo(self.shares.dtype).eps)

    @cached_property
    def rounding(self) -> Array:
        """That of the worst member, and an ulp for each member that is added up, (n, 1)."""
        xp = array_namespace(self.shares)
        worst = self.members[0].rounding
        for member in self.members[1:]:
            worst = xp.maximum(worst, member.rounding)
        return xp.clip(worst + 4.0 * len(self.members) * self._eps, max=MOST_ROUNDING)

    @property
    def relative_rounding(self) -> float:
        """That of a member, and an ulp for each member that is added up."""
        return self.members[0].relative_rounding + 4.0 * len(self.members) * self._eps

    @property
    def log_rounding(self) -> float:
        """As ``relative_rounding``: a relative error is an absolute one in the logarithm."""
        return self.relative_rounding

    def in_double(self) -> MixedMasses:
        """Return the same in double precision."""
        xp = array_namespace(self.shares)
        if self.shares.dtype == xp.float64:
            return self
        members = tuple(member.in_double() for member in self.members)
        shares, conflict = (xp.astype(x, xp.float64) for x in (self.shares, self.conflict_mass))
        return MixedMasses(members, shares, conflict)
