"""Degrees of ignorance, conflict and disagreement in words, the same on every page."""

from __future__ import annotations

LACKING, CONFLICTING = 0.2, 0.5
"""From this ignorance on evidence is called lacking, from this conflict on conflicting."""


def ignorance_words(ignorance: float) -> str:
    """Return a word for how high the ignorance is."""
    if ignorance >= 0.5:
        return "very high"
    if ignorance >= LACKING:
        return "high"
    return "moderate" if ignorance >= 0.05 else "low"


def conflict_words(conflict: float) -> str:
    """Return words for how far the components agree."""
    if conflict >= CONFLICTING:
        return "the evidence conflicts"
    return "the evidence partly disagrees" if conflict >= LACKING else "the evidence agrees"


def disagreement_words(disagreement: float) -> str:
    """Return words for how far the components contradict each other."""
    if disagreement >= CONFLICTING:
        return "the components disagree"
    return "the components partly disagree" if disagreement >= LACKING else "the components agree"
