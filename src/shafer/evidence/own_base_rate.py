"""Where the base rate is among the components of an evidence, if it is one of them."""

from __future__ import annotations

import numpy as np

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
    shape = (evidence.n_components, evidence.n_classes)
    found = to_numpy(source.base_shares())
    shares = np.broadcast_to(found, (*found.shape[:-2], *shape))
    own = shares[..., position, :]
    weights = to_numpy(source.keep([position]).dense())[..., 0, :]
    alone = not np.any(np.delete(shares, position, axis=-2)) and np.array_equal(
        np.broadcast_to(own, weights.shape), weights
    )
    return position if alone else None
