"""What can be read off fused evidence that is no longer a pool of simple mass functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, cast, final

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from shafer._typing import Array, Label
from shafer._validation import frozen, to_numpy
from shafer.decision import Opinion
from shafer.evidence import deciding
from shafer.evidence.focal_set import FocalSet
from shafer.evidence.io import frame_table

_OF_WEIGHTS = (
    "weights",
    "weights_for",
    "weights_against",
    "components",
    "component_names",
    "n_components",
    "conflict_for_against",
    "grouped",
    "without",
    "tempered",
    "discounted",
    "save",
)
"""What ``Evidence`` has and fused evidence has not."""


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

    def focal_sets(self, top: int = 10) -> list[list[FocalSet]]:
        """Find the largest focal sets of each row, largest first, among all 2^K sets."""
        if isinstance(top, bool) or not isinstance(top, int | np.integer) or top < 1:
            raise ValueError(f"top must be a positive integer; got {top!r}.")
        labels = self.classes.tolist()

        def members(mask: int) -> frozenset[Label]:
            return frozenset(label for k, label in enumerate(labels) if mask >> k & 1)

        return [
            [
                FocalSet(members(int(mask)), float(masses[mask]))
                for mask in np.argsort(-masses, kind="stable")[:top]
                if masses[mask] > 0
            ]
            for masses in to_numpy(self.masses())
        ]

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

    def decide(self, rule: str = "interval_dominance", **options: Any) -> Array:
        """Choose classes, (n, K), or acts, (n, acts), for each instance; see ``Evidence.decide``.

        Takes its options, and all its rules but ``"e_admissible"`` and, under 0-1 loss, the
        expectations ``"lower"``, ``"upper"`` and ``"hurwicz"`` of ``"utility_set"``: those need
        weights of evidence.
        """
        return deciding.decide(_opinion(self, rule, options), deciding.question(rule, options))

    def acts(self, rule: str = "interval_dominance", **options: Any) -> list[Any]:
        """Decide, in words: the names of the acts chosen for each instance, or of the classes."""
        opinion = _opinion(self, rule, options)
        return deciding.named_acts(opinion, self.classes, deciding.question(rule, options))

    def to_frame(self, backend: str | None = None) -> Any:
        """Return one row per instance as a data frame; the columns are ``Evidence.to_frame``'s."""
        # The table needs no more than the reading names, which this has as well.
        return frame_table.to_frame(self, backend)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Any:
        kind = type(self).__name__
        if name in _OF_WEIGHTS:
            raise AttributeError(
                f"{kind} has no {name!r}: it is no longer a pool of weights of evidence, whose "
                "components could be told apart. Ask the sources, or combine them by a rule that "
                "gives Evidence: 'dempster' or 'cautious' without reliability=."
            )
        raise AttributeError(f"{kind!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        labels = ", ".join(map(repr, self.classes.tolist()[:6]))
        more = ", ..." if self.n_classes > 6 else ""
        name = type(self).__name__
        return f"<{name}: {len(self)} instances, {self.n_classes} classes ({labels}{more})>"


def _opinion(fused: FusedEvidence, rule: str, options: Mapping[str, Any]) -> Opinion:
    """Show fused evidence to the decision rules, those that need no weights."""
    matrix = options.get("loss") is not None or options.get("utility") is not None
    bets = options.get("expectation") in (None, "probability", "pignistic")
    if rule == "e_admissible" or (rule == "utility_set" and not matrix and not bets):
        asked = rule if rule == "e_admissible" else f"{rule}, expectation={options['expectation']}"
        raise ValueError(
            f"the rule {asked!r} needs weights of evidence, which {type(fused).__name__} has not. "
            "Use 'maximality', which keeps at least as much as 'e_admissible'; for 'utility_set' "
            "the expectation 'probability' or 'pignistic', or a loss matrix."
        )
    return cast("Opinion", _Seen(fused))


@final
class _Seen:
    """What the decision rules read of an :class:`~shafer.decision.Opinion`, off fused evidence."""

    reliability = None

    def __init__(self, fused: FusedEvidence) -> None:
        self.fused = fused
        self.base = self.forms = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self.fused, name)

    @property
    def rounding(self) -> float:
        """How far rounding can move an expectation: as far as the combination rules are exact."""
        dtype = self.fused.belief.dtype
        xp = array_api_compat.array_namespace(self.fused.belief)
        return 4096.0 * float(xp.finfo(dtype).eps)

    @property
    def log_belief(self) -> Array:
        """Logarithms of the beliefs, −∞ where there is none."""
        xp = array_api_compat.array_namespace(self.fused.belief)
        there = self.fused.belief > 0
        return xp.where(there, xp.log(xp.where(there, self.fused.belief, 1.0)), -xp.inf)


def row_positions(rows: Any, n: int) -> NDArray[np.intp]:
    """Return the positions that an index of rows means, as ``Evidence`` reads it."""
    positions = np.atleast_1d(np.arange(n)[np.asarray(rows) if isinstance(rows, list) else rows])
    if positions.ndim != 1:
        raise IndexError(f"Evidence is indexed by rows only; got {rows!r}.")
    return positions
