"""``TableMasses``: all 2^K masses of every row, for small frames."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from typing import final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import frozen, to_numpy
from shafer._kernels.products import product
from shafer._masses.masses import Focal, Masses
from shafer._masses.pooled import TIE
from shafer._typing import Array, BoolArray, FloatArray

_ROUNDING = 4096.0 * float(np.finfo(np.float64).eps)  # as far as the combination rules are exact
_BLOCK = 2**22  # masses handled at a time


@final
@dataclass(frozen=True, eq=False)
class TableMasses(Masses):
    """A table of normalised masses; class k is bit k of the column index. NumPy, float64.

    Parameters
    ----------
    table : array of shape (n, 2**K)
    conflict_mass : array of shape (n,)
        Mass of the empty set before normalising.
    """

    table: FloatArray
    conflict_mass: FloatArray

    @property
    def _n_classes(self) -> int:
        return int(self.table.shape[1]).bit_length() - 1

    @cached_property
    def belief(self) -> Array:
        """Belief in each class, (n, K): the mass of the class itself."""
        return frozen(self.table[:, 1 << np.arange(self._n_classes)])

    @cached_property
    def plausibility(self) -> Array:
        """Plausibility of each class, (n, K): the mass of all sets that hold it."""
        return frozen(np.minimum(product(self.table, members(self._n_classes)), 1.0))

    @cached_property
    def pignistic(self) -> Array:
        """Pignistic probability, (n, K): each set's mass shared equally among its classes."""
        inside = members(self._n_classes)
        shares = inside / np.maximum(inside.sum(axis=1, keepdims=True), 1)
        return frozen(product(self.table, shares))

    @property
    def ignorance(self) -> FloatArray:
        """Mass of the whole frame, (n,)."""
        return self.table[:, -1]

    @property
    def conflict(self) -> FloatArray:
        """The mass of the empty set before normalising, (n,)."""
        return self.conflict_mass

    @cached_property
    def doubt(self) -> Array:
        """Belief in all other classes, (n, K): the mass of all sets without the class."""
        found = product(self.table[:, 1:], 1.0 - members(self._n_classes)[1:])
        return frozen(np.minimum(found, 1.0))

    @cached_property
    def surplus(self) -> Array:
        """Sum of the plausibilities less one, (n,)."""
        others = members(self._n_classes)[1:].sum(axis=1, keepdims=True) - 1.0
        return frozen(product(self.table[:, 1:], others)[:, 0])

    @property
    def _sets(self) -> NDArray[np.intp]:
        """Every set as the bits of its classes, (2^K,)."""
        return np.arange(self.table.shape[1])

    def _sum(self, wanted: BoolArray) -> Array:
        # Side by side, so that a row alone is added up in the same order.
        return np.minimum(np.ascontiguousarray(self.table[:, wanted]).sum(axis=1), 1.0)

    def mass_of(self, inside: list[int]) -> FloatArray:
        """Mass of a set of classes, (n,)."""
        return self.table[:, _mask(inside)]

    def belief_of(self, inside: list[int]) -> Array:
        """Belief in a set of classes, (n,): the mass of its subsets."""
        return self._sum((self._sets & ~_mask(inside)) == 0)

    def plausibility_of(self, inside: list[int]) -> Array:
        """Plausibility of a set of classes, (n,): the mass of the sets that meet it."""
        return self._sum((self._sets & _mask(inside)) != 0)

    def commonality_of(self, inside: list[int]) -> Array:
        """Commonality of a set of classes, (n,): the mass of the sets that contain it."""
        return self._sum((self._sets & _mask(inside)) == _mask(inside))

    def of_all_sets(self) -> FloatArray:
        """All masses, (n, 2^K)."""
        return self.table

    def focal_sets(self, top: int) -> list[list[Focal]]:
        """Find the largest focal sets of each row, among all 2^K sets."""
        return [
            [
                (float(row[mask]), tuple(k for k in range(self._n_classes) if mask >> k & 1))
                for mask in np.argsort(-row, kind="stable")[:top]
                if row[mask] > 0
            ]
            for row in self.table
        ]

    def lower_risk(self, loss: Array) -> FloatArray:
        """Lower expected loss of each act, (n, acts)."""
        return -self._largest(-to_numpy(loss))

    def upper_risk(self, loss: Array) -> FloatArray:
        """Upper expected loss of each act, (n, acts)."""
        return self._largest(to_numpy(loss))

    def _largest(self, loss: FloatArray) -> FloatArray:
        """Return the expected largest loss inside the focal sets, (n, acts)."""
        largest = np.full((self.table.shape[1], len(loss)), -np.inf)
        for k in range(self._n_classes):  # sets of the first k + 1 classes, from those of k
            new = slice(1 << k, 2 << k)
            largest[new] = np.maximum(largest[: 1 << k], loss[:, k])
        risk: FloatArray = product(self.table[:, 1:], largest[1:])  # the empty set has no mass
        return risk

    def extreme_points(self, value: FloatArray, rows: NDArray[np.intp]) -> FloatArray:
        """Give the mass of each set to its member of least value."""
        order = np.argsort(value, kind="stable")
        inside = members(self._n_classes)[:, order]
        first = np.zeros((self.table.shape[1], self._n_classes))
        first[np.arange(1, len(inside)), order[inside[1:].argmax(axis=1)]] = 1.0
        point: FloatArray = self.table[rows] @ first
        return point

    def best_sets(self, utility: FloatArray, alpha: float) -> BoolArray:
        """Choose the set of largest expected utility among all sets."""
        sets = _by_size(self._n_classes)
        inside = members(self._n_classes)[sets] > 0
        gain = utility[inside.sum(axis=1) - 1]
        chosen = np.empty((len(self.table), self._n_classes), dtype=np.bool_)
        step = max(1, _BLOCK // self.table.shape[1])
        for start in range(0, len(self.table), step):
            block = slice(start, start + step)
            belief = beliefs(self.table[block])
            plausibility = belief[:, -1:] - belief[:, ::-1]  # 1 − belief in the complement
            value = gain * (alpha * belief + (1.0 - alpha) * plausibility)[:, sets]
            tied = value >= value.max(axis=1, keepdims=True) - TIE
            chosen[block] = inside[tied.argmax(axis=1)]
        return chosen

    @property
    def rounding(self) -> float:
        """As far as the combination rules are exact."""
        return _ROUNDING

    @property
    def relative_rounding(self) -> float:
        """As ``rounding``: the masses come out of sums over many sets."""
        return _ROUNDING

    @property
    def log_rounding(self) -> float:
        """As ``rounding``: a relative error is an absolute one in the logarithm."""
        return _ROUNDING

    def in_double(self) -> TableMasses:
        """Return these masses: tables are in double precision."""
        return self


def _mask(inside: list[int]) -> int:
    return sum(1 << k for k in inside)


def beliefs(table: FloatArray) -> FloatArray:
    """Return the belief in every set, (n, 2^K): the masses of all its subsets, summed."""
    belief = table.copy()
    for k in range(table.shape[1].bit_length() - 1):
        halves = belief.reshape(len(table), -1, 2, 1 << k)
        halves[:, :, 1] += halves[:, :, 0]
    return belief


@lru_cache(maxsize=16)
def members(n_classes: int) -> Array:
    """Return a (2^K, K) table of ones and zeros: whether class k is in the set."""
    sets = np.arange(1 << n_classes)
    return frozen(((sets[:, None] >> np.arange(n_classes)) & 1).astype(np.float64))


@lru_cache(maxsize=16)
def _by_size(n_classes: int) -> NDArray[np.intp]:
    """Return the columns of all nonempty sets: fewer classes first, then earlier classes."""
    sizes = range(1, n_classes + 1)
    sets = [c for size in sizes for c in combinations(range(n_classes), size)]
    return np.array([sum(1 << k for k in inside) for inside in sets], dtype=np.intp)
