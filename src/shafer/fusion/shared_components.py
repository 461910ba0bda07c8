"""A warning where Dempster's rule would count the same evidence twice.

Two sources hold the same evidence if they have a component in common: the same column of the data,
or the same name. Names that this library makes up ("x0", "unit 3", "all") tell nothing by
themselves: such components are the same if both sources are about the same table of inputs. The
claims of two experts ("for A") are never the same evidence.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from shafer._text import listed
from shafer.evidence import Evidence
from shafer.evidence.base_rate_components import base_rate_positions
from shafer.evidence.statements.expert_statements import is_claim
from shafer.fusion.named_sources import Sources

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
            base = base_rate_positions(evidence.unchanged_source(), evidence.component_names)
            base_rates += [s] if base else []
            for name in _identified(evidence, set(base)):
                holders.setdefault(name, []).append(s)
    return holders, base_rates


def _identified(ev: Evidence, base: set[int]) -> dict[str, None]:
    """Return the columns behind each component, or else its name; without base rates and claims."""
    traced = ev.inputs if ev.n_components <= _MOST_TRACED else None
    found: dict[str, None] = {}
    for g, name in enumerate(ev.component_names):
        if g not in base and not is_claim(name, ev.classes):
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
