"""Ignorance and disagreement above a picture: a small gauge, a number and a few words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Rectangle
from matplotlib.transforms import ScaledTranslation

from shafer._typing import Label
from shafer.evidence.words import LACKING
from shafer.plots.style import degree, ink, without_middle

_FONT = "small"
_LONG = 42.0  # points: a gauge from 0 to 1


class Gauge(NamedTuple):
    """A quantity between 0 and 1, by name, and what it means."""

    name: str
    value: float
    words: str


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
        words = f"mostly between {' and '.join(without_middle(label, 12) for label in disputed)}"
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
        long = max(0.0, min(1.0, gauge.value)) * _LONG
        left = 8.0 * points
        for width, alpha in ((_LONG, 0.15), (long, 0.75)):
            ax.add_patch(
                Rectangle(
                    (left / 72, (middle - 0.3 * points) / 72),
                    width / 72,
                    0.6 * points / 72,
                    transform=corner,
                    clip_on=False,
                    facecolor=ink(),
                    edgecolor="none",
                    alpha=alpha,
                )
            )
        texts = (
            (0.0, gauge.name),
            (left + _LONG + 0.6 * points, f"{degree(gauge.value)}  {gauge.words}"),
        )
        for across, text in texts:
            ax.text(
                across / 72,
                middle / 72,
                text,
                transform=corner,
                fontsize=_FONT,
                va="center_baseline",
            )
    return beneath + (len(gauges) + 0.25) * line
