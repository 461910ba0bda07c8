"""The base rate as a component of its own: its name, and how it is asked for."""

from __future__ import annotations

from typing import Any

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
