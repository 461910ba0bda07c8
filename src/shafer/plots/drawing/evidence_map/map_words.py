"""The words of a map of evidence: titles, colour bars, and the sums below a map."""

from __future__ import annotations

from shafer._typing import Label
from shafer.plots.drawing.compared_classes import ODDS_NOTE
from shafer.plots.drawing.style import degree, signed, without_middle

NOTHING_TITLE = "Where there is no evidence"
NOTHING_AXIS = "ignorance of each location by itself\n(1: no evidence for or against any class)"
DISPUTE_TITLE = "Where locations disagree"
DISPUTE_AXIS = "conflict of each location with all others\n(0: none)"


def class_title(label: Label, over: Label | None, probability: float) -> str:
    """Return the title of a map of evidence for a class.

    Examples
    --------
    >>> print(class_title("boot", None, 0.931))
    boot
    probability 0.93
    >>> print(class_title("boot", "shoe", 0.931))
    boot rather than shoe?
    probability of boot: 0.93
    """
    name = without_middle(label, 20)
    if over is None:
        return f"{name}\nprobability {degree(probability)}"
    other = without_middle(over, 20)
    return f"{name} rather than {other}?\nprobability of {name}: {degree(probability)}"


def sums_text(
    label: Label, over: Label | None, sums: tuple[float, float], base: float | None
) -> str:
    """Return what the locations add up to, for and against, and the base rate.

    Examples
    --------
    >>> sums_text("boot", "shoe", (5.12, -1.2), None)
    'for boot: 5.12, for shoe: 1.20'
    >>> print(sums_text("boot", None, (5.12, -1.2), -0.3))
    for: 5.12, against: 1.20
    base rate: −0.30
    """
    positive, negative = (signed(abs(part), max(map(abs, sums))).lstrip("+") for part in sums)
    if over is None:
        text = f"for: {positive}, against: {negative}"
    else:
        first, second = without_middle(label, 14), without_middle(over, 14)
        text = f"for {first}: {positive}, for {second}: {negative}"
    return text if base is None else f"{text}\nbase rate: {signed(base, max(map(abs, sums)))}"


def evidence_axis(over: Label | None, note: str) -> str:
    """Return the name of the colour bar: the unit, and what it means."""
    unit = "weight of evidence\ncompared with the average class" if over is None else "log-odds"
    lines = [unit] if over is None else [unit, ODDS_NOTE]
    return "\n".join([*lines, note] if note else lines)


def bar_ends(label: Label | None, over: Label | None) -> tuple[str, str]:
    """Return the words at the lower and the upper end of the colour bar.

    Examples
    --------
    >>> bar_ends("boot", "shoe"), bar_ends("boot", None)
    (('for shoe', 'for boot'), ('against boot', 'for boot'))
    """
    name = "the class" if label is None else without_middle(label, 20)
    low = f"against {name}" if over is None else f"for {without_middle(over, 20)}"
    return low, f"for {name}"
