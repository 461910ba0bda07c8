"""Where the base rate is among the components of an evidence, if it is one of them."""

from __future__ import annotations

import numpy as np

from shafer._typing import FloatArray
from shafer._validation import to_numpy
from shafer.evidence.base_rate import BASE_RATE
from shafer.evidence.evidence import Evidence


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
