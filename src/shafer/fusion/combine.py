"""``combine``: the evidence of several sources, combined into one."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from shafer._checks.labels import log_prior
from shafer._text import listed
from shafer._typing import Array
from shafer.evidence.base_rate import BASE_RATE
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.sources import (
    BaseRateWeights,
    DenseWeights,
    LinearWeights,
    SparseWeights,
    WeightSource,
)
from shafer.evidence.statements import is_claim
from shafer.fusion.finite_evidence import COMBINATIONS, check_frame, combine_tables
from shafer.fusion.frames import FRAMES, Alignment, align
from shafer.fusion.mixed_evidence import MixedEvidence, discounted_sum
from shafer.fusion.sources import (
    SourcePool,
    Sources,
    alone,
    checked_sources,
    in_one_library,
    read_numbers,
    source_pool,
    source_reliability,
)


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
        source and counted once, as a source called ``"base rate"``. For ``"dempster"`` and
        ``"yager"``.
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
    if BASE_RATE in sources.names:
        raise ValueError(
            f"A source is called {BASE_RATE!r}, and prior= is given. Rename the source."
        )
    labels = alignment.classes.tolist()
    logs = log_prior(prior, labels)
    by_label = dict(zip(labels, np.exp(logs - logs.max()), strict=True))
    evidences = [without_prior(evidence, by_label) for evidence in sources.evidences]
    evidences.append(prior_evidence(by_label, classes=labels, n=sources.n))
    pooled = tuple(in_one_library(evidences))
    grown = Sources((*sources.names, BASE_RATE), pooled, sources.n)  # trust is in tables
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


# A warning where Dempster's rule would count the same evidence twice.

_MADE_UP = re.compile(
    r"(x|(unit|tree|support vector|neighbour|component|token|region) )\d+"
    r"|row \d+, column \d+|all|output"
)
_MOST_TRACED = 1000  # components whose columns are looked up; others are known by name


def warn_of_shared_components(
    sources: Sources, factors: NDArray[np.float64] | None, *, prior_given: bool
) -> None:
    """Warn if Dempster's rule counts a component, or the base rate, more than once.

    Parameters
    ----------
    sources : Sources
    factors : array of shape (n, S), optional
        Sources count twice only in rows where both have a factor of at least 1: a smaller factor
        corrects for what they share.
    prior_given : bool
        Whether the class prior is taken out of the sources and counted once.
    """
    holders, base_rates = _holders(sources)

    @cache
    def counted_twice(s: int, t: int) -> bool:
        return factors is None or bool((factors[:, [s, t]].min(axis=1) >= 1.0).any())

    @cache
    def same_inputs(s: int, t: int) -> bool:
        return _same_inputs(sources.evidences[s], sources.evidences[t])

    shared: dict[str, None] = {}
    among: set[int] = set()
    for name, held in holders.items():
        for s, t in combinations(held, 2):
            known = _MADE_UP.fullmatch(name) is None
            if counted_twice(s, t) and (known or same_inputs(s, t)):
                shared[name] = None
                among |= {s, t}
    if shared:
        _warn(_of_components([sources.names[s] for s in sorted(among)], shared))
    elif not prior_given and any(counted_twice(s, t) for s, t in combinations(base_rates, 2)):
        _warn(_of_base_rates([sources.names[s] for s in base_rates]))


def _holders(sources: Sources) -> tuple[dict[str, list[int]], list[int]]:
    """Return the sources that hold each component, and those that have a base rate."""
    holders: dict[str, list[int]] = {}
    base_rates: list[int] = []
    for s, evidence in enumerate(sources.evidences):
        if isinstance(evidence, Evidence):  # without weights there are no components
            base = evidence.unchanged_source().base_rates()
            base_rates += [s] if base else []
            for name in _identified(evidence, set(base)):
                holders.setdefault(name, []).append(s)
    return holders, base_rates


def _identified(ev: Evidence, base: set[int]) -> dict[str, None]:
    """Return the columns behind each component, or else its name; without base rates and claims."""
    traced = ev.inputs if ev.n_components <= _MOST_TRACED else None
    found: dict[str, None] = {}
    for g, name in enumerate(ev.component_names):
        if g not in base and not (ev.inputs is None and is_claim(name, ev.classes)):
            columns = () if traced is None else traced.columns(g)
            found.update(dict.fromkeys(columns or (name,)))
    return found


def _same_inputs(first: Evidence, second: Evidence) -> bool:
    if first is second:
        return True
    if first.inputs is None or second.inputs is None:
        return False
    return first.inputs.same_rows(second.inputs)


def _of_components(sources: list[str], shared: Iterable[str]) -> str:
    return (
        f"The sources [{listed(sources)}] share the components [{listed(shared)}]. Dempster's rule "
        "assumes independent sources, so it counts this evidence more than once and the result is "
        "too certain. Use combine(..., 'cautious'), or EvidentialVotingClassifier, which learns "
        "how much each source counts, or factors below 1 in tempering=."
    )


def _of_base_rates(sources: list[str]) -> str:
    return (
        f"The sources [{listed(sources)}] each have a base rate, so Dempster's rule "
        "counts the class frequencies more than once. Pass prior=, the class frequencies of the "
        "training data; they are then counted once."
    )


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=4)


# Counting the prior once.


def prior_evidence(prior: Any, *, classes: Any, n: int = 1) -> Evidence:
    """Return a prior as evidence, n equal instances with one component ``"base rate"``.

    Parameters
    ----------
    prior : array of shape (K,), or mapping or pandas Series from class to probability
        Positive; it need not sum to 1.
    classes : sequence of K labels
    n : int

    Returns
    -------
    Evidence

    See Also
    --------
    without_prior : Takes a prior out of evidence.
    shafer.combine : Combines a prior with other sources.

    Examples
    --------
    >>> from shafer.fusion import prior_evidence
    >>> prior_evidence([0.8, 0.2], classes=["no", "yes"]).probability
    array([[0.8, 0.2]])
    """
    labels = list(classes)
    weights = np.tile(log_prior(prior, labels), (n, 1, 1))
    plain = Evidence.from_weights(weights, classes=classes, names=[BASE_RATE])
    source = DenseWeights(plain.weights, plain.weights, base=(0,))
    return Evidence.from_source(source, plain.classes, plain.component_names)


def without_prior(evidence: Evidence, prior: Any) -> Evidence:
    """Take a prior out of the evidence of a classifier.

    All components lose an equal share of it; or, if the base rate is a component of its own, that
    component loses all of it.

    Parameters
    ----------
    evidence : Evidence
    prior : array of shape (K,), or mapping or pandas Series from class to probability
        Class frequencies of the data the classifier was trained on, in the order of
        ``evidence.classes``.

    Returns
    -------
    Evidence

    See Also
    --------
    prior_evidence : A prior as evidence.
    shafer.combine : Counts a prior once, with ``prior=``.

    Examples
    --------
    >>> import shafer
    >>> ev = shafer.fusion.prior_evidence([0.8, 0.2], classes=["no", "yes"])
    >>> shafer.fusion.without_prior(ev, [0.8, 0.2]).probability
    array([[0.5, 0.5]])
    """
    whole = log_prior(prior, evidence.classes.tolist())
    xp = array_api_compat.array_namespace(evidence.logits)
    shift = xp.asarray(whole, dtype=evidence.logits.dtype, device=evidence.logits.device)
    source = _shifted(evidence.unchanged_source(), shift)
    return Evidence.from_source(source, evidence.classes, evidence.component_names, evidence.parts)


def _shifted(source: WeightSource, whole: Array) -> WeightSource:
    """Take weights (K,) from the base rate, or in equal shares from all components."""
    if isinstance(source, BaseRateWeights):
        return replace(source, base_rate=source.base_rate - whole)
    base = source.base_rates()
    if len(base) == 1:
        xp = array_api_compat.array_namespace(whole)
        place = xp.asarray([[g == base[0]] for g in range(source.shape[-2])], device=whole.device)
        share = xp.where(place, whole, xp.zeros_like(whole))
        return DenseWeights(source.dense() - share, source.base_shares() - share, base)
    share = whole / source.shape[-2]
    if isinstance(source, LinearWeights | SparseWeights):
        return replace(source, offset=source.offset - share)
    return DenseWeights(source.dense() - share, source.base_shares() - share, base)
