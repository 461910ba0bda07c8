"""The words of a waterfall: its title, its axis, the names of its rows, its probabilities."""

from __future__ import annotations

from shafer._typing import Label
from shafer.plots.drawing.compared_classes import ODDS_NOTE, WEIGHT_NOTE, axis_text
from shafer.plots.drawing.own_base_rate import SHARED_NOTE
from shafer.plots.drawing.style import degree, without_end, without_middle

_LONGEST = 42  # characters: name and value


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


def waterfall_axis(label: Label, over: Label | None, shared_base_rate: bool) -> str:
    """Return the name of the axis, and what its unit means."""
    lines = [axis_text(label, over), WEIGHT_NOTE if over is None else ODDS_NOTE]
    return "\n".join([*lines, SHARED_NOTE] if shared_base_rate else lines)


def row_name(name: str, value: str | None) -> str:
    """Return the name of a component, and the value of its feature if it is known.

    Examples
    --------
    >>> row_name("savings", "1000 DM or more"), row_name("age", None)
    ('savings = 1000 DM or more', 'age')
    """
    short = without_middle(name)
    if value is None:
        return short
    return f"{short} = {without_end(value, max(_LONGEST - 3 - len(short), 10))}"


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
