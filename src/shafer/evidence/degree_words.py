"""Degrees of ignorance and conflict in words, the same in every picture, page and terminal."""

from __future__ import annotations

LACKING, CONFLICTING = 0.2, 0.5
"""From this ignorance on evidence is called lacking, from this conflict on conflicting."""


def unknown(ignorance: float) -> str:
    """Describe how much the evidence leaves open."""
    if ignorance >= 0.5:
        return "most is unknown"
    if ignorance >= LACKING:
        return "much is unknown"
    return "some is unknown" if ignorance >= 0.05 else "little is unknown"


def agreement(conflict: float) -> str:
    """Describe whether the pieces of evidence agree."""
    if conflict >= CONFLICTING:
        return "the evidence conflicts"
    return "the evidence partly disagrees" if conflict >= LACKING else "the evidence agrees"
