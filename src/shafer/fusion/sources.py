"""Reading the sources of ``combine``: named evidence of the same instances, and their factors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, final

import array_api_compat
import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from shafer._checks.arrays import float_array, same_library, to_numpy
from shafer._checks.frames import numbered
from shafer._checks.labels import class_labels, labelled
from shafer._kernels.pooling import Pooled
from shafer._typing import Array
from shafer.evidence.discounted_evidence import DiscountedEvidence
from shafer.evidence.evidence import Evidence
from shafer.evidence.joined import JoinedWeights, Part, parts_of
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.sources import DenseWeights
from shafer.fusion.frames import Alignment


@final
@dataclass(frozen=True, eq=False)
class Sources:
    """Named sources, all over the same n instances."""

    names: tuple[str, ...]
    evidences: tuple[Any, ...]
    n: int
    index: Any = None
    """Row labels of the first source that has them."""
    reliability: NDArray[np.float64] | None = None
    """Of discounted sources, (n, S); ``evidences`` are those before discounting."""

    @property
    def are_weights(self) -> bool:
        """Whether all sources have weights, so that closed forms apply."""
        return all(isinstance(evidence, Evidence) for evidence in self.evidences)


def checked_sources(evidences: Any) -> Sources:
    """Name and check the sources; a source of one instance is repeated for all instances."""
    if isinstance(evidences, Mapping):
        named = {str(name): evidence for name, evidence in evidences.items()}
        if len(named) < len(evidences):
            raise ValueError(f"names of sources must differ as text; got {list(evidences)}.")
    elif isinstance(evidences, Iterable) and not isinstance(evidences, MassEvidence):
        named = {f"source {s}": evidence for s, evidence in enumerate(evidences, start=1)}
    else:
        raise ValueError(
            "evidences must be a sequence of Evidence or a mapping from source name to Evidence; "
            f"got {type(evidences).__name__}."
        )
    if not named:
        raise ValueError("evidences must hold at least one source; got none.")
    for name, evidence in named.items():
        _check(name, evidence)
    n = max(len(evidence) for evidence in named.values())
    repeated = [_repeated(name, evidence, n) for name, evidence in named.items()]
    reliability = None
    if any(isinstance(evidence, DiscountedEvidence) for evidence in repeated):
        reliability = np.ones((n, len(repeated)))
        for s, evidence in enumerate(repeated):
            if isinstance(evidence, DiscountedEvidence):
                repeated[s] = evidence.evidence
                reliability[:, s] = to_numpy(evidence.reliability)
    repeated = in_one_library(repeated)
    pairs = zip(named, repeated, strict=True)
    weighty = {name: e.logits for name, e in pairs if isinstance(e, Evidence)}
    if weighty:
        same_library(weighty)
    labelled = (e.index for e in named.values() if e.index is not None and len(e) == n)
    return Sources(tuple(named), tuple(repeated), n, next(labelled, None), reliability)


def in_one_library(evidences: list[Any]) -> list[Any]:
    """Bring NumPy evidence (an expert's, a prior) to the library of the other sources."""
    weighty = [evidence.logits for evidence in evidences if isinstance(evidence, Evidence)]
    other = [logits for logits in weighty if not array_api_compat.is_numpy_array(logits)]
    if not other or len(other) == len(weighty):
        return evidences
    xp = array_api_compat.array_namespace(other[0])
    result = []
    for evidence in evidences:
        if isinstance(evidence, Evidence) and array_api_compat.is_numpy_array(evidence.logits):
            weights = evidence.weights.astype(np.float64)  # a copy that may be written to
            there = xp.asarray(weights, dtype=other[0].dtype, device=other[0].device)
            given = evidence.unchanged_source()
            known = given.base_shares().astype(np.float64)
            shares = xp.asarray(known, dtype=other[0].dtype, device=other[0].device)
            source = DenseWeights(there, shares, given.base_rates())
            evidence = Evidence.from_source(source, evidence.classes, evidence.component_names)
        result.append(evidence)
    return result


def _check(name: str, evidence: object) -> None:
    if not isinstance(evidence, MassEvidence):
        raise ValueError(
            f"source {name!r} must be evidence; got {type(evidence).__name__}. Make evidence with "
            "an Explainer or clf.evidence(X) first."
        )
    plain = evidence.undiscounted
    if isinstance(plain, Evidence) and plain.parts:
        raise ValueError(
            f"source {name!r} must be the evidence of whole rows; got the evidence of single "
            "components (ev.components). Pass ev itself."
        )


def _repeated(name: str, evidence: MassEvidence, n: int) -> MassEvidence:
    if len(evidence) == n:
        return evidence
    if len(evidence) != 1:
        raise ValueError(
            f"all sources must have the same number of rows, or one row; source {name!r} has "
            f"{len(evidence)} rows and another has {n}."
        )
    return evidence[np.zeros(n, dtype=np.intp)]


def read_numbers(
    given: Any, sources: Sources, name: str, most: float = np.inf
) -> NDArray[np.float64] | None:
    """Return one number in [0, most] for each instance and source, (n, S), or None if all are 1.

    ``given`` holds one number for each source, or one array of shape (n,) for each, as a sequence
    or by name (1 for names left out); or is an array (n, S).
    """
    given = labelled(given, sources.names)
    if given is None:
        return None
    n_sources = len(sources.names)
    if isinstance(given, Mapping):
        unknown = [key for key in given if str(key) not in sources.names]
        if unknown:
            raise ValueError(
                f"{name} has unknown sources {unknown}; the sources are {list(sources.names)}."
            )
        by_name = {str(key): value for key, value in given.items()}
        columns = [by_name.get(source, 1.0) for source in sources.names]
    elif isinstance(given, Real) or getattr(given, "ndim", 1) == 0:
        columns = [given] * n_sources
    elif getattr(given, "ndim", 1) == 2:
        table = to_numpy(float_array(given, name))
        if table.shape != (sources.n, n_sources):
            raise ValueError(
                f"{name} must have shape ({sources.n}, {n_sources}), a row for each instance and "
                f"a column for each source; got {table.shape}."
            )
        columns = list(table.T)
    else:
        columns = list(given)
        if len(columns) != n_sources:
            raise ValueError(
                f"{name} must have one entry for each of the {n_sources} sources; got "
                f"{len(columns)}."
            )
    return _table(columns, sources, name, most)


def source_reliability(given: Any, sources: Sources) -> NDArray[np.float64] | None:
    """Return the reliabilities given, times those of sources that are DiscountedEvidence."""
    table = read_numbers(given, sources, "reliability", most=1.0)
    if table is None or sources.reliability is None:
        return sources.reliability if table is None else table
    return table * sources.reliability


def _table(
    columns: list[Any], sources: Sources, name: str, most: float
) -> NDArray[np.float64] | None:
    table = np.empty((sources.n, len(columns)))
    for s, value in enumerate(columns):
        array = to_numpy(float_array(value, f"{name} of {sources.names[s]!r}", ndim=(0, 1)))
        if array.ndim == 1 and array.shape[0] != sources.n:
            raise ValueError(
                f"{name} of source {sources.names[s]!r} must be a number or have one for each of "
                f"the {sources.n} instances; got shape {array.shape}."
            )
        table[:, s] = array
    bad = ~((table >= 0.0) & (table <= most))
    if bad.any():
        allowed = "≥ 0" if most == np.inf else f"in [0, {most:g}]"
        raise ValueError(f"{name} must be {allowed}; got {table[bad][0]}.")
    return None if (table == 1.0).all() else table


def column_like(values: NDArray[np.float64], evidence: Evidence) -> Array:
    """Bring a column of numbers to the library, precision and device of the evidence, (n,)."""
    logits = evidence.logits
    xp = array_api_compat.array_namespace(logits)
    return xp.asarray(np.ascontiguousarray(values), dtype=logits.dtype, device=logits.device)


# Sources with weights of evidence, side by side over the joined classes.


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


# The cautious combination in closed form: for each claim, only the strongest source counts.


def winners(pooled: list[Pooled]) -> list[tuple[Array, Array]]:
    """Return for each source where it wins: 1 or 0 for and against each class, each (n, K)."""
    claims = [_claims(source) for source in pooled]
    xp = array_namespace(pooled[0].logits)
    best = [xp.zeros_like(claim) for claim in claims[0]]
    winner = [xp.zeros(claim.shape, dtype=xp.int32, device=claim.device) for claim in claims[0]]
    for s, source in enumerate(claims):
        for side, claim in enumerate(source):
            better = claim > best[side]
            best[side] = xp.where(better, claim, best[side])
            winner[side] = xp.where(better, s, winner[side])
    dtype = pooled[0].logits.dtype
    won = [tuple(xp.astype(side == s, dtype) for side in winner) for s in range(len(pooled))]
    if pooled[0].logits.shape[-1] == 2:  # against the one is for the other
        return [(sides[0], xp.flip(sides[0], axis=-1)) for sides in won]
    return [(sides[0], sides[1]) for sides in won]


def _claims(source: Pooled) -> tuple[Array, ...]:
    """Return the weights of the distinct claims: for and against, or for alone if K = 2."""
    if source.logits.shape[-1] == 2:
        xp = array_namespace(source.logits)
        return (source.weights_for + xp.flip(source.weights_against, axis=-1),)
    return source.weights_for, source.weights_against
