"""``combine``: the door to fusion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shafer.evidence import Evidence, MassEvidence
from shafer.fusion.class_prior import log_prior, prior_evidence, without_prior
from shafer.fusion.finite_evidence import check_frame
from shafer.fusion.frame_alignment import FRAMES, Alignment, align
from shafer.fusion.mass_tables import RULES, combine_tables
from shafer.fusion.mixed_evidence import MixedEvidence, discounted_sum
from shafer.fusion.named_sources import (
    Sources,
    checked_sources,
    in_one_library,
    read_numbers,
    source_reliability,
)
from shafer.fusion.source_pool import SourcePool, alone, source_pool

Combined: TypeAlias = MassEvidence  # until the caller in models names it


def combine(
    evidences: Mapping[str, Any] | Iterable[Any],
    rule: str = "dempster",
    *,
    reliability: Any = None,
    tempering: Any = None,
    prior: Any = None,
    frame: str = "match",
    coarse: Mapping[Any, Iterable[Any]] | None = None,
    classes: Any = None,
    components: str = "all",
) -> Combined:
    r"""Pool what several sources say about the same instances.

    Parameters
    ----------
    evidences : mapping from source name to evidence, or sequence of evidence
        Sources over the same n instances; a source of one instance, such as an expert's
        statements, speaks of all of them. Discounted evidence counts as its own ``reliability``.
    rule : str
        ``"dempster"``: sources that are reliable and independent; weights add up.
        ``"cautious"``: sources that are reliable and may share what they know; the largest weight
        counts. ``"yager"``: as Dempster's, but conflict between sources becomes ignorance.
        ``"disjunctive"``, ``"bold"``: at least one source is reliable; ``"dubois_prade"``:
        conflict between two sets supports their union. The last three are for up to 16 classes.
    reliability : numbers in [0, 1], optional
        The chance that a source is reliable; if it is not, it says nothing (Shafer's
        discounting). One for each source, in order or by name; each a number or an array (n,); or
        an array (n, S). Exact: Dempster's and Yager's rules give a :class:`MixedEvidence`, for up
        to 10 unreliable sources and any number of classes; others a :class:`FiniteEvidence`.
    tempering : numbers ≥ 0, optional
        Factors on all weights of a source, in the same forms. The result stays an ``Evidence``.
        A source with factor 0 in a row says nothing there: give 0 where its inputs are missing.
    prior : array of shape (K,) or mapping from class to probability, optional
        Class frequencies that every source holds in its intercept: taken out of each, and counted
        once, as a source called ``"prior"``. Dempster's and Yager's rules only.
    frame : {"match", "balloon"}
        What a source says that knows only some of the classes. ``"match"``: its weights stand, and
        are 0 for the others. ``"balloon"``: it only tells its own classes apart, and says nothing
        about the others (up to 16 classes).
    coarse : mapping from class to classes, optional
        What the coarser classes of some sources stand for; tuples and frozensets of others'
        classes explain themselves. Up to 16 classes.
    classes : sequence of labels, optional
        The joined classes, in order; by default all, as they first appear.
    components : {"all", "sources"}
        What counts as one piece of evidence: every component of every source, named
        ``"source: component"``, or each source as a whole, the signed sum of its weights.

    Returns
    -------
    Evidence, MixedEvidence or FiniteEvidence
        ``Evidence`` wherever the result is pooled evidence again: for Dempster's and the cautious
        rule, without ``reliability``, of sources whose classes match.

    Examples
    --------
    >>> import shafer
    >>> lab = shafer.Evidence.from_weights(
    ...     [[[1.0, -1.0]], [[0.2, -0.2]]], classes=["well", "ill"], names=["blood"]
    ... )
    >>> doctor = shafer.Evidence.from_statements(
    ...     "for ill with support 0.6", classes=["ill", "well"]
    ... )
    >>> both = shafer.combine({"lab": lab, "doctor": doctor})
    >>> both.component_names
    ('lab: blood', 'doctor: for ill')
    >>> both.probability.round(3)
    array([[0.747, 0.253],
           [0.374, 0.626]])
    >>> shafer.combine({"lab": lab, "doctor": doctor}, "cautious").weights_for.round(3)
    array([[1.   , 0.916],
           [0.2  , 0.916]])
    """
    _check_choices(rule, frame, components)
    sources = checked_sources(evidences)
    if components == "sources":
        whole = (e.grouped("one") if isinstance(e, Evidence) else e for e in sources.evidences)
        sources = replace(sources, evidences=tuple(whole))
    factors = read_numbers(tempering, sources, "tempering")
    trust = source_reliability(reliability, sources)
    labels = [evidence.classes.tolist() for evidence in sources.evidences]
    alignment = align(labels, sources.names, coarse, classes)
    if prior is not None:
        sources, factors, trust = _prior_apart(sources, prior, alignment, rule, factors, trust)
        labels = [evidence.classes.tolist() for evidence in sources.evidences]
        alignment = align(labels, sources.names, coarse, alignment.classes)
    ballooned = frame == "balloon" and not alignment.is_complete
    closed = sources.are_weights and alignment.is_fine and not ballooned
    if closed and (rule in ("dempster", "yager") or (rule == "cautious" and trust is None)):
        pool = source_pool(sources, alignment, factors, whole=components == "sources")
        return _in_closed_form(pool, rule, sources.n, trust)
    check_frame(len(alignment.classes), _reason(rule, sources, alignment, ballooned, trust))
    said = [
        alone(sources, s, factors, unknown=0 if ballooned else len(alignment.unknown(s)))
        for s in range(len(sources.names))
    ]
    final = alignment if ballooned else alignment.completed()
    return combine_tables(said, rule, final, trust, balloon=ballooned)


def _check_choices(rule: str, frame: str, components: str) -> None:
    for name, value, known in (
        ("rule", rule, tuple(RULES)),
        ("frame", frame, FRAMES),
        ("components", components, ("all", "sources")),
    ):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}; got {value!r}.")


def _in_closed_form(
    pool: SourcePool, rule: str, n: int, trust: NDArray[np.float64] | None
) -> Evidence | MixedEvidence:
    if rule == "cautious":
        return pool.cautious()
    if rule == "dempster" and trust is None:
        return pool.dempster()
    n_sources = len(pool.parts)
    certain = np.ones((n, n_sources))
    return discounted_sum(
        [pool.dempster([s]) for s in range(n_sources)],
        certain if trust is None else trust,
        pool.dempster,
        to_ignorance=rule == "yager",
    )


def _prior_apart(
    sources: Sources,
    prior: Any,
    alignment: Alignment,
    rule: str,
    *tables: NDArray[np.float64] | None,
) -> Any:
    """Take the prior out of every source and add it as one of its own, tempered by nothing."""
    if rule not in ("dempster", "yager"):
        raise ValueError(
            f"prior= is for rules that add weights up, 'dempster' and 'yager'; got rule={rule!r}."
        )
    if not (sources.are_weights and alignment.is_fine and alignment.is_complete):
        raise ValueError("prior= needs sources that are Evidence and know all classes.")
    if "prior" in sources.names:
        raise ValueError("no source may be called 'prior' where prior= is given.")
    labels = alignment.classes.tolist()
    logs = log_prior(prior, labels)
    by_label = dict(zip(labels, np.exp(logs - logs.max()), strict=True))
    evidences = [without_prior(evidence, by_label) for evidence in sources.evidences]
    evidences.append(prior_evidence(by_label, classes=labels, n=sources.n))
    pooled = tuple(in_one_library(evidences))
    grown = Sources((*sources.names, "prior"), pooled, sources.n)  # trust is in tables
    ones = np.ones((sources.n, 1))
    return grown, *(None if table is None else np.hstack([table, ones]) for table in tables)


def _reason(
    rule: str,
    sources: Sources,
    alignment: Alignment,
    ballooned: bool,
    trust: NDArray[np.float64] | None,
) -> str:
    """Say what leads outside the closed forms."""
    if ballooned:
        return "sources ballooned to classes they do not know"
    if not alignment.is_fine:
        return "classes that stand for several others"
    if not sources.are_weights:
        return "sources that are not pooled weights of evidence"
    if rule == "cautious" and trust is not None:
        return "discounted sources under the cautious rule"
    return f"sources combined by the rule {rule!r}"
