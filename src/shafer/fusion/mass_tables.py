"""Combining sources over all 2^K sets, instance by instance, with ``belief``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from shafer import belief
from shafer._validation import frozen, to_numpy
from shafer.belief import Frame, MassFunction
from shafer.evidence import MassEvidence
from shafer.fusion.finite_evidence import FiniteEvidence, from_rows
from shafer.fusion.frame_alignment import Alignment

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
        own = _unnormalised(evidence) if combination == "bold" else _masses(evidence)
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


def _masses(evidence: MassEvidence) -> NDArray[np.float64]:
    """Return the masses in double precision; those of single precision sum to 1 only nearly."""
    table: NDArray[np.float64] = to_numpy(evidence.masses()).astype(np.float64)
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _unnormalised(evidence: MassEvidence) -> NDArray[np.float64]:
    """Return the masses before normalising, with the conflict on the empty set."""
    table = _masses(evidence)
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
