"""Lines of equal probability in the plane of ignorance and conflict, for two classes."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from shafer._typing import FloatArray
from shafer.plots.style import GREY, halo, ink

_EVEN = (0.5, 0.6, 0.75, 0.9, 0.99)


def isoprobability(probability: float, uncommitted: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Return ignorance and weight of conflict along a line of equal probability.

    All evidence for the more probable class together leaves the mass :math:`ry` uncommitted, all
    for the other one :math:`y`, where :math:`r = (1 - p)/p`; then
    :math:`1 - \kappa = y + ry - ry^2` and :math:`m(\Theta) = ry^2/(1 - \kappa)`.

    Parameters
    ----------
    probability : float
        That of the more probable class, at least one half.
    uncommitted : array of shape (m,)
        Values of y in (0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> isoprobability(0.5, np.array([1.0]))
    (array([1.]), array([-0.]))
    """
    ratio = (1.0 - probability) / probability
    agreeing = uncommitted * (1.0 + ratio * (1.0 - uncommitted))  # 1 − κ
    return ratio * uncommitted**2 / agreeing, -np.log(agreeing)


def within_bounds(ignorance: FloatArray, weight_of_conflict: FloatArray) -> bool:
    """Say whether no point is beyond p = 1/2: discounted evidence of two classes may be.

    There ignorance is (1 − √κ) / (1 + √κ).
    """
    root = np.sqrt(-np.expm1(-weight_of_conflict))
    return bool((ignorance <= (1.0 - root) / (1.0 + root) + 1e-4).all())


def draw_isoprobability(ax: Axes, log: bool) -> None:
    """Draw lines of equal probability, each with its number at its foot, where conflict is none."""
    uncommitted = np.geomspace(1e-150, 1.0, 20000) if log else np.geomspace(1e-9, 1.0, 400)
    left = ax.get_xlim()[0]
    for probability in _spread(left) if log else _EVEN:
        x, weight = isoprobability(probability, uncommitted)
        half = probability == 0.5
        ax.plot(
            x,
            weight if log else -np.expm1(-weight),
            color=ink() if half else GREY,
            linewidth=1.0 if half else 0.8,
            linestyle="solid" if half else (0, (4, 2)),
            alpha=0.8,
            zorder=1,
            scalex=False,
            scaley=False,
        )
        ax.annotate(
            f"p = {probability:g}" if half else f"{probability:g}",
            (x[-1], 0.0),
            xytext=(0, -5),
            textcoords="offset points",
            ha="right" if half else "center",
            va="top",
            fontsize="x-small",
            color=ink(),
            path_effects=halo(2.0),
            zorder=5,
        )


def _spread(left: float) -> list[float]:
    """Return probabilities whose lines lie at least a decade apart, as many as have room."""
    decades = -np.log10(left)
    if decades < 2.5:
        return [0.5, 0.75, 0.9]
    step = max(1, int(np.ceil(decades / 5)))
    powers = range(step, min(int(decades) + 1, 7), step)
    return [0.5, *(float(f"{1.0 - 10.0**-power:.10g}") for power in powers)]
