"""The words of a map of evidence: titles, colour bars, and the sums below a map."""

from __future__ import annotations

from shafer._typing import Label
from shafer.plots.drawing.compared_classes import ODDS_NOTE
from shafer.plots.drawing.style import degree, signed, without_middle

IGNORANCE_TITLE = "Ignorance of each location"
IGNORANCE_AXIS = "mass of its own evidence\nthat supports no class"
IGNORANCE_ENDS = ("strong evidence", "no evidence")
CONFLICT_TITLE = "Conflict with the other locations"
CONFLICT_AXIS = "conflict of each location\nwith all others together"
CONFLICT_ENDS = ("agrees", "contradicts")
REGION_NOTE = "the weight of a region is the sum over it"


def class_title(
    label: Label, over: Label | None, probability: float, over_probability: float | None
) -> str:
    """Return the title of a map of evidence for a class.

    Examples
    --------
    >>> print(class_title("boot", None, 0.931, None))
    boot
    probability 0.93
    >>> print(class_title("boot", "shoe", 0.931, 0.042))
    boot rather than shoe?
    boot: 0.93, shoe: 0.04
    """
    name = without_middle(label, 20)
    if over is None or over_probability is None:
        return f"{name}\nprobability {degree(probability)}"
    other = without_middle(over, 20)
    both = f"{name}: {degree(probability)}, {other}: {degree(over_probability)}"
    return f"{name} rather than {other}?\n{both}"


def sums_text(
    label: Label,
    over: Label | None,
    sums: tuple[float, float],
    base: float | None,
    shared: bool = False,
) -> str:
    """Return the whole sum: the locations for and against, the base rate, and the total.

    Parameters
    ----------
    label, over : class labels
    sums : pair of floats
        Of the locations for the class, and of those against it.
    base : float, optional
        The base rate, if it is a component of its own.
    shared : bool
        The locations share a base rate.

    Examples
    --------
    >>> print(sums_text("boot", "shoe", (5.12, -1.2), -0.3))
    for boot +5.12, for shoe −1.20
    base rate −0.30: log-odds +3.62
    >>> print(sums_text("boot", None, (5.12, -1.2), None, shared=True))
    for +5.12, against −1.20
    with the base rate: total +3.92
    """
    scale = max(*map(abs, sums), abs(base or 0.0))
    positive, negative = (signed(part, scale) for part in sums)
    if over is None:
        parts, unit = f"for {positive}, against {negative}", "total"
    else:
        first, second = without_middle(label, 14), without_middle(over, 14)
        parts, unit = f"for {first} {positive}, for {second} {negative}", "log-odds"
    total = f"{unit} {signed(sum(sums) + (base or 0.0), scale)}"
    if base is not None:
        return f"{parts}\nbase rate {signed(base, scale)}: {total}"
    return f"{parts}\n{'with the base rate: ' if shared else ''}{total}"


def smooth_note(shape: tuple[int, int], *, dots: bool) -> str:
    """Return what must stand below a smooth map.

    Examples
    --------
    >>> smooth_note((7, 7), dots=False), smooth_note((7, 7), dots=True)
    ('smoothed from 7 × 7 locations', 'smoothed between 7 × 7 locations (dots)')
    """
    size = f"{shape[0]} × {shape[1]} locations"
    return f"smoothed between {size} (dots)" if dots else f"smoothed from {size}"


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
