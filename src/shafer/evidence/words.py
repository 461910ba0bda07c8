"""Degrees of ignorance, conflict and disagreement in words, the same on every page."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from shafer._typing import FloatArray
from shafer.decision.policy import AnswerRule, LeastLoss

MOSTLY_AGREE = "the components mostly agree"
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


# An answer that is hardly more probable than the next class.

CLOSE = 0.05
"""Below this difference of two probabilities, an answer is called a close call."""


def close_call(
    probability: FloatArray, labels: Sequence[str], rule: AnswerRule | None = None
) -> str:
    """Return words for an answer that is a close call; "" if it is not.

    It is one if the two most probable classes differ by less than 5 points, or, with a threshold,
    if the probability is less than 5 points from it. Other rules have no close calls.

    Parameters
    ----------
    probability : array of shape (K,)
    labels : sequence of K strings
    rule : Cutoff or LeastLoss, optional
        What answers, if it is not the most probable class.

    Examples
    --------
    >>> import numpy as np
    >>> close_call(np.array([0.504, 0.488, 0.008]), ["Adelie", "Chinstrap", "Gentoo"])
    'close call: Adelie 50 %, Chinstrap 49 %'
    """
    if isinstance(rule, LeastLoss):
        return ""
    if rule is not None:
        p = float(probability[rule.position])
        threshold = f"threshold {_points(rule.threshold)}"
        near = abs(p - rule.threshold) < CLOSE
        return f"close call: {labels[rule.position]} {_points(p)}, {threshold}" if near else ""
    first, second = np.argsort(-probability, kind="stable")[:2].tolist()
    if probability[first] - probability[second] >= CLOSE:
        return ""
    both = (f"{labels[k]} {_points(float(probability[k]))}" for k in (first, second))
    return f"close call: {', '.join(both)}"


def _points(probability: float) -> str:
    return f"{math.floor(100.0 * probability + 0.5)} %"


# Why a probability lies outside its interval from belief to plausibility, in a few words.

_ROUNDING = 1e-9


def below_belief_words(probability: float, belief: float) -> str:
    """Return by how much a probability lies below its belief, and why; "" if it does not.

    With three or more classes it can. The probability is the plausibility divided by the sum of
    all plausibilities, in which mass on a set counts once for each class of the set. It is never
    above the plausibility, as that sum is at least 1.

    Examples
    --------
    >>> below_belief_words(1 / 3, 1 / 2)
    'p is 0.167 below the belief: in p, mass on several classes counts once for each of them'
    >>> below_belief_words(0.6, 0.5)
    ''
    """
    gap = belief - probability
    if gap <= _ROUNDING:
        return ""
    amount = "less than 0.001" if gap < 0.0005 else f"{gap:.3f}"
    return (
        f"p is {amount} below the belief: in p, mass on several classes counts once for each of "
        "them"
    )
