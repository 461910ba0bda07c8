"""Evidence over all 2^K sets, for small frames: where pooled evidence leaves its closed forms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._errors import FrameTooLargeError
from shafer._typing import Array, FloatArray, Label
from shafer._validation import class_labels, float_array, frozen, positions_of, to_numpy
from shafer.belief import Frame, MassFunction, dempster
from shafer.decision import read_loss
from shafer.evidence.expert_statements import labels_given, read_statements
from shafer.fusion.fused_evidence import FusedEvidence, row_positions

LARGEST_FRAME = 16
"""As many labels as ``shafer.belief`` enumerates."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class FiniteEvidence(FusedEvidence):
    """A table of masses for each of n instances; made by ``combine`` where it must.

    Attributes
    ----------
    table : array of shape (n, 2**K)
        Normalised masses; class k is bit k of the column index.
    conflict : array of shape (n,)
        Mass of the empty set before normalising.
    classes : array of shape (K,)

    Examples
    --------
    >>> import shafer
    >>> expert = shafer.fusion.FiniteEvidence.from_statements(
    ...     ["against {B, C} with support 0.7"], classes=["A", "B", "C", "D"]
    ... )
    >>> expert.plausibility.round(3)
    array([[1. , 0.3, 0.3, 1. ]])
    """

    table: FloatArray
    conflict: FloatArray
    classes: NDArray[Any]

    @classmethod
    def from_masses(cls, masses: Any, *, classes: Any = None) -> FiniteEvidence:
        """Take masses as they are, (n, 2^K); what the empty set holds becomes conflict.

        Parameters
        ----------
        masses : array of shape (n, 2**K)
            Class k is bit k of the column index.
        classes : array of shape (K,), optional
            Class labels; 0..K−1 by default.
        """
        table = to_numpy(float_array(masses, "masses", ndim=(2,))).astype(np.float64)
        n_classes = table.shape[1].bit_length() - 1
        labels = class_labels(classes, n_classes)
        frame = Frame(labels.tolist())
        return from_rows([MassFunction(frame, row) for row in table], labels)

    @classmethod
    def from_statements(cls, statements: Any, *, classes: Any) -> FiniteEvidence:
        """Pool what an expert says about any sets of classes; see ``Evidence.from_statements``.

        That method is for sets of one class, or of all but one, and has no limit on the number of
        classes; this one takes every set, of up to 16 classes.
        """
        labels = class_labels(classes, len(labels_given(classes)))
        check_frame(len(labels), "statements about sets of several classes")
        frame = Frame(labels.tolist())
        said = read_statements(statements, labels)
        parts = [MassFunction.vacuous(frame)]
        for claim in said:
            focus = [frame.labels[k] for k in claim.focus(len(labels))]
            parts.append(MassFunction.simple(focus, frame, weight=claim.weight))
        return from_rows([dempster(*parts)], labels)

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, rows: Any) -> FiniteEvidence:
        """Take instances by position, slice, list of positions or boolean mask."""
        positions = row_positions(rows, len(self))
        return FiniteEvidence(self.table[positions], self.conflict[positions], self.classes)

    @cached_property
    def belief(self) -> Array:
        """Belief in each class, (n, K): the mass of the class itself."""
        return frozen(self.table[:, 1 << np.arange(self.n_classes)])

    @cached_property
    def plausibility(self) -> Array:
        """Plausibility of each class, (n, K): one less the belief that it is another."""
        return frozen(np.minimum(self.table @ _members(self.n_classes), 1.0))

    @cached_property
    def pignistic(self) -> Array:
        """Pignistic probability, (n, K): each set's mass shared equally among its classes."""
        inside = _members(self.n_classes)
        return frozen(self.table @ (inside / np.maximum(inside.sum(axis=1, keepdims=True), 1)))

    @property
    def ignorance(self) -> FloatArray:
        """Mass of the whole frame m(Θ), (n,)."""
        return self.table[:, -1]

    def _mask(self, subset: Label | Iterable[Label]) -> int:
        return sum(1 << k for k in positions_of(subset, self.classes))

    def _sum(self, wanted: NDArray[np.bool_]) -> Array:
        return np.minimum(self.table[:, wanted].sum(axis=1), 1.0)

    def mass_of(self, subset: Label | Iterable[Label]) -> FloatArray:
        """Mass of one set of class labels, (n,)."""
        return self.table[:, self._mask(subset)]

    def belief_of(self, subset: Label | Iterable[Label]) -> Array:
        """Belief that the class is in a set of labels, (n,)."""
        sets = np.arange(self.table.shape[1])
        return self._sum((sets & ~self._mask(subset)) == 0)

    def plausibility_of(self, subset: Label | Iterable[Label]) -> Array:
        """Plausibility that the class is in a set of labels, (n,)."""
        return self._sum((np.arange(self.table.shape[1]) & self._mask(subset)) != 0)

    def commonality_of(self, subset: Label | Iterable[Label]) -> Array:
        """Commonality of a set of labels, (n,): the mass of all sets that contain it."""
        mask = self._mask(subset)
        return self._sum((np.arange(self.table.shape[1]) & mask) == mask)

    def masses(self) -> FloatArray:
        """All masses, (n, 2^K); class k is bit k of the column index, column 0 the empty set."""
        return self.table

    def lower_risk(self, loss: Any) -> Array:
        """Return the lower expected loss of each act, (n, acts); see ``Evidence.lower_risk``."""
        return -self._worst(-to_numpy(read_loss(loss, self.plausibility).loss))

    def upper_risk(self, loss: Any) -> Array:
        """Return the upper expected loss of each act, (n, acts); see ``Evidence.upper_risk``."""
        return self._worst(to_numpy(read_loss(loss, self.plausibility).loss))

    def _worst(self, losses: FloatArray) -> Array:
        """Return the expected largest loss inside the focal sets, for losses (acts, K)."""
        inside = _members(self.n_classes)[1:] > 0  # the empty set has no mass
        largest = np.where(inside, losses[:, None, :], -np.inf).max(axis=2)
        return self.table[:, 1:] @ largest.T


def from_rows(rows: list[MassFunction], classes: NDArray[Any]) -> FiniteEvidence:
    """Gather one mass function per instance; the mass of the empty set is split off."""
    conflict = np.array([row.masses[0] for row in rows])
    table = np.array([row.normalised().masses for row in rows]).reshape(-1, 1 << len(classes))
    return FiniteEvidence(frozen(table), frozen(conflict), classes)


def check_frame(n_classes: int, what: str) -> None:
    """Refuse a frame whose sets cannot be listed."""
    if n_classes > LARGEST_FRAME:
        raise FrameTooLargeError(
            f"{what[:1].upper()}{what[1:]} lead outside the closed forms, and are pooled over all "
            f"2^K sets of classes: at most {LARGEST_FRAME} classes are accepted; got {n_classes}."
        )


def _members(n_classes: int) -> NDArray[np.float64]:
    """Return a (2^K, K) table of ones: whether class k is in the set."""
    sets = np.arange(1 << n_classes)
    return ((sets[:, None] >> np.arange(n_classes)) & 1).astype(np.float64)
