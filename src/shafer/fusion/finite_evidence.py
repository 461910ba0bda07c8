"""``FiniteEvidence``: evidence as a table of all 2^K masses, for small frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer import belief
from shafer._checks.arrays import float_array, frozen, to_numpy
from shafer._checks.labels import class_labels
from shafer._masses.table import TableMasses
from shafer._typing import FloatArray
from shafer.belief.combination import dempster
from shafer.belief.frame import Frame
from shafer.belief.mass import MassFunction
from shafer.errors import FrameTooLargeError
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.statements import labels_given, stated
from shafer.fusion.frames import Alignment

LARGEST_FRAME = 16
"""As many labels as ``shafer.belief`` enumerates."""


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
    def _masses(self) -> TableMasses:
        return TableMasses(self.table, self.conflict_mass)


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


# Combining sources over all 2^K sets, instance by instance, with ``belief``.

COMBINATIONS: Mapping[str, Callable[..., MassFunction]] = MappingProxyType(
    {
        "dempster": belief.dempster,
        "cautious": belief.cautious,
        "disjunctive": belief.disjunctive,
        "bold": belief.bold,
        "yager": belief.yager,
        "dubois_prade": belief.dubois_prade,
    }
)


def combine_tables(
    evidences: list[MassEvidence],
    combination: str,
    alignment: Alignment,
    reliability: NDArray[np.float64] | None,
    *,
    balloon: bool,
) -> FiniteEvidence:
    """Combine sources given by all their masses."""
    frame = Frame(alignment.classes.tolist())
    tables = []
    for s, evidence in enumerate(evidences):
        own = _unnormalised(evidence) if combination == "bold" else _normalised(evidence)
        moved = np.zeros((len(own), frame.n_subsets))
        np.add.at(moved.T, alignment.masks(s, balloon=balloon), own.T)
        if reliability is not None:
            moved *= reliability[:, s, None]
            moved[:, -1] += 1.0 - reliability[:, s]
        tables.append(moved)
    combined, conflict = [], np.zeros(len(tables[0]))
    for i, rows in enumerate(zip(*tables, strict=True)):
        masses = [MassFunction(frame, row) for row in rows]
        combined.append(COMBINATIONS[combination](*masses))
        if combination in ("dempster", "cautious", "yager", "dubois_prade"):
            conflict[i] = belief.conjunctive(*masses).masses[0]
    result = from_rows(combined, alignment.classes)
    return result if combination in ("disjunctive", "bold") else _with_conflict(result, conflict)


def _with_conflict(result: FiniteEvidence, conflict: NDArray[np.float64]) -> FiniteEvidence:
    return replace(result, conflict_mass=frozen(np.minimum(conflict, 1.0)))


def _normalised(evidence: MassEvidence) -> NDArray[np.float64]:
    """Return the masses in double precision; those of single precision sum to 1 only nearly."""
    table: NDArray[np.float64] = to_numpy(evidence.masses()).astype(np.float64)
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _unnormalised(evidence: MassEvidence) -> NDArray[np.float64]:
    """Return the masses before normalising, with the conflict on the empty set."""
    table = _normalised(evidence)
    # exp(−weight) keeps the digits of 1 − κ that κ itself has lost near one.
    left = np.exp(-to_numpy(evidence.weight_of_conflict).astype(np.float64))
    conflict = to_numpy(evidence.conflict).astype(np.float64)
    if (conflict == 0).any():
        kind = type(evidence).__name__
        raise ValueError(
            "combination='bold' needs conflict inside every source; row "
            f"{int(np.argmin(conflict))} of a source ({kind}) has no conflict. Use "
            "combination='disjunctive', for independent sources of which at least one is reliable."
        )
    table = table * left[:, None]
    table[:, 0] = conflict
    return np.asarray(table / table.sum(axis=1, keepdims=True))
