"""The names that belong to ``Evidence`` alone, and the error for asking other types for them."""

from __future__ import annotations

WEIGHT_NAMES = (
    "weights",
    "weights_for",
    "weights_against",
    "base_rate",
    "contrast",
    "points",
    "logits",
    "components",
    "component_names",
    "n_components",
    "parts",
    "inputs",
    "reasons",
    "conflict_for_against",
    "disagreement",
    "fragility",
    "weight_of_disagreement",
    "errors",
    "weights_std",
    "weight_interval",
    "contrast_std",
    "contrast_interval",
    "grouped",
    "without",
    "tempered",
    "discounted",
    "save",
)
"""What only :class:`shafer.Evidence` has: all of it needs weights of evidence."""


def no_attribute(kind: str, name: str, advice: str) -> AttributeError:
    """Return the error for an unknown name; ``advice`` is added where the name needs weights."""
    if name not in WEIGHT_NAMES:
        return AttributeError(f"{kind!r} object has no attribute {name!r}")
    if name in ("weights", "components"):
        return AttributeError(f"{kind} has no {name}. {advice}")
    return AttributeError(f"{kind} has no weights, so it has no {name!r}. {advice}")
