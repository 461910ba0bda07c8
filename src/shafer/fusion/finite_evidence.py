"""``FiniteEvidence``: evidence as a table of all 2^K masses, for small frames."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Never, final

import numpy as np
from numpy.typing import NDArray

from shafer._errors import FrameTooLargeError
from shafer._typing import Array, FloatArray, Label
from shafer._validation import class_labels, float_array, frozen, positions_of, to_numpy
from shafer.belief import Frame, MassFunction, dempster
from shafer.evidence import FocalSet, MassEvidence
from shafer.evidence.focal_sets import table_focal_sets
from shafer.evidence.statements.expert_statements import labels_given
from shafer.evidence.statements.stated_weights import stated
from shafer.evidence.weight_names import no_attribute
from shafer.opinion import TableOpinion

LARGEST_FRAME = 16
"""As many labels as ``shafer.belief`` enumerates."""

NO_WEIGHTS = (
    "Ask the sources for theirs, or combine them with combination='dempster' or 'cautious' and "
    "without reliability=, which gives Evidence."
)
"""Advice to those who ask combined evidence for weights."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class FiniteEvidence(MassEvidence):
    """A table of masses for each of n instances, for up to 16 classes.

    :func:`shafer.combine` returns it where no closed form exists. It has no weights.

    Attributes
    ----------
    table : array of shape (n, 2**K)
        Normalised masses; class k is bit k of the column index.
    conflict_mass : array of shape (n,)
        Mass of the empty set before normalising.
    classes : array of shape (K,)
    index : pandas index or array of shape (n,), optional
        Row labels.

    See Also
    --------
    shafer.combine : Makes one.
    shafer.MassEvidence : What all types of evidence share.

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
    conflict_mass: FloatArray

    if not TYPE_CHECKING:  # a type checker must not accept every name

        def __getattr__(self, name: str) -> Never:
            raise no_attribute("FiniteEvidence", name, NO_WEIGHTS)

    @classmethod
    def from_masses(cls, masses: Any, *, classes: Any = None) -> FiniteEvidence:
        """Take masses as they are, (n, 2^K). The mass of the empty set becomes conflict.

        Parameters
        ----------
        masses : array of shape (n, 2**K)
            Class k is bit k of the column index.
        classes : array of shape (K,), optional
            Class labels; 0..K−1 by default.

        Returns
        -------
        FiniteEvidence
        """
        table = to_numpy(float_array(masses, "masses", ndim=(2,))).astype(np.float64)
        n_classes = table.shape[1].bit_length() - 1
        labels = class_labels(classes, n_classes)
        frame = Frame(labels.tolist())
        return from_rows([MassFunction(frame, row) for row in table], labels)

    @classmethod
    def from_statements(cls, statements: Any, *, classes: Any, prior: Any = None) -> FiniteEvidence:
        """Combine an expert's statements about any sets of up to 16 classes.

        :meth:`shafer.Evidence.from_statements` takes any number of classes, and opinions about
        each row of a data frame, but only sets of one class or of all but one. ``prior`` is as
        there.

        Parameters
        ----------
        statements : sequence of statements, or one
            As in :meth:`shafer.Evidence.from_statements`, about one case.
        classes : sequence of K labels
        prior : array of shape (K,), or mapping or pandas Series by class, optional

        Returns
        -------
        FiniteEvidence
        """
        labels = class_labels(classes, len(labels_given(classes)))
        check_frame(len(labels), "statements about sets of several classes")
        frame = Frame(labels.tolist())
        parts = [MassFunction.vacuous(frame)]
        for claim in stated(statements, labels, prior):
            focus = [frame.labels[k] for k in claim.focus(len(labels))]
            parts.append(MassFunction.simple(focus, frame, weight=claim.weight))
        return from_rows([dempster(*parts)], labels)

    def __len__(self) -> int:
        return len(self.table)

    def _rows(self, positions: NDArray[np.intp]) -> FiniteEvidence:
        return replace(
            self,
            table=frozen(self.table[positions]),
            conflict_mass=frozen(self.conflict_mass[positions]),
            index=None,
        )

    @cached_property
    def _opinion(self) -> TableOpinion:
        return TableOpinion(self.table)

    @property
    def ignorance(self) -> FloatArray:
        """Mass of the whole frame m(Θ), (n,)."""
        return self.table[:, -1]

    @property
    def conflict(self) -> FloatArray:
        """Conflict between the sources, (n,): the mass of the empty set before normalising."""
        return self.conflict_mass

    @cached_property
    def weight_of_conflict(self) -> Array:
        """Shafer's weight of conflict −ln(1 − κ), (n,); infinite for total conflict."""
        with np.errstate(divide="ignore"):
            return frozen(-np.log1p(-self.conflict_mass))

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

    def focal_sets(self, top: int = 10) -> list[list[FocalSet]]:
        """Find the largest focal sets of each row, largest first, among all 2^K sets."""
        return table_focal_sets(self.table, self.classes, top)


def from_rows(rows: list[MassFunction], classes: NDArray[Any]) -> FiniteEvidence:
    """Gather one mass function per instance; the mass of the empty set is split off."""
    conflict = np.array([row.masses[0] for row in rows])
    table = np.array([row.normalised().masses for row in rows]).reshape(-1, 1 << len(classes))
    return FiniteEvidence(frozen(table), frozen(conflict), classes=classes)


def check_frame(n_classes: int, what: str) -> None:
    """Refuse a frame whose sets cannot be listed."""
    if n_classes > LARGEST_FRAME:
        raise FrameTooLargeError(
            f"{what[:1].upper()}{what[1:]} have no closed form, so all 2^K sets of the K classes "
            f"are listed. At most {LARGEST_FRAME} classes are accepted; got {n_classes}. Use fewer "
            "classes, or a combination without this limit: see the table in docs/guide/fusion.md."
        )
