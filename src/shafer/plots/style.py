"""How every Display looks: colours, line styles, strips of instances, and the axes to draw on."""

from __future__ import annotations

import base64
import copy
import io
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patheffects import AbstractPathEffect, withStroke

from shafer._checks.arrays import to_numpy
from shafer._typing import Array, FloatArray
from shafer.evidence.base_rate import base_rate_position, shares_base_rate
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's palette, less black and yellow: one is lost on dark, the other on light."""

FOR, AGAINST = COLORS[0], COLORS[1]
"""Evidence for a class, and against it."""

GREY = "#8c8c8c"
"""For what is dominated or left out: visible on white and on black."""

RAMP = LinearSegmentedColormap.from_list("shafer", ["#6c38a3", "#2a9d8f", "#a3cf3f"])
"""From low to high, ever lighter: readable in grey, and on light and dark backgrounds.

Neither end is a colour of evidence for or against, and no part is the grey of unknown values.
"""

WRONG_RAMP = LinearSegmentedColormap.from_list("wrong", ["#1f5fae", "#8f8f95", "#f2a72e"])
"""From right to wrong, near the colours of right and wrong points."""

LINE_STYLES: tuple[Any, ...] = (
    "solid",
    "dashed",
    "dashdot",
    (0, (6, 1.5, 1, 1.5, 1, 1.5)),
    (0, (9, 2)),
    (0, (3, 1, 1, 1)),
    (0, (2, 1)),
)
MARKERS = ("^", "o", "s", "D", "v", "P")
_DPI, _SHOWN_DPI = 144, 72  # of pictures in notebooks, sharp on dense screens
STRIP_HEIGHT = 0.055  # of the axes


def color(position: int) -> str:
    """Return a colour; with ``line_style`` the first forty-two differ."""
    return COLORS[position % len(COLORS)]


def line_style(position: int) -> Any:
    """Return a line style; the period is prime to that of the colours."""
    return LINE_STYLES[position % len(LINE_STYLES)]


def axes_for(ax: Axes | None, size: tuple[float, float] = (6.4, 4.8)) -> tuple[Axes, Figure]:
    """Return the axes to draw on, new ones if none are given, and their figure.

    A new figure has this size, in inches, and makes room for the texts beside the axes.
    """
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(figsize=size, layout="constrained")[1]
    figure = ax.get_figure(root=True)
    assert figure is not None
    return ax, figure


def drawn_html(display: Any) -> str:
    """Return the picture of a Display as HTML, for a notebook; "" if it was drawn already.

    A notebook shows a figure that was drawn in its cell by itself, so it is not shown twice.
    """
    if hasattr(display, "figure_"):
        return ""
    from matplotlib import pyplot

    drawn = copy.copy(display).plot().figure_
    held = io.BytesIO()
    drawn.savefig(held, format="png", dpi=_DPI)
    pyplot.close(drawn)
    content = base64.b64encode(held.getvalue()).decode()
    width = round(drawn.get_size_inches()[0] * _SHOWN_DPI)
    name = type(display).__name__
    return f'<img alt="{name}" width="{width}" src="data:image/png;base64,{content}">'


def ink() -> str:
    """Return the colour of text under the style in force: dark on light, light on dark."""
    return str(matplotlib.rcParams["text.color"])


def halo(width: float = 3.0) -> list[AbstractPathEffect]:
    """Return an outline in the colour of the background, for text that lies over lines."""
    return [withStroke(linewidth=width, foreground=matplotlib.rcParams["axes.facecolor"])]


def literal(text: object) -> str:
    """Keep matplotlib from reading dollar signs in a user's name as mathematics."""
    return str(text).replace("$", r"\$")


def degree(value: float) -> str:
    """Return a degree between 0 and 1 with two digits; "<0.01" and ">0.99" near the ends.

    Examples
    --------
    >>> degree(0.25), degree(0.001), degree(0.9999), degree(1.0)
    ('0.25', '<0.01', '>0.99', '1.00')
    """
    if 0.0 < value < 0.005:
        return "<0.01"
    return ">0.99" if 0.995 <= value < 1.0 else f"{value:.2f}"


