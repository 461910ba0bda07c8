"""Which components of evidence are a base rate: the model's, or those of combined sources."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shafer._validation import to_numpy
from shafer.evidence.base_rate import BASE_RATE
from shafer.evidence.weight_sources import WeightSource


def base_rate_positions(source: WeightSource, names: Sequence[str]) -> list[int]:
    """Return the positions of the components that are a base rate.

    Combined evidence has one for each source, named ``"source: base rate"``. An input may have the
    same name: then all components share the base rate, and none of them is the base rate alone.
    """
    candidates = [g for g, name in enumerate(names) if _prefix(name) is not None]
    if not candidates:
        return []
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
    return not any(shared[h] for h in others) and bool(others or not prefix)
