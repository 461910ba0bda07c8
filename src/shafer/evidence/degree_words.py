"""Degrees of ignorance and conflict in words, the same in every picture, page and terminal."""

from __future__ import annotations

LACKING, CONFLICTING = 0.2, 0.5
"""From this ignorance on evidence is called lacking, from this conflict on conflicting."""


def amount(ignorance: float) -> str:
    """Return words for how much evidence there is: the less ignorance, the more."""
    if ignorance >= 0.5:
        return "hardly any evidence"
    if ignorance >= LACKING:
        return "little evidence"
    return "some evidence" if ignorance >= 0.05 else "much evidence"


def agreement(conflict: float) -> str:
    """Return words for how far the components agree."""
    if conflict >= CONFLICTING:
        return "the evidence conflicts"
    return "the evidence partly disagrees" if conflict >= LACKING else "the evidence agrees"
