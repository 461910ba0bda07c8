"""``combine``: the evidence of several sources, combined into one."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._validation import log_prior
from shafer.evidence import Evidence, MassEvidence
from shafer.fusion.class_prior import prior_evidence, without_prior
from shafer.fusion.finite_evidence import check_frame
from shafer.fusion.frame_alignment import FRAMES, Alignment, align
from shafer.fusion.mass_tables import COMBINATIONS, combine_tables
from shafer.fusion.mixed_evidence import MixedEvidence, discounted_sum
from shafer.fusion.named_sources import (
    Sources,
    checked_sources,
    in_one_library,
    read_numbers,
    source_reliability,
)
from shafer.fusion.shared_components import warn_of_shared_components
from shafer.fusion.source_pool import SourcePool, alone, source_pool


def combine(
    evidences: Mapping[str, Any] | Iterable[Any],
    combination: str = "dempster",
    *,
    reliability: Any = None,
    tempering: Any = None,
    prior: Any = None,
    frame: str = "match",
    coarse: Mapping[Any, Iterable[Any]] | None = None,
    classes: Any = None,
    granularity: str = "components",
    rule: str | None = None,
    components: str | None = None,
) -> MassEvidence:
    r"""Combine the evidence of several sources about the same instances.

    Parameters
    ----------
    evidences : mapping from source name to evidence, or sequence of evidence
        Sources over the same n instances. A source of one instance, such as an expert's
        statements, counts for all of them. Discounted evidence counts with its ``reliability``.
        Under Dempster's rule, sources that share components give a UserWarning.
    combination : str
        ``"dempster"``: all sources are reliable and independent; weights add up.
        ``"cautious"``: all sources are reliable but may share information; the largest weight
        counts. ``"yager"``: as Dempster's, but conflict between sources becomes ignorance.
        ``"disjunctive"``, ``"bold"``: at least one source is reliable. ``"dubois_prade"``:
        conflict between two sets supports their union. The last three take up to 16 classes.
    reliability : numbers in [0, 1], optional
        The chance that a source is reliable (Shafer's discounting); an unreliable source gives no
        evidence. One for each source, in order or by name; each a number or an array (n,); or an
        array (n, S). Exact: Dempster's and Yager's combinations give a
        :class:`~shafer.fusion.MixedEvidence`, for up to 10 unreliable sources and any number of
        classes; others a :class:`~shafer.fusion.FiniteEvidence`.
    tempering : numbers ≥ 0, optional
        Factors on all weights of a source, in the same forms. The result stays an ``Evidence``.
        A factor of 0 in a row removes the source there: give 0 where its inputs are missing.
    prior : array of shape (K,), or mapping or pandas Series by class, optional
        Class frequencies that every source holds in its intercept. They are taken out of each
        source and counted once, as a source called ``"prior"``. For ``"dempster"`` and ``"yager"``.
    frame : {"match", "balloon"}
        How to read a source that knows only some of the classes. ``"match"``: its weights stay,
        and are 0 for the other classes. ``"balloon"``: it compares its own classes only, and gives
        no evidence about the others (up to 16 classes).
    coarse : mapping from class to classes, optional
        The classes that a coarser class of some source stands for. Tuples and frozensets of other
        sources' classes need no entry. Up to 16 classes.
    classes : sequence of labels, optional
        The joined classes, in order; by default all, as they first appear.
    granularity : {"components", "sources"}
        What counts as one component of the result: every component of every source, named
        ``"source: component"``, or each source as a whole, the signed sum of its weights.
    rule, components
        Former names of ``combination`` and ``granularity``; they give a FutureWarning.

    Returns
    -------
    MassEvidence
        ``Evidence`` for Dempster's and the cautious combination without ``reliability``, of
        sources whose classes match. Otherwise ``MixedEvidence`` or ``FiniteEvidence``.

    See Also
    --------
    shafer.EvidentialVotingClassifier : Trains the sources as well.
    shafer.fusion.conflict_between : How much sources contradict each other.
    shafer.fusion.influence : How much each source matters.

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
    combination = renamed("rule", rule, "combination", combination)
    granularity = renamed("components", components, "granularity", granularity)
    sources = checked_sources(evidences)
    result = combined(
        sources,
        combination,
        reliability=reliability,
        tempering=tempering,
        prior=prior,
        frame=frame,
        coarse=coarse,
        classes=classes,
        granularity=granularity,
    )
    if combination == "dempster":
        factors = read_numbers(tempering, sources, "tempering")
        warn_of_shared_components(sources, factors, prior_given=prior is not None)
    return result


def combined(
    sources: Sources,
    combination: str,
    *,
    reliability: Any = None,
    tempering: Any = None,
    prior: Any = None,
    frame: str = "match",
    coarse: Mapping[Any, Iterable[Any]] | None = None,
    classes: Any = None,
    granularity: str = "components",
) -> MassEvidence:
    """Combine checked sources, as :func:`combine` does, without a warning for what they share."""
    granularity = "components" if granularity == "all" else granularity  # its former name
    _check_choices(combination, frame, granularity)
    index = sources.index
    if granularity == "sources":
        whole = (e.grouped("one") if isinstance(e, Evidence) else e for e in sources.evidences)
        sources = replace(sources, evidences=tuple(whole))
    factors = read_numbers(tempering, sources, "tempering")
    trust = source_reliability(reliability, sources)
    labels = [evidence.classes.tolist() for evidence in sources.evidences]
    alignment = align(labels, sources.names, coarse, classes)
    if prior is not None:
        sources, factors, trust = _prior_apart(
            sources, prior, alignment, combination, factors, trust
        )
        labels = [evidence.classes.tolist() for evidence in sources.evidences]
        alignment = align(labels, sources.names, coarse, alignment.classes)
    ballooned = frame == "balloon" and not alignment.is_complete
    closed = sources.are_weights and alignment.is_fine and not ballooned
    if closed and (
        combination in ("dempster", "yager") or (combination == "cautious" and trust is None)
    ):
        pool = source_pool(sources, alignment, factors, whole=granularity == "sources")
        return _in_closed_form(pool, combination, sources.n, trust).with_index(index)
    check_frame(len(alignment.classes), _reason(combination, sources, alignment, ballooned, trust))
    tables = [
        alone(sources, s, factors, unknown=0 if ballooned else len(alignment.unknown(s)))
        for s in range(len(sources.names))
    ]
    final = alignment if ballooned else alignment.completed()
    combined = combine_tables(tables, combination, final, trust, balloon=ballooned)
    return combined.with_index(index)


def renamed(old: str, given: str | None, new: str, value: str) -> str:
    """Take an option under its former name, with a warning."""
    if given is None:
        return value
    warnings.warn(
        f"combine({old}=) is now called combine({new}=); the old name will be removed.",
        FutureWarning,
        stacklevel=3,
    )
    return given


def _check_choices(combination: str, frame: str, granularity: str) -> None:
    for name, value, known in (
        ("combination", combination, tuple(COMBINATIONS)),
        ("frame", frame, FRAMES),
        ("granularity", granularity, ("components", "sources")),
    ):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}; got {value!r}.")


