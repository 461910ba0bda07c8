"""Sources with weights of evidence, side by side over the joined classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._validation import class_labels, numbered
from shafer.evidence import Evidence, MassEvidence
from shafer.evidence.weight_sources import JoinedWeights, Part, parts_of
from shafer.fusion.cautious_winners import winners
from shafer.fusion.frame_alignment import Alignment
from shafer.fusion.named_sources import Sources, column_like


@final
@dataclass(frozen=True, eq=False)
class SourcePool:
    """The parts of each source, over the joined classes, and the names of their components."""

    parts: tuple[tuple[Part, ...], ...]
    names: tuple[tuple[str, ...], ...]
    classes: NDArray[Any]

    def dempster(self, chosen: Sequence[int] | None = None) -> Evidence:
        """Add up the weights of some sources, or of all."""
        members = range(len(self.parts)) if chosen is None else chosen
        joined = JoinedWeights(tuple(part for s in members for part in self.parts[s]))
        names = tuple(name for s in members for name in self.names[s])
        return Evidence.from_source(joined, self.classes, names)

    def cautious(self) -> Evidence:
        """Keep the strongest source for each claim."""
        won = winners([JoinedWeights(own).pooled() for own in self.parts])
        limited = tuple(
            tuple(part.limited(*where) for part in own)
            for own, where in zip(self.parts, won, strict=True)
        )
        return replace(self, parts=limited).dempster()


def source_pool(
    sources: Sources,
    alignment: Alignment,
    factors: NDArray[np.float64] | None,
    *,
    whole: bool = False,
) -> SourcePool:
    """Put the weights of all sources side by side; ``whole`` names each after its source alone."""
    everyone = range(len(sources.names))
    parts = tuple(_parts(sources, s, alignment.places(s), factors) for s in everyone)
    names = tuple(
        (sources.names[s],)
        if whole
        else tuple(f"{sources.names[s]}: {name}" for name in sources.evidences[s].component_names)
        for s in everyone
    )
    distinct = iter(numbered([name for own in names for name in own]))
    names = tuple(tuple(next(distinct) for _ in own) for own in names)
    return SourcePool(parts, names, alignment.classes)


def alone(
    sources: Sources, s: int, factors: NDArray[np.float64] | None, *, unknown: int = 0
) -> MassEvidence:
    """Return a source over its own classes, tempered, with ``unknown`` weightless classes last."""
    evidence: MassEvidence = sources.evidences[s]
    plain = factors is None or bool((factors[:, s] == 1.0).all())
    if plain and not unknown:
        return evidence
    if not isinstance(evidence, Evidence):
        raise ValueError(_no_weights(sources.names[s], evidence, plain))
    places = np.append(np.arange(evidence.n_classes), np.full(unknown, -1))
    joined = JoinedWeights(_parts(sources, s, places, factors))
    # Only the masses are read: the classes need no labels.
    labels = class_labels(None, len(places)) if unknown else evidence.classes
    return Evidence.from_source(joined, labels, evidence.component_names)


def _no_weights(name: str, evidence: MassEvidence, plain: bool) -> str:
    kind = type(evidence).__name__
    if plain:
        return (
            f"frame='match' needs weights of evidence for a source that lacks some classes; source "
            f"{name!r} is a {kind}, which has no weights. Use frame='balloon', or make the source "
            "over all classes."
        )
    return (
        f"tempering needs weights of evidence; source {name!r} is a {kind}, which has no weights. "
        "Use reliability= for it."
    )


def _parts(
    sources: Sources, s: int, places: NDArray[np.intp], factors: NDArray[np.float64] | None
) -> tuple[Part, ...]:
    evidence = sources.evidences[s]
    parts = parts_of(evidence.unchanged_source(), evidence.pooled, places)
    if factors is None or (factors[:, s] == 1.0).all():
        return tuple(parts)
    factor = column_like(factors[:, s], evidence)
    return tuple(part.scaled(factor) for part in parts)
