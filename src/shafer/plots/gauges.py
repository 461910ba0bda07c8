"""What stands above a picture of one row: a small gauge, a number and a few words in each line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Rectangle
from matplotlib.transforms import ScaledTranslation

from shafer._typing import Label
from shafer.evidence.words import LACKING, factor_words
from shafer.plots.style import AGAINST, FOR, degree, ink, without_middle

_FONT = "small"
_LONG = 42.0  # points: a gauge from 0 to 1


class Gauge(NamedTuple):
    """A quantity between 0 and 1, by name, and what it means.

    Without a value there is no gauge, only the words; with a colour no number.
    """

    name: str
    value: float | None
    words: str
    color: str | None = None


def sides_of(weights: Sequence[float], base_rate: float = 0.0) -> list[Gauge]:
    """Return the two sides of the scale: what all components for a class do to its odds.

    Parameters
    ----------
    weights : sequence of float
        Log-odds that the components add.
    base_rate : float
        The log-odds that are a component of its own.
    """
    every = [*weights, base_rate]
    total = {"for": sum(w for w in every if w > 0.0), "against": sum(w for w in every if w < 0.0)}
    longest = max(map(abs, total.values())) or 1.0
    gauges = []
    for name, color in (("for", FOR), ("against", AGAINST)):
        words = factor_words(total[name])
        if base_rate and (base_rate > 0.0) == (name == "for"):
            words += " (base rate too)"
        gauges.append(Gauge(name, abs(total[name]) / longest, words, color))
    return gauges


def surprise_line(lack: float, contradiction: float) -> Gauge:
    """Return the line about lack and contradiction: −ln of the largest probability, split.

    Examples
    --------
    >>> surprise_line(0.053, 0.640).words
    'lack 0.05 + contradiction 0.64 = −ln 0.50'
    """
    p = degree(math.exp(-lack - contradiction))
    return Gauge("", None, f"lack {degree(lack)} + contradiction {degree(contradiction)} = −ln {p}")


def dispute_line(disputed: tuple[Label, Label]) -> Gauge:
    """Return the line that names the classes that the components disagree about."""
    return Gauge("", None, f"the components disagree mostly about {_both(disputed)}")


def _both(labels: tuple[Label, Label]) -> str:
    return " and ".join(without_middle(label, 12) for label in labels)


def gauges_of(
    ignorance: float | None,
    disagreement: float | None,
    disputed: tuple[Label, Label] | None = None,
) -> list[Gauge]:
    """Return the gauges of what is known; one names the classes in dispute, if there are any."""
    gauges = []
    if ignorance is not None:
        gauges.append(Gauge("ignorance", ignorance, "(1 = no evidence at all)"))
    if disagreement is not None:
        gauges.append(_disagreement_gauge(disagreement, disputed))
    return gauges


def _disagreement_gauge(value: float, disputed: tuple[Label, Label] | None) -> Gauge:
    words = "(1 = total contradiction)"
    if disputed is not None and value >= LACKING:
        words = f"mostly between {_both(disputed)}"
    return Gauge("disagreement", value, words)


def draw_gauges(ax: Axes, gauges: Sequence[Gauge], beneath: float = 0.0) -> float:
    """Draw gauges above the axes, one a line, and return how many points of room they take.

    They leave room for ``beneath`` points between them and the axes.
    """
    figure = ax.get_figure(root=True)
    assert figure is not None
    points = FontProperties(size=_FONT).get_size_in_points()
    line = 1.3 * points
    # Points to the right of and above the upper left corner of the axes, wherever that moves to.
    to_corner: Any = ax.transAxes  # typed as any transform, which it is not
    corner = figure.dpi_scale_trans + ScaledTranslation(0, 1, to_corner)
    for position, gauge in enumerate(reversed(gauges)):
        middle = beneath + (position + 0.65) * line
        if gauge.value is None:
            _write(ax, corner, 0.0, middle, gauge.words)
            continue
        long = max(0.0, min(1.0, gauge.value)) * _LONG
        left = (5.0 if gauge.color else 8.0) * points
        parts = ((long, 1.0),) if gauge.color else ((_LONG, 0.15), (long, 0.75))
        for width, alpha in parts:
            ax.add_patch(
                Rectangle(
                    (left / 72, (middle - 0.3 * points) / 72),
                    width / 72,
                    0.6 * points / 72,
                    transform=corner,
                    clip_on=False,
                    facecolor=gauge.color or ink(),
                    edgecolor="none",
                    alpha=alpha,
                )
            )
        words = gauge.words if gauge.color else f"{degree(gauge.value)}  {gauge.words}"
        _write(ax, corner, 0.0, middle, gauge.name)
        _write(ax, corner, left + _LONG + 0.6 * points, middle, words)
    return beneath + (len(gauges) + 0.25) * line


def _write(ax: Axes, corner: Any, across: float, middle: float, text: str) -> None:
    place = across / 72, middle / 72
    ax.text(*place, text, transform=corner, fontsize=_FONT, va="center_baseline")