def _in_closed_form(
    pool: SourcePool, combination: str, n: int, trust: NDArray[np.float64] | None
) -> Evidence | MixedEvidence:
    if combination == "cautious":
        return pool.cautious()
    if combination == "dempster" and trust is None:
        return pool.dempster()
    n_sources = len(pool.parts)
    certain = np.ones((n, n_sources))
    return discounted_sum(
        [pool.dempster([s]) for s in range(n_sources)],
        certain if trust is None else trust,
        pool.dempster,
        to_ignorance=combination == "yager",
    )


def _prior_apart(
    sources: Sources,
    prior: Any,
    alignment: Alignment,
    combination: str,
    *tables: NDArray[np.float64] | None,
) -> Any:
    """Take the prior out of every source and add it as a source, without tempering."""
    if combination not in ("dempster", "yager"):
        raise ValueError(
            "prior= needs combination='dempster' or 'yager', which add weights up; got "
            f"combination={combination!r}."
        )
    if not (sources.are_weights and alignment.is_fine and alignment.is_complete):
        raise ValueError(
            "prior= needs sources of type Evidence with the same classes. Leave out prior=, or "
            "give such sources."
        )
    if "prior" in sources.names:
        raise ValueError("A source is called 'prior', and prior= is given. Rename the source.")
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
    combination: str,
    sources: Sources,
    alignment: Alignment,
    ballooned: bool,
    trust: NDArray[np.float64] | None,
) -> str:
    """Name what has no closed form."""
    if ballooned:
        return "sources that do not know all classes, with frame='balloon',"
    if not alignment.is_fine:
        return "classes that stand for several others"
    if not sources.are_weights:
        return "sources without weights of evidence"
    if combination == "cautious" and trust is not None:
        return "discounted sources under the cautious combination"
    return f"sources under combination={combination!r}"
