"""Rules that turn belief and plausibility into a set of classes, under 0-1 loss."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from array_api_compat import array_namespace

from shafer._typing import Array


def choose_largest(score: Array) -> Array:
    """Choose the one class of largest score, the first of them on a tie; boolean (..., K)."""
    xp = array_namespace(score)
    position = xp.arange(score.shape[-1], device=score.device)
    return position == xp.argmax(score, axis=-1, keepdims=True)


def interval_dominance(belief: Array, plausibility: Array) -> Array:
    r"""Keep every class that no other one dominates (Denœux 2019, §2.1).

    Class k is dropped only if some class l has :math:`bel_l > pl_k`, strictly, so the set is never
    empty; the paper's set drops on equality too, and is empty when two classes share all belief.
    Under 0-1 loss this is also the rule of maximality.
    """
    xp = array_namespace(belief)
    return plausibility >= xp.max(belief, axis=-1, keepdims=True)


RULES: MappingProxyType[str, tuple[Callable[..., Array], tuple[str, ...]]] = MappingProxyType(
    {
        # The logits order the classes as their plausibilities do, and do not saturate at one.
        "plausibility": (choose_largest, ("logits",)),
        "belief": (choose_largest, ("belief",)),
        "pignistic": (choose_largest, ("pignistic",)),
        "interval_dominance": (interval_dominance, ("belief", "plausibility")),
        "maximality": (interval_dominance, ("belief", "plausibility")),
    }
)
"""Rule name -> the function and the names of the arrays it takes."""

PRECISE_RULES = ("plausibility", "belief", "pignistic")
"""The rules that always choose exactly one class."""
