"""``Masses``: the mass function of every row, with everything that is read from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TypeAlias

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from shafer._checks.arrays import frozen
from shafer._typing import Array, BoolArray, FloatArray

MOST_ROUNDING = 1e-6
"""No tolerance for rounding exceeds this: a difference beyond it always decides."""


Focal: TypeAlias = tuple[float, tuple[int, ...]]
"""A mass, and the positions of the classes in its set."""


class Masses(ABC):
    """A mass function for each row, over K classes known by their positions.

    Arrays about classes are (..., K), arrays about rows (...).
    """

    # -- readings of every class ----------------------------------------------------------------

    @property
    @abstractmethod
    def belief(self) -> Array:
        """Belief in each class, (..., K)."""

    @property
    @abstractmethod
    def plausibility(self) -> Array:
        """Plausibility of each class, (..., K)."""

    @property
    @abstractmethod
    def pignistic(self) -> Array:
        """Pignistic probability, (..., K)."""

    @cached_property
    def probability(self) -> Array:
        """Normalised plausibilities, (..., K)."""
        xp = array_namespace(self.plausibility)
        total = xp.sum(self.plausibility, axis=-1, keepdims=True)
        return frozen(self.plausibility / total)

    @property
    def log_plausibility(self) -> Array:
        """Logarithms of the plausibilities up to a constant in each row, (..., K).

        They order the classes as the plausibilities do. −∞ marks an impossible class.
        """
        return _log_of(self.plausibility)

    @property
    def log_belief(self) -> Array:
        """Logarithms of the beliefs up to a constant in each row, (..., K); −∞ for no belief."""
        return _log_of(self.belief)

    # -- readings of the row --------------------------------------------------------------------

    @property
    @abstractmethod
    def ignorance(self) -> Array:
        """Mass of the whole frame, (...)."""

    @property
    @abstractmethod
    def conflict(self) -> Array:
        """Conflict κ, (...): the mass of the empty set before normalising."""

    @cached_property
    def weight_of_conflict(self) -> Array:
        """Shafer's weight of conflict −ln(1 − κ), (...); infinite for total conflict."""
        xp = array_namespace(self.conflict)
        total = self.conflict >= 1.0
        weight = -xp.log1p(-xp.where(total, 0.0, self.conflict))
        return frozen(xp.where(total, xp.inf, weight))

    @property
    @abstractmethod
    def doubt(self) -> Array:
        """Belief in all other classes, (..., K): 1 − plausibility, also where that rounds to 0."""

    @property
    @abstractmethod
    def surplus(self) -> Array:
        """Sum of the plausibilities less one, (...): Σ m(A) (|A| − 1), with all its digits."""

    @property
    def lack(self) -> Array:
        """Ln Σ pl, (...): from 0, where all mass is on single classes, to ln K."""
        return self.lack_and_contradiction[0]

    @property
    def contradiction(self) -> Array:
        """−ln max pl, (...): from 0, where the evidence leaves some class undenied, to ln K."""
        return self.lack_and_contradiction[1]

    @cached_property
    def lack_and_contradiction(self) -> tuple[Array, Array]:
        """Ln Σ pl and −ln max pl, (...) each: their sum is −ln max p."""
        xp = array_namespace(self.surplus)
        # The largest plausibility is at least 1/K, as their sum is at least one.
        most = 1.0 - 1.0 / self.doubt.shape[-1]
        least_doubt = xp.clip(xp.min(self.doubt, axis=-1), max=most)
        return frozen(xp.log1p(self.surplus)), frozen(-xp.log1p(-least_doubt))

    # -- sets of classes, by the sorted positions of their classes ------------------------------

    @abstractmethod
    def mass_of(self, inside: list[int]) -> Array:
        """Mass of a set of classes, (...)."""

    @abstractmethod
    def belief_of(self, inside: list[int]) -> Array:
        """Belief in a set of classes, (...)."""

    @abstractmethod
    def plausibility_of(self, inside: list[int]) -> Array:
        """Plausibility of a set of classes, (...)."""

    @abstractmethod
    def commonality_of(self, inside: list[int]) -> Array:
        """Commonality of a set of classes, (...): the mass of all sets that contain it."""

    @abstractmethod
    def of_all_sets(self) -> Array:
        """All masses, (..., 2^K); class k is bit k of the column index, column 0 the empty set.

        Where they have to be computed, more than 2^26 of them are refused.
        """

    @abstractmethod
    def focal_sets(self, top: int) -> list[list[Focal]]:
        """Find the ``top`` largest focal sets of each row, largest first; rows in a flat order."""

    # -- expectations ---------------------------------------------------------------------------

    @abstractmethod
    def lower_risk(self, loss: Array) -> Array:
        """Lower expected loss of each act, (..., acts), for a loss of (acts, K).

        Parameters
        ----------
        loss : array of shape (acts, K)
            The loss of each act under each class.

        Returns
        -------
        array of shape (..., acts)
        """

    @abstractmethod
    def upper_risk(self, loss: Array) -> Array:
        """Upper expected loss of each act, (..., acts), for a loss of (acts, K).

        Parameters
        ----------
        loss : array of shape (acts, K)
            The loss of each act under each class.

        Returns
        -------
        array of shape (..., acts)
        """

    @abstractmethod
    def extreme_points(self, value: FloatArray, rows: NDArray[np.intp]) -> FloatArray:
        """Return compatible probabilities that give ``value`` (K,) the least expectation.

        A NumPy array (rows, K); ``rows`` are positions in one flat order. Each focal set gives its
        mass to its member of least value, the first one on a tie.

        Parameters
        ----------
        value : array of shape (K,)
            A value of each class.
        rows : integer array
            Positions of the rows, in one flat order.

        Returns
        -------
        array of shape (rows, K)
            Each row sums to 1.
        """

    @abstractmethod
    def best_sets(self, utility: FloatArray, alpha: float) -> BoolArray:
        r"""Choose the set of classes of largest expected utility; boolean (..., K), NumPy.

        A set A of b classes that holds the truth has the utility :math:`g_b`, ``utility`` (K,).
        Its expectation is :math:`g_b (\alpha\, Bel(A) + (1 - \alpha)\, Pl(A))`. Ties go to fewer
        classes, then to earlier ones. A set answer is a bet, so discounting is left out.

        Parameters
        ----------
        utility : array of shape (K,)
            The utility of a set of 1, ..., K classes that holds the true class.
        alpha : float
            The weight of belief, from 0 to 1; plausibility has the rest.

        Returns
        -------
        boolean array of shape (..., K)
        """

    def e_admissible_classes(self) -> Array | None:
        """Mark the E-admissible classes under 0-1 loss, if there is a closed form, else None.

        Returns
        -------
        boolean array of shape (..., K), or None
        """
        return None

    # -- rounding -------------------------------------------------------------------------------

    @property
    @abstractmethod
    def rounding(self) -> Array | float:
        """How far rounding can move an expectation of losses in [−1, 1], (..., 1) or a number.

        A rule drops an act only for a difference beyond this. At most ``MOST_ROUNDING``.
        """

    @property
    @abstractmethod
    def relative_rounding(self) -> float:
        """How far rounding can move a belief, relative to the largest belief of its row."""

    @property
    @abstractmethod
    def log_rounding(self) -> float:
        """How far rounding can move ``log_plausibility`` and ``log_belief``."""

    # -- other forms ----------------------------------------------------------------------------

    @property
    def base(self) -> Masses:
        """The mass function before discounting: what one bets with."""
        return self

    @abstractmethod
    def in_double(self) -> Masses:
        """Return the same in double precision: decisions are made there.

        Returns
        -------
        Masses
        """


def _log_of(values: Array) -> Array:
    """Take logarithms; −∞ for zero, without a warning."""
    xp = array_namespace(values)
    positive = values > 0
    return xp.where(positive, xp.log(xp.where(positive, values, 1.0)), -xp.inf)
