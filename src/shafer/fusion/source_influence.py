"""``influence``: how the result changes when a source is left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from shafer._typing import BoolArray, FloatArray
from shafer._validation import frozen, to_numpy
from shafer.evidence import MassEvidence
from shafer.fusion.combine_sources import combined, renamed
from shafer.fusion.frame_alignment import meanings
from shafer.fusion.named_sources import checked_sources, read_numbers, source_reliability


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
