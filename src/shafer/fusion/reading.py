"""What can be read off fused evidence that is no longer a pool of simple mass functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from shafer._typing import Array, Label
from shafer._validation import frozen
from shafer.decision import choose_largest, interval_dominance
from shafer.evidence import tables

_RULES = ("interval_dominance", "maximality", "plausibility", "belief", "pignistic")


class FusedEvidence(ABC):
    """A mass function for each of n instances, under the names that ``Evidence`` uses.

    It has no weights and no components of its own: those are the sources'. Arrays about classes
    are (n, K) in the order of ``classes``, arrays about instances (n,).
    """

    classes: NDArray[Any]
    conflict: Array
    """Conflict between the sources, (n,): what the rule had to do something about."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, rows: Any) -> FusedEvidence: ...

    @property
    def n_classes(self) -> int:
        """The number K of classes."""
        return len(self.classes)

    @property
    @abstractmethod
    def belief(self) -> Array:
        """Belief in each class, (n, K): the mass of the class itself."""

    @property
    @abstractmethod
    def plausibility(self) -> Array:
        """Plausibility of each class, (n, K): one less the belief that it is another."""

    @property
    @abstractmethod
    def pignistic(self) -> Array:
        """Pignistic probability, (n, K): each set's mass shared equally among its classes."""

    @property
    @abstractmethod
    def ignorance(self) -> Array:
        """Mass of the whole frame m(Θ), (n,)."""

    @abstractmethod
    def mass_of(self, subset: Label | Iterable[Label]) -> Array:
        """Mass of one set of class labels, (n,)."""

    @abstractmethod
    def belief_of(self, subset: Label | Iterable[Label]) -> Array:
        """Belief that the class is in a set of labels, (n,)."""

    @abstractmethod
    def plausibility_of(self, subset: Label | Iterable[Label]) -> Array:
        """Plausibility that the class is in a set of labels, (n,)."""

    @abstractmethod
    def commonality_of(self, subset: Label | Iterable[Label]) -> Array:
        """Commonality of a set of labels, (n,): the mass of all sets that contain it."""

    @abstractmethod
    def masses(self) -> Array:
        """All masses, (n, 2^K); class k is bit k of the column index, column 0 the empty set."""

    @abstractmethod
    def lower_risk(self, loss: Any) -> Array:
        """Return the lower expected loss of each act, (n, acts); see ``Evidence.lower_risk``."""

    @abstractmethod
    def upper_risk(self, loss: Any) -> Array:
        """Return the upper expected loss of each act, (n, acts); see ``Evidence.upper_risk``."""

    @cached_property
    def probability(self) -> Array:
        """Normalised plausibilities, (n, K)."""
        xp = array_api_compat.array_namespace(self.plausibility)
        total = xp.sum(self.plausibility, axis=-1, keepdims=True)
        return frozen(self.plausibility / total)

    @cached_property
    def logits(self) -> Array:
        """Logarithms of the plausibilities, (n, K); −∞ where a class is impossible."""
        xp = array_api_compat.array_namespace(self.plausibility)
        possible = self.plausibility > 0
        return xp.where(possible, xp.log(xp.where(possible, self.plausibility, 1.0)), -xp.inf)

    @cached_property
    def weight_of_conflict(self) -> Array:
        """Shafer's weight of conflict −ln(1 − κ), (n,)."""
        xp = array_api_compat.array_namespace(self.conflict)
        total = self.conflict >= 1.0
        return xp.where(total, xp.inf, -xp.log1p(-xp.where(total, 0.0, self.conflict)))

    def decide(self, rule: str = "interval_dominance") -> Array:
        """Choose a set of classes for each instance, boolean (n, K); see ``Evidence.decide``."""
        if rule not in _RULES:
            known = ", ".join(map(repr, _RULES))
            raise ValueError(f"rule must be one of {known} for fused evidence; got {rule!r}.")
        if rule in ("interval_dominance", "maximality"):  # the same under 0-1 loss
            return interval_dominance(self.belief, self.plausibility)
        score: Array = getattr(self, rule)
        return choose_largest(score)

    def to_frame(self, backend: str | None = None) -> Any:
        """Return one row per instance as a data frame; the columns are ``Evidence.to_frame``'s."""
        return tables.to_frame(self, backend)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        labels = ", ".join(map(repr, self.classes.tolist()[:6]))
        more = ", ..." if self.n_classes > 6 else ""
        name = type(self).__name__
        return f"<{name}: {len(self)} instances, {self.n_classes} classes ({labels}{more})>"


def row_positions(rows: Any, n: int) -> NDArray[np.intp]:
    """Return the positions that an index of rows means, as ``Evidence`` reads it."""
    positions = np.atleast_1d(np.arange(n)[np.asarray(rows) if isinstance(rows, list) else rows])
    if positions.ndim != 1:
        raise IndexError(f"Evidence is indexed by rows only; got {rows!r}.")
    return positions
