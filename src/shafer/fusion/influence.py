"""``influence``: how the result changes when a source is left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import frozen, to_numpy
from shafer._typing import BoolArray, FloatArray
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.fusion.combine import combined, renamed
from shafer.fusion.frames import align, meanings
from shafer.fusion.sources import checked_sources, read_numbers, source_pool, source_reliability


@final
@dataclass(frozen=True, eq=False)
class SourceInfluence:
    """Changes when a source is left out.

    Attributes
    ----------
    names : tuple of S strings
    combined : MassEvidence
        All sources combined.
    without : tuple of S MassEvidence
        All sources but one combined, for each source.
    probability_change : array of shape (n, S)
        Half the sum of the absolute changes of the probabilities: 0 for none, 1 for all.
    decision_changes : boolean array of shape (n, S)
        Whether the decided set changes.

    See Also
    --------
    influence : Makes one.

    Examples
    --------
    >>> import shafer
    >>> strong = shafer.Evidence.from_weights([[[2.0, -2.0]]])
    >>> weak = shafer.Evidence.from_weights([[[-0.1, 0.1]]])
    >>> found = shafer.fusion.influence({"strong": strong, "weak": weak})
    >>> found.names, found.combined.probability.round(3)
    (('strong', 'weak'), array([[0.978, 0.022]]))
    """

    names: tuple[str, ...]
    combined: MassEvidence
    without: tuple[MassEvidence, ...]
    probability_change: FloatArray
    decision_changes: BoolArray


def influence(
    evidences: Mapping[str, Any] | Iterable[Any],
    combination: str = "dempster",
    *,
    rule: str = "interval_dominance",
    tempering: Any = None,
    reliability: Any = None,
    **options: Any,
) -> SourceInfluence:
    """Leave each source out in turn, and measure what changes.

    Parameters
    ----------
    evidences, combination, tempering, reliability, **options
        As for :func:`shafer.combine`.
    rule : str
        The decision rule, as in :meth:`shafer.Evidence.decide`.

    Returns
    -------
    SourceInfluence

    See Also
    --------
    conflict_between : How much sources contradict each other.
    shafer.combine : Combines the sources.

    Examples
    --------
    >>> import shafer
    >>> strong = shafer.Evidence.from_weights([[[2.0, -2.0]]])
    >>> weak = shafer.Evidence.from_weights([[[-0.1, 0.1]]])
    >>> found = shafer.fusion.influence({"strong": strong, "weak": weak})
    >>> found.probability_change.round(3), found.decision_changes
    (array([[0.528, 0.004]]), array([[ True, False]]))
    """
    sources = checked_sources(evidences)
    if len(sources.names) < 2:
        raise ValueError("influence needs at least two sources, to leave one out; got one.")
    factors = read_numbers(tempering, sources, "tempering")
    trust = source_reliability(reliability, sources)
    given = dict(zip(sources.names, sources.evidences, strict=True))
    if "components" in options:
        former = options.pop("components")
        options["granularity"] = renamed("components", former, "granularity", "components")
    together = combined(
        checked_sources(given), combination, tempering=factors, reliability=trust, **options
    )
    labels = {name: evidence.classes.tolist() for name, evidence in given.items()}
    meaning = meanings(list(labels.values()), options.pop("coarse", None))
    options["classes"] = together.classes  # also where only one source knew a class
    without, change, decided = [], [], []
    for s, name in enumerate(sources.names):
        left = {label for other in labels if other != name for label in labels[other]}
        rest = combined(
            checked_sources({other: ev for other, ev in given.items() if other != name}),
            combination,
            coarse={label: meaning[label] for label in left & set(meaning)},
            tempering=None if factors is None else np.delete(factors, s, axis=1),
            reliability=None if trust is None else np.delete(trust, s, axis=1),
            **options,
        )
        difference = to_numpy(together.probability) - to_numpy(rest.probability)
        change.append(0.5 * np.abs(difference).sum(axis=1))
        other = to_numpy(rest.decide(rule)) != to_numpy(together.decide(rule))
        decided.append(other.any(axis=1))
        without.append(rest)
    return SourceInfluence(
        sources.names,
        together,
        tuple(without),
        frozen(np.stack(change, axis=1)),
        frozen(np.stack(decided, axis=1)),
    )


# Conflict between sources: each pair, and all of them together.


@final
@dataclass(frozen=True, eq=False)
class SourceConflict:
    """Weights of conflict between S sources.

    Attributes
    ----------
    names : tuple of S strings
    weights : array of shape (n, S, S)
        Weight of conflict −ln(1 − κ) of each pair; 0 on the diagonal, whatever the
        conflict inside the source.
    total_weight : array of shape (n,)
        Weight of conflict between all sources at once: at least that of any pair.

    See Also
    --------
    conflict_between : Makes one.
    shafer.plots.SourceConflictDisplay : Draws it.

    Examples
    --------
    >>> import shafer
    >>> a = shafer.Evidence.from_weights([[[1.0, 0.0]]])
    >>> b = shafer.Evidence.from_weights([[[0.0, 1.0]]])
    >>> found = shafer.fusion.conflict_between({"a": a, "b": b})
    >>> found.names, found.total_weight.round(3)
    (('a', 'b'), array([0.51]))
    """

    names: tuple[str, ...]
    weights: FloatArray
    total_weight: FloatArray

    @property
    def degrees(self) -> FloatArray:
        """Degree of conflict κ of each pair, (n, S, S)."""
        return np.asarray(-np.expm1(-self.weights))

    @property
    def total(self) -> FloatArray:
        """Degree of conflict κ between all sources, (n,)."""
        return np.asarray(-np.expm1(-self.total_weight))


def conflict_between(
    evidences: Mapping[str, Any] | Iterable[Any], *, tempering: Any = None
) -> SourceConflict:
    """Measure the conflict between sources, per pair and in total.

    Parameters
    ----------
    evidences : mapping from source name to Evidence, or sequence of Evidence
    tempering : numbers ≥ 0, optional
        Factors on the weights of each source, as for :func:`shafer.combine`.

    Returns
    -------
    SourceConflict

    See Also
    --------
    influence : What changes if a source is left out.
    shafer.plots.SourceConflictDisplay : Draws the result.

    Examples
    --------
    >>> import shafer
    >>> a = shafer.Evidence.from_weights([[[1.0, 0.0]]])
    >>> b = shafer.Evidence.from_weights([[[0.0, 1.0]]])
    >>> conflict = shafer.fusion.conflict_between({"a": a, "b": b, "c": a})
    >>> conflict.degrees[0].round(3)
    array([[0. , 0.4, 0. ],
           [0.4, 0. , 0.4],
           [0. , 0.4, 0. ]])
    >>> conflict.total.round(3)
    array([0.547])
    """
    sources = checked_sources(evidences)
    if not sources.are_weights or sources.reliability is not None:
        raise ValueError(
            "conflict_between needs sources of type Evidence; at least one of "
            f"{', '.join(sources.names)} has another type. For discounted evidence, pass "
            "ev.evidence, the evidence before discounting."
        )
    factors = read_numbers(tempering, sources, "tempering")
    labels = [evidence.classes.tolist() for evidence in sources.evidences]
    alignment = align(labels, sources.names, None, None)
    if not alignment.is_fine:
        raise ValueError(
            "conflict_between needs sources with the same kind of classes; here a class of one "
            "source stands for several classes of another. Give all sources the same classes."
        )
    pool = source_pool(sources, alignment, factors)
    n_sources = len(sources.names)
    inner = [_weight(pool.dempster([s])) for s in range(n_sources)]
    weights = np.zeros((sources.n, n_sources, n_sources))
    for s in range(n_sources):
        for t in range(s):
            between = _weight(pool.dempster([s, t])) - inner[s] - inner[t]
            weights[:, s, t] = weights[:, t, s] = np.maximum(between, 0.0)
    total = np.maximum(_weight(pool.dempster()) - np.sum(inner, axis=0), 0.0)
    return SourceConflict(sources.names, frozen(weights), frozen(total))


def _weight(evidence: Evidence) -> NDArray[np.float64]:
    return to_numpy(evidence.weight_of_conflict).astype(np.float64)
