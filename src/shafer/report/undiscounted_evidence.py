"""Evidence before its discount: the weights, and the probabilities one bets with."""

from __future__ import annotations

from shafer.evidence import DiscountedEvidence, Evidence


def undiscounted(evidence: Evidence | DiscountedEvidence) -> Evidence:
    """Return the evidence that has weights: discounted evidence holds it, other evidence is it."""
    return evidence.evidence if isinstance(evidence, DiscountedEvidence) else evidence
