"""The base rate as a component of its own: its name, how it is asked for, and where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shafer._checks.arrays import to_numpy
from shafer._typing import FloatArray

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


# Where the base rate is among the components of an evidence, if it is one of them.


def base_rate_position(evidence: Evidence) -> int | None:
    """Return the position of the base rate beside other components, or None if they share it.

    The source of the weights knows its place; any component may have its name.
    """
    found = evidence.unchanged_source().base_rates()
    if len(found) != 1 or evidence.n_components == 1:
        return None
    others = np.delete(_shares(evidence), found, axis=-2)
    return None if np.any(others) else found[0]


def shares_base_rate(evidence: Evidence) -> bool:
    """Return whether the components share a base rate that is not zero.

    Combined sources may each have a base rate of their own; then nothing is shared.
    """
    own = evidence.unchanged_source().base_rates()
    return bool(np.any(np.delete(_shares(evidence), own, axis=-2)))


def _shares(evidence: Evidence) -> FloatArray:
    """Return each component's share of the base rate, (G, K) or (n, G, K)."""
    found = to_numpy(evidence.unchanged_source().base_shares())
    return np.broadcast_to(found, (*found.shape[:-2], evidence.n_components, evidence.n_classes))
