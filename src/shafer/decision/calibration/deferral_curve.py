"""``DeferralCurve``: what goes wrong among decided rows, against the share of decided rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from shafer._typing import BoolArray, FloatArray
from shafer.decision.calibration.tail_bounds import upper_mean, upper_rate

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
