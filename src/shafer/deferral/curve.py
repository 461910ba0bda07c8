"""``DeferralCurve``: what goes wrong among decided rows, against their share, for a plot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.labels import group_labels, group_positions
from shafer._typing import BoolArray, FloatArray
from shafer.metrics.bounds import upper_mean, upper_rate

_MOST_POINTS = 400  # of a curve


@final
@dataclass(frozen=True, eq=False)
class DeferralCurve:
    """A curve over all thresholds, from the surest row to all rows.

    Attributes
    ----------
    share : array of shape (T,)
        The share of rows decided.
    risk, bound : arrays of shape (T,)
        The error rate, share of misses or mean loss, and its upper confidence bound, each for one
        threshold alone.
    chosen : float
        The share that the threshold in use decides.
    name : str
        The group, empty if there are none.
    """

    share: FloatArray
    risk: FloatArray
    bound: FloatArray
    chosen: float
    name: str = ""

    @property
    def chosen_risk(self) -> float:
        """The risk at the threshold in use; NaN if it decides nothing."""
        if self.chosen == 0.0:
            return float("nan")
        return float(np.interp(self.chosen, self.share, self.risk))

    def rescaled(self, low: float, high: float) -> DeferralCurve:
        """Return the curve in the units of losses from ``low`` to ``high``."""
        risk, bound = (low + (high - low) * part for part in (self.risk, self.bound))
        return DeferralCurve(self.share, risk, bound, self.chosen, self.name)


def deferral_curves(
    scores: FloatArray,
    losses: FloatArray,
    own: BoolArray,
    decided: BoolArray,
    by: NDArray[Any] | None,
    confidence: float,
    kind: str,
) -> list[DeferralCurve]:
    """Return one curve, or one for each group that has rows to draw.

    Parameters
    ----------
    scores, losses, own, decided, confidence
        As in :func:`deferral_curve`.
    by : array of shape (n,) or None
    kind : {"error", "false_negative_rate", "mean_loss"}
    """
    if not len(scores):
        raise ValueError("A deferral curve needs rows to draw; got none.")
    options: dict[str, Any] = {"rate": kind != "mean_loss"}
    options["of_class"] = kind == "false_negative_rate"
    if by is None:
        return [deferral_curve(scores, losses, own, decided, confidence, **options)]
    names = tuple(group_labels(by))
    places = group_positions(by, names)
    curves = []
    for place, name in enumerate(names):
        part = places == place
        if own[part].any():
            arrays = (scores[part], losses[part], own[part], decided[part])
            curves.append(deferral_curve(*arrays, confidence, **options, name=str(name)))
    return curves


def deferral_curve(
    scores: FloatArray,
    losses: FloatArray,
    own: BoolArray,
    decided: BoolArray,
    confidence: float,
    *,
    rate: bool = True,
    of_class: bool = False,
    name: str = "",
) -> DeferralCurve:
    """Return the curve of rows with these scores.

    Parameters
    ----------
    scores, losses : arrays of shape (n,)
        Losses lie between 0 and 1; an error is 1.
    own, decided : boolean arrays of shape (n,)
        The rows that the risk is about, and those that are decided by the threshold in use.
    confidence : float
        Of the upper bound.
    rate : bool
        Whether losses are 0 or 1.
    of_class : bool
        Divide by all of ``own``, not by those that are decided: a share of misses.
    name : str
    """
    order = np.argsort(-scores, kind="stable")
    total = np.cumsum(np.where(own, losses, 0.0)[order])
    count = np.cumsum(own[order])
    last = np.append(scores[order][:-1] > scores[order][1:], True)
    points = np.flatnonzero(last & (count > 0))
    points = points[np.linspace(0, len(points) - 1, min(len(points), _MOST_POINTS)).astype(np.intp)]
    total, count = total[points], count[points]
    n = np.full(len(points), int(own.sum())) if of_class else count
    bound = upper_rate(total, n, confidence) if rate else upper_mean(total, n, confidence)
    share = (points + 1) / len(scores)
    return DeferralCurve(share, total / n, bound, float(decided.mean()), name)
