"""Reading the sources of ``combine``: named evidence of the same instances, and their factors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, final

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from shafer._typing import Array
from shafer._validation import float_array, labelled, same_library, to_numpy
from shafer.evidence import DiscountedEvidence, Evidence, MassEvidence
from shafer.evidence.weight_sources import DenseWeights


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
            known = evidence.unchanged_source().base_shares().astype(np.float64)
            shares = xp.asarray(known, dtype=other[0].dtype, device=other[0].device)
            evidence = Evidence.from_source(
                DenseWeights(there, shares), evidence.classes, evidence.component_names
            )
        result.append(evidence)
    return result


def _check(name: str, evidence: object) -> None:
    if not isinstance(evidence, MassEvidence):
        raise ValueError(
            f"source {name!r} must be evidence; got {type(evidence).__name__}. Make evidence with "
            "an Explainer or clf.evidence(X) first."
        )
    plain = evidence.evidence if isinstance(evidence, DiscountedEvidence) else evidence
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
