"""Figures 1, 3 and 4 of the paper: a classifier as it is usually read, and as evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from shafer.paper.figure_style import new_figure
from shafer.plots.style import GREY, color

_INK = "#222222"
_MASS, _OUTPUT = color(2), color(0)
_ROWS = (0.0, -1.0, -2.0)  # the first, those between, and the last
_LAST = 2


class _Box(NamedTuple):
    """A box of a diagram: its centre, its text and its colour."""

    x: float
    y: float
    text: str
    colour: str = GREY


_Diagram = tuple[list[_Box], list[tuple[int, int]]]  # boxes, and arrows by their positions


def _draw(ax: Axes, boxes: Sequence[_Box], arrows: Sequence[tuple[int, int]]) -> None:
    """Draw boxes, and arrows from box to box."""
    patches = []
    for box in boxes:
        outline = {"boxstyle": "round,pad=0.5", "fc": "white", "ec": box.colour, "lw": 1.3}
        dots = box.text == "⋮"
        patches.append(
            ax.text(
                box.x,
                box.y,
                box.text,
                ha="center",
                va="center",
                color=_INK,
                bbox=None if dots else outline,
                linespacing=1.9,
                zorder=3,
            )
        )
    for start, end in arrows:
        # From and to the centres, but hidden behind the boxes.
        ax.annotate(
            "",
            (boxes[end].x, boxes[end].y),
            (boxes[start].x, boxes[start].y),
            arrowprops={
                "arrowstyle": "-|>",
                "color": _INK,
                "lw": 0.9,
                "shrinkA": 0,
                "shrinkB": 3,
                "patchA": patches[start].get_bbox_patch(),
                "patchB": patches[end].get_bbox_patch(),
            },
            zorder=2,
        )
    xs, ys = [box.x for box in boxes], [box.y for box in boxes]
    ax.set_xlim(min(xs) - 0.6, max(xs) + 0.6)
    ax.set_ylim(min(ys) - 0.55, max(ys) + 0.55)
    ax.axis("off")


def _column(x: float, first: str, last: str, colour: str = GREY) -> list[_Box]:
    texts = (first, "⋮", last)
    return [_Box(x, y, text, colour) for y, text in zip(_ROWS, texts, strict=True)]


def _fully_connected(left: int, right: int) -> list[tuple[int, int]]:
    """Return arrows from the first and last box of a column to those of another."""
    ends = (0, _LAST)
    return [(left + a, right + b) for a in ends for b in ends]


def generalised() -> Figure:
    """Draw a generalised logistic regression classifier: Figure 1."""
    figure = new_figure(8.4, 2.5)
    boxes = [
        _Box(0.0, -1.0, "input  $x$"),
        *_column(1.0, r"$\phi_1(x)$", r"$\phi_J(x)$"),
        *_column(
            2.4,
            r"$\beta_{01} + \sum_j \beta_{j1}\,\phi_j(x)$",
            r"$\beta_{0K} + \sum_j \beta_{jK}\,\phi_j(x)$",
        ),
        _Box(3.7, -1.0, "softmax"),
        *_column(4.7, r"$p_1(x)$", r"$p_K(x)$", _OUTPUT),
    ]
    arrows = [(0, 1), (0, 3), *_fully_connected(1, 4), (4, 7), (6, 7), (7, 8), (7, 10)]
    _draw(figure.subplots(), boxes, arrows)
    return figure


def _views(classical: _Diagram, evidential: _Diagram, height: float) -> Figure:
    """Draw the usual reading above the reading as evidence."""
    figure = new_figure(9.4, height)
    panels = zip(
        figure.subplots(2, 1),
        (classical, evidential),
        ("(a)  as a function of the features", "(b)  as a combination of evidence"),
        strict=True,
    )
    for ax, diagram, title in panels:
        _draw(ax, *diagram)
        ax.set_xlim(-0.5, 5.3)  # the same features at the same place
        ax.set_title(title, loc="left")
    return figure


def binary_views() -> Figure:
    """Draw the two readings of a classifier of two classes: Figure 3."""
    features = _column(0.0, r"$\phi_1(x)$", r"$\phi_J(x)$")
    classical = [
        *features,
        _Box(2.3, -1.0, r"$z = \beta_0 + \sum_j \beta_j\,\phi_j(x)$"),
        _Box(4.8, -1.0, r"$p_1(x) = \dfrac{1}{1 + e^{-z}}$", _OUTPUT),
    ]
    evidential = [
        *features,
        *_column(
            1.05, r"$w_1 = \beta_1\phi_1(x) + \alpha_1$", r"$w_J = \beta_J\phi_J(x) + \alpha_J$"
        ),
        *_column(
            2.45,
            r"$m_1 = \{\theta_1\}^{w_1^+} \oplus \{\theta_2\}^{w_1^-}$",
            r"$m_J = \{\theta_1\}^{w_J^+} \oplus \{\theta_2\}^{w_J^-}$",
            _MASS,
        ),
        _Box(3.65, -1.0, "Dempster's\n" r"rule:  $m$", _MASS),
        _Box(4.8, -1.0, "normalised\nplausibility\n" r"$p_m(\theta_1) = p_1(x)$", _OUTPUT),
    ]
    return _views(
        (classical, [(0, 3), (2, 3), (3, 4)]),
        (evidential, [(0, 3), (2, 5), (3, 6), (5, 8), (6, 9), (8, 9), (9, 10)]),
        4.6,
    )


def multinomial_views() -> Figure:
    """Draw the two readings of a classifier of K classes: Figure 4."""
    features = _column(0.0, r"$\phi_1(x)$", r"$\phi_J(x)$")
    classical = [
        *features,
        *_column(
            1.9,
            r"$z_1 = \beta_{01} + \sum_j \beta_{j1}\,\phi_j(x)$",
            r"$z_K = \beta_{0K} + \sum_j \beta_{jK}\,\phi_j(x)$",
        ),
        _Box(3.65, -1.0, "softmax"),
        *_column(4.8, r"$p_1(x)$", r"$p_K(x)$", _OUTPUT),
    ]
    evidential = [
        *features,
        *_column(
            1.05,
            r"$w_{1k} = \beta_{1k}\phi_1(x) + \alpha_{1k}$" "\n" r"$k = 1, \ldots, K$",
            r"$w_{Jk} = \beta_{Jk}\phi_J(x) + \alpha_{Jk}$" "\n" r"$k = 1, \ldots, K$",
        ),
        *_column(
            2.45,
            r"for $\theta_k$:  $\{\theta_k\}^{w_{1k}^+}$"
            "\n"
            r"against $\theta_k$:  $\overline{\{\theta_k\}}^{\,w_{1k}^-}$",
            r"for $\theta_k$:  $\{\theta_k\}^{w_{Jk}^+}$"
            "\n"
            r"against $\theta_k$:  $\overline{\{\theta_k\}}^{\,w_{Jk}^-}$",
            _MASS,
        ),
        _Box(3.65, -1.0, "Dempster's rule:\n" r"$m = m^+ \oplus m^-$", _MASS),
        *_column(
            4.8,
            r"$p_m(\theta_1) = p_1(x)$",
            r"$p_m(\theta_K) = p_K(x)$",
            _OUTPUT,
        ),
    ]
    return _views(
        (classical, [*_fully_connected(0, 3), (3, 6), (5, 6), (6, 7), (6, 9)]),
        (evidential, [(0, 3), (2, 5), (3, 6), (5, 8), (6, 9), (8, 9), (9, 10), (9, 12)]),
        5.4,
    )
