"""The title of a waterfall, and the probabilities below the names of its ends."""

from __future__ import annotations

from shafer._typing import Label
from shafer.plots.drawing.style import degree, without_middle


def waterfall_title(
    label: Label, over: Label | None, probability: float | None, over_probability: float | None
) -> str:
    """Ask why one class rather than another one, if there are more than two.

    Examples
    --------
    >>> waterfall_title("yes", "no", 0.25, None)
    'Evidence for yes (probability 0.25)'
    >>> waterfall_title("a", "b", 0.7, 0.2), waterfall_title("b", "a", 0.2, 0.7)
    ('Why a rather than b?', 'Evidence for b rather than a')
    """
    name = without_middle(label, 24)
    if probability is None:
        return f"Evidence for {name}"
    if over_probability is None:
        return f"Evidence for {name} (probability {probability:.2f})"
    other = without_middle(over, 24)
    if probability >= over_probability:
        return f"Why {name} rather than {other}?"
    return f"Evidence for {name} rather than {other}"


def probability_words(
    label: Label, over: Label | None, probability: float | None, over_probability: float | None
) -> str:
    """Return the probability of the class, or those of both classes if there are more than two.

    Examples
    --------
    >>> probability_words("yes", "no", 0.25, None), probability_words("a", "b", 0.7, 0.2)
    ('probability 0.25', 'a 0.70, b 0.20')
    """
    if probability is None:
        return ""
    if over_probability is None:
        return f"probability {degree(probability)}"
    first, second = without_middle(label, 12), without_middle(over, 12)
    return f"{first} {degree(probability)}, {second} {degree(over_probability)}"
