"""The bars of a waterfall: components, the weakest of them pooled, and their error bars."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer.evidence import Evidence
from shafer.plots.drawing.compared_classes import Compared

Ends = tuple[float, float]
"""The lower and the upper end of an interval."""


class Step(NamedTuple):
    """One bar: a component, or those pooled, and its weight for and against the class."""

    name: str
    weight: float
    parts: tuple[float, float] | None = None
    """The sums of the pooled weights for and against the class, if there are both."""
    interval: Ends | None = None
    """Error bar of the weight, if it is known."""
    missing: bool = False
    """Whether the input is missing: the weight is then an expectation, or none."""

    @property
    def told_from_zero(self) -> bool:
        """Whether the error bar leaves out zero; True if there is none."""
        return self.interval is None or not self.interval[0] <= 0.0 <= self.interval[1]


class WaterfallIntervals(NamedTuple):
    """Error bars of all that a waterfall shows."""

    level: float
    components: FloatArray  # (G, 2), without the base rate
    base_rate: Ends | None
    pooled: Ends | None
    """Of the sum of the components that have no bar of their own."""
    total: Ends


def split_by_size(weights: FloatArray, most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the components that get a bar, the largest first, and those that are pooled."""
    strongest = np.argsort(-np.abs(weights), kind="stable")
    shown = len(strongest) if len(strongest) <= most else most - 1
    return strongest[:shown], strongest[shown:]


def pooled_step(weights: FloatArray, interval: Ends | None) -> Step:
    """Return one bar for several components."""
    positive = float(np.maximum(weights, 0.0).sum())
    negative = float(np.minimum(weights, 0.0).sum())
    parts = (positive, negative) if positive > 0.0 > negative else None
    return Step(f"the other {len(weights)}", float(weights.sum()), parts, interval)


def waterfall_intervals(
    one: Evidence,
    compared: Compared,
    features: NDArray[np.intp],
    base: int | None,
    most: int,
    level: float,
) -> WaterfallIntervals | None:
    """Compute the error bars of one row; sums take the covariances of their components.

    Parameters
    ----------
    one : Evidence
        One row.
    compared : Compared
    features : array of shape (G,)
        Positions of the components that are not the base rate.
    base : int, optional
        Position of the base rate.
    most : int
        Bars at most.
    level : float
    """
    if one.errors is None:
        return None
    ends = np.stack(compared.intervals(one, level), axis=-1)[0]  # (G, 2), the base rate too
    pooled = split_by_size(compared.weights(one)[0, features], most)[1]

    def together(part: Evidence) -> Ends:
        lower, upper = compared.intervals(part.grouped("one"), level)
        return float(lower[0, 0]), float(upper[0, 0])

    rest = np.setdiff1d(np.arange(one.n_components), features[pooled]).tolist()
    return WaterfallIntervals(
        level,
        ends[features],
        None if base is None else (float(ends[base, 0]), float(ends[base, 1])),
        together(one.without(rest)) if len(pooled) else None,
        together(one),
    )