def inner_width(ax: Axes) -> float:
    """Return how wide the axes are in points, once the labels have taken their room."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()
    return max(float(ax.get_window_extent().width) * 72.0 / figure.dpi, 1.0)


def text_points(text: str, font: str) -> float:
    """Return about how wide a line of text is, in points."""
    return 0.62 * len(text) * FontProperties(size=font).get_size_in_points()


def width_beside(names: Iterable[str], inner: float = 4.6) -> float:
    """Return how wide a figure must be, in inches, for axes of this width beside these names."""
    longest = max((0.9 * text_points(name, "medium") for name in names), default=0.0)
    return inner + longest / 72.0


def without_middle(text: object, most: int = 28) -> str:
    """Return a name on one line. A long name loses its middle: its ends tell names apart.

    Examples
    --------
    >>> without_middle("preprocessing__encoder__occupation_engineer")
    'preprocessing_…tion_engineer'
    """
    line = " ".join(str(text).split())
    if len(line) <= most:
        return literal(line)
    tail = (most - 1) // 2
    return literal(f"{line[: most - 1 - tail]}…{line[-tail:]}")


def without_end(text: object, most: int) -> str:
    """Return a text on one line. A long one loses its end.

    Examples
    --------
    >>> without_end("radio, television or other furniture", 20)
    'radio, television o…'
    """
    line = " ".join(str(text).split())
    return literal(line if len(line) <= most else f"{line[: most - 1].rstrip(' ,;')}…")


def signed(value: float, scale: float) -> str:
    """Return a weight as text, with its sign and the digits that weights of this size need.

    Examples
    --------
    >>> signed(1.234, 5.0), signed(-123.4, 900.0), signed(-0.0012, 0.05), signed(-0.001, 5.0)
    ('+1.23', '−123', '−0.001', '0.00')
    """
    power = 0 if scale == 0 else int(np.floor(np.log10(scale)))
    digits = min(max(2 - power, 0) if power >= 0 else 1 - power, 6)
    text = f"{value:+,.{digits}f}".replace("-", "−")
    return text if any(digit in "123456789" for digit in text) else text[1:]


def draw_legend(ax: Axes) -> None:
    """Draw the legend: inside the axes, or above them if it has more than four entries."""
    handles = ax.get_legend_handles_labels()[0]
    if len(handles) <= 4:
        ax.legend(handles=handles, fontsize="small", framealpha=0.9)
    else:
        draw_legend_above(ax, handles)


def draw_legend_above(ax: Axes, handles: list[Any]) -> None:
    """Draw the legend above the axes, in as many columns as fit."""
    longest = max(0.85 * text_points(str(h.get_label()), "small") for h in handles)
    columns = int(np.clip(inner_width(ax) / (longest + 42.0), 1, 4))
    ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=columns,
        fontsize="small",
        frameon=False,
        borderaxespad=0.2,
        columnspacing=1.2,
        handlelength=2.4,
    )


def draw_strips(ax: Axes, instances: Mapping[str, FloatArray]) -> None:
    """Mark instances along the horizontal axis, one strip a group, jittered to part ties.

    Two groups take the lower and the upper axis; more lie below, above each other. The vertical
    range grows by what the strips need.
    """
    if not instances:
        return
    pair = len(instances) == 2
    below, above = (1, 1) if pair else (len(instances), 0)
    low, high = ax.get_ylim()
    unit = (high - low) * STRIP_HEIGHT / (1.0 - STRIP_HEIGHT * (below + above))
    ax.set_ylim(low - below * unit, high + above * unit)
    for position, (name, values) in enumerate(instances.items()):
        base = (0.0 if position == 0 else 1.0 - STRIP_HEIGHT) if pair else position * STRIP_HEIGHT
        # Multiples of the golden ratio modulo one: spread evenly, and the same in every run.
        jitter = (np.arange(len(values)) * 0.6180339887498949) % 1.0
        ax.plot(
            values,
            base + STRIP_HEIGHT * (0.15 + 0.7 * jitter),
            transform=ax.get_xaxis_transform(),
            linestyle="none",
            marker=MARKERS[position % len(MARKERS)],
            markersize=2.8,
            markeredgewidth=0.5,
            # Not in colours: those of the curves mean something else.
            markerfacecolor="none" if position % 2 else ink(),
            markeredgecolor=ink(),
            alpha=0.6,
            label=f"instances: {without_middle(name)}",
        )


def readable_on(behind: FloatArray) -> str:
    """Return black or white, whichever stands out more (relative luminance, WCAG 2)."""
    linear = np.where(behind <= 0.04045, behind / 12.92, ((behind + 0.055) / 1.055) ** 2.4)
    return "black" if float(linear @ (0.2126, 0.7152, 0.0722)) > 0.179 else "white"


# Arrays that Displays take from evidence of any type.

_Mass = TypeVar("_Mass", bound=MassEvidence)


def numbers(array: Array) -> FloatArray:
    """Bring an array of any library to NumPy, in double precision."""
    return np.asarray(to_numpy(array), dtype=np.float64)


def of_instances(evidence: _Mass) -> _Mass:
    """Refuse evidence whose rows are the components of instances: its arrays have another axis."""
    if len(evidence.belief.shape) != 2:
        raise ValueError(
            "The evidence of whole rows is needed; got the evidence of single components "
            "(ev.components). Pass ev itself."
        )
    return evidence


def take_row(evidence: _Mass, row: int) -> _Mass:
    """Take one instance by its position."""
    n = len(of_instances(evidence))
    if isinstance(row, bool) or not isinstance(row, int | np.integer) or not -n <= row < n:
        raise ValueError(
            f"row must be a whole number from 0 to {n - 1}; got {row!r}. "
            "A row by its label: ev.of(label)."
        )
    return evidence[int(row)]


# The base rate among the components: one of its own, or shared by all.

SHARED_NOTE = "each component includes a share of the base rate"


def base_rate_notes(evidence: Evidence) -> list[str]:
    """Return what a summary, which leaves out the base rate, must add about it."""
    if base_rate_position(evidence) is not None:
        return ["without the base rate"]
    return [SHARED_NOTE] if shares_base_rate(evidence) else []
