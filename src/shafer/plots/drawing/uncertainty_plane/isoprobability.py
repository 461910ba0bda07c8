"""Lines of equal probability in the plane of ignorance and conflict, for two classes."""

from __future__ import annotations

from typing import Literal

import numpy as np
from matplotlib.axes import Axes

from shafer._typing import FloatArray
from shafer.plots.drawing.style import GREY, halo, ink

_EVEN = (0.5, 0.6, 0.75, 0.9, 0.99)
_WORDS = "largest probability"
_SPREAD = (0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)


def isoprobability(probability: float, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Return the logarithm of ignorance and the weight of conflict along a line.

    All evidence for the less probable class together has the weight t and leaves the mass
    :math:`y = e^{-t}` uncommitted; that for the other one leaves :math:`ry`, where
    :math:`r = (1 - p)/p`. Then :math:`1 - \kappa = y(1 + r(1 - y))` and
    :math:`m(\Theta) = ry^2/(1 - \kappa)`.

    Parameters
    ----------
    probability : float
        That of the more probable class, at least one half.
    weight : array of shape (m,)
        Values of t, not negative.

    Examples
    --------
    >>> import numpy as np
    >>> isoprobability(0.5, np.array([0.0]))
    (array([0.]), array([0.]))
    """
    ratio = (1.0 - probability) / probability
    excess = np.log1p(-ratio * np.expm1(-weight))
    return np.log(ratio) - weight - excess, weight - excess


def within_bounds(ignorance: FloatArray, weight_of_conflict: FloatArray) -> bool:
    """Return whether no point lies beyond p = 1/2; points of discounted evidence may.

    There ignorance is (1 − √κ) / (1 + √κ).
    """
    root = np.sqrt(-np.expm1(-weight_of_conflict))
    return bool((ignorance <= (1.0 - root) / (1.0 + root) + 1e-4).all())


def draw_isoprobability(ax: Axes, log: bool) -> None:
    """Draw lines of equal probability over the axes as they are, each with its number below."""
    reach = 2.0 * ax.get_ylim()[1] + 5.0 if log else 25.0
    weights = reach * np.linspace(0.0, 1.0, 2000) ** 2  # closer where the lines bend
    foot = max(0.0, float(np.interp(0.11, [0.0, 1.0], ax.get_ylim())))
    middle = float(np.interp(0.7, [0.0, 1.0], ax.get_ylim()))
    edge = 2.0  # of the axes: no number lies to the right of this
    roof = 2.0  # of the axes: no number at the right side lies above this
    for probability in _SPREAD if log else _EVEN:
        ignorance, conflict = isoprobability(probability, weights)
        x = ignorance / np.log(10.0) if log else np.exp(ignorance)
        y = conflict if log else -np.expm1(-conflict)
        half = probability == 0.5
        _draw_line(ax, x, y, half)
        if half and log:  # its foot is beyond the axes
            at = int(np.argmin(np.abs(y - middle)))
            _write_number(ax, f"  {_WORDS} 0.5", x[at], y[at], "left")
            continue
        at = int(np.argmin(np.abs(y - foot)))
        across = _share_of(ax, x[at], foot)[0]
        if across > 1.0 and not log:  # the axes end before its foot
            roof = _write_at_the_side(ax, x, y, f"{probability:g}", roof)
            continue
        if not 0.0 < across <= 1.0 or across > edge - 0.07:
            continue
        edge = across - (0.22 if half else 0.0)
        text = f"{_WORDS} {probability:g}" if half else f"{probability:g}"
        _write_number(ax, text, x[at], foot, "right" if half else "center")


def _share_of(ax: Axes, x: float, y: float) -> tuple[float, float]:
    """Return where a point lies, as shares of the width and the height of the axes."""
    across, up = ax.transAxes.inverted().transform(ax.transData.transform((x, y)))
    return float(across), float(up)


def _write_at_the_side(ax: Axes, x: FloatArray, y: FloatArray, text: str, roof: float) -> float:
    """Write the number of a line where it leaves the axes on the right, below those above it."""
    side = float(np.interp(0.99, [0.0, 1.0], ax.get_xlim()))
    at = int(np.argmin(np.abs(x - side)))
    height = _share_of(ax, x[at], y[at])[1]
    if not 0.0 < height < roof - 0.06:
        return roof
    _write_number(ax, f"{_WORDS} {text}", x[at], y[at], "right", above=True)
    return height


def _draw_line(ax: Axes, x: FloatArray, y: FloatArray, half: bool) -> None:
    ax.plot(
        x,
        y,
        color=ink() if half else GREY,
        linewidth=1.0 if half else 0.8,
        linestyle="solid" if half else (0, (4, 2)),
        alpha=0.8,
        zorder=1,
        scalex=False,
        scaley=False,
    )


def _write_number(
    ax: Axes,
    text: str,
    x: float,
    y: float,
    side: Literal["left", "center", "right"],
    *,
    above: bool = False,
) -> None:
    beside = side == "left" or above
    ax.annotate(
        text,
        (x, y),
        xytext=(0, 20 if above else 0 if beside else -5),  # above: clear of a falling line
        textcoords="offset points",
        ha=side,
        va="bottom" if beside else "top",
        annotation_clip=True,
        fontsize="x-small",
        color=ink(),
        path_effects=halo(2.0),
        zorder=5,
    )
