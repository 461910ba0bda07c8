"""The base rate as a component of its own: its name, how it is asked for, and where it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shafer._checks.arrays import to_numpy
from shafer._typing import FloatArray
from shafer.evidence.sources import BaseRateWeights, WeightSource

if TYPE_CHECKING:
    from shafer.evidence.evidence import Evidence


BASE_RATE = "base rate"
"""Name of the component that holds the logits at the background means."""

PRIORS = ("shared", "own")


def has_own_base_rate(prior: Any) -> bool:
    """Return whether the base rate is a component of its own; ``prior`` must be one of PRIORS."""
    if not isinstance(prior, str) or prior not in PRIORS:
        raise ValueError(
            f"prior must be 'shared' (all components share the base rate equally) or 'own' (a "
            f"component {BASE_RATE!r} of its own); got {prior!r}."
        )
    return prior == "own"


def with_base_rate_name(names: tuple[str, ...]) -> tuple[str, ...]:
    """Add the name of the base rate after the names of the other components."""
    if BASE_RATE in names:
        raise ValueError(
            f"prior='own' adds a component named {BASE_RATE!r}, but the model has a component of "
            "that name already. Rename it with names=, or use prior='shared'."
        )
    return (*names, BASE_RATE)


# Which components of evidence are a base rate: the model's, or those of combined sources.


def base_rate_positions(source: WeightSource, names: Sequence[str]) -> list[int]:
    """Return the positions of the components that are a base rate.

    Combined evidence has one for each source, named ``"source: base rate"``, or one for all. An
    input may have the same name: then all components share the base rate, and none of them is the
    base rate alone.
    """
    named = [g for g, name in enumerate(names) if name.endswith(BASE_RATE)]
    candidates = [g for g in named if _prefix(names[g]) is not None]
    if not candidates:
        return []
    if isinstance(source, BaseRateWeights) and source.is_alone_in(candidates):
        return candidates
    shape = (len(names), source.shape[-1])
    shares = to_numpy(source.base_shares())
    full = np.broadcast_to(shares, (*shares.shape[:-2], *shape)).reshape(-1, *shape)
    shared = (full != 0.0).any(axis=(0, 2))  # (G,)
    return [g for g in candidates if _stands_apart(g, names, shared.tolist())]


def _prefix(name: str) -> str | None:
    """Return the name of the source before the base rate's; None for other components."""
    before = name.removesuffix(BASE_RATE)
    return before if before != name and (not before or before.endswith(": ")) else None


def _stands_apart(g: int, names: Sequence[str], shared: Sequence[bool]) -> bool:
    prefix = _prefix(names[g]) or ""
    others = [h for h, name in enumerate(names) if h != g and name.startswith(prefix)]
    if prefix == f"{BASE_RATE}: ":  # class frequencies that were counted once, as a source
        return True
    return not any(shared[h] for h in others) and bool(others or not prefix)


# Where the base rate is among the components of an evidence, if it is one of them.


def base_rate_position(evidence: Evidence) -> int | None:
    """Return the position of the base rate among the components, or None if they share it.

    A component of the model may have the same name. It is the base rate only if all of its weight
    is, and if the other components have no share of it.
    """
    if BASE_RATE not in evidence.component_names:
        return None
    position = evidence.component_names.index(BASE_RATE)
    source = evidence.unchanged_source()
    shares = _shares(evidence)
    own = shares[..., position, :]
    weights = to_numpy(source.keep([position]).dense())[..., 0, :]
    alone = not np.any(np.delete(shares, position, axis=-2)) and np.array_equal(
        np.broadcast_to(own, weights.shape), weights
    )
    return position if alone else None


def shares_base_rate(evidence: Evidence) -> bool:
    """Return whether the components share a base rate that is not zero."""
    return base_rate_position(evidence) is None and bool(np.any(_shares(evidence)))


def _shares(evidence: Evidence) -> FloatArray:
    """Return each component's share of the base rate, (G, K) or (n, G, K)."""
    found = to_numpy(evidence.unchanged_source().base_shares())
    return np.broadcast_to(found, (*found.shape[:-2], evidence.n_components, evidence.n_classes))
