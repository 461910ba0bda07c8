"""The base rate among the components: one of its own, or shared by all."""

from __future__ import annotations

import numpy as np

from shafer._typing import FloatArray
from shafer.evidence import Evidence
from shafer.evidence.base_rate import BASE_RATE
from shafer.evidence.base_rate_components import base_rate_positions
from shafer.plots.drawing.evidence_arrays import numbers

SHARED_NOTE = "each component includes a share of the base rate"


def base_rate_position(evidence: Evidence) -> int | None:
    """Return the position of the base rate, if it is a component of its own beside others.

    A user's component may have the same name. Then the components share the base rate.
    """
    if BASE_RATE not in evidence.component_names or evidence.n_components == 1:
        return None
    position = evidence.component_names.index(BASE_RATE)
    others = np.delete(_shares(evidence), position, axis=-2)
    return None if np.any(others) else position


def shares_base_rate(evidence: Evidence) -> bool:
    """Return whether the components share a base rate that is not zero.

    Combined sources may each have a base rate of their own; then nothing is shared.
    """
    own = base_rate_positions(evidence.unchanged_source(), evidence.component_names)
    return bool(np.any(np.delete(_shares(evidence), own, axis=-2)))


def base_rate_notes(evidence: Evidence) -> list[str]:
    """Return what a summary, which leaves out the base rate, must add about it."""
    if base_rate_position(evidence) is not None:
        return ["without the base rate"]
    return [SHARED_NOTE] if shares_base_rate(evidence) else []


def _shares(evidence: Evidence) -> FloatArray:
    shares = numbers(evidence.unchanged_source().base_shares())
    *rows, _, n_classes = shares.shape
    return np.broadcast_to(shares, (*rows, evidence.n_components, n_classes))
