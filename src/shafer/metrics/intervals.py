"""Calibration of intervals [Bel, Pl] against observed frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.labels import TrueClasses
from shafer._typing import BoolArray, FloatArray
from shafer.metrics.set_predictions import class_scores, relative_weights, weighted_mean

_EVENTS = ("decided", "every")
_STRATEGIES = ("quantile", "uniform")
_ROUNDING = 1e-9  # of belief and plausibility


@final
@dataclass(frozen=True, eq=False)
class IntervalCalibration:
    """Mean intervals and frequencies in bins of the intervals' midpoints; empty bins are left out.

    Attributes
    ----------
    belief, plausibility : arrays of shape (B,)
        Mean belief and plausibility of the events of a bin.
    frequency : array of shape (B,)
        Share of these events that are true.
    share : array of shape (B,)
        Share of all events that lie in the bin; sums to 1.
    mean_width : float
        Mean of plausibility minus belief over all events.

    See Also
    --------
    interval_calibration : Makes one.
    shafer.plots.IntervalCalibrationDisplay : Draws it.

    Examples
    --------
    >>> from shafer.metrics import interval_calibration
    >>> belief, plausibility = [[0.6, 0.1], [0.2, 0.5]], [[0.9, 0.4], [0.5, 0.8]]
    >>> found = interval_calibration([0, 1], belief, plausibility, n_bins=1)
    >>> found.belief.round(3), found.plausibility.round(3), found.frequency
    (array([0.55]), array([0.85]), array([1.]))
    """

    belief: FloatArray
    plausibility: FloatArray
    frequency: FloatArray
    share: FloatArray
    mean_width: float

    @property
    def inside(self) -> BoolArray:
        """True where the frequency lies in the mean interval, bounds included, (B,)."""
        above = self.frequency >= self.belief - _ROUNDING
        held: BoolArray = above & (self.frequency <= self.plausibility + _ROUNDING)
        return held

    @property
    def share_inside(self) -> float:
        """The share of bins whose frequency lies in the mean interval."""
        return float(self.inside.mean())


class _Events(NamedTuple):
    """Statements "the class is k" with their intervals, and whether they are true, (m,) each."""

    belief: FloatArray
    plausibility: FloatArray
    true: BoolArray
    weight: FloatArray

    @property
    def middle(self) -> FloatArray:
        return 0.5 * (self.belief + self.plausibility)


def interval_calibration(
    y_true: Any,
    belief: Any,
    plausibility: Any,
    *,
    events: str = "decided",
    n_bins: int = 10,
    strategy: str = "quantile",
    labels: Any = None,
    sample_weight: Any = None,
) -> IntervalCalibration:
    r"""Return mean intervals [Bel, Pl] beside observed frequencies, bin by bin.

    An event is the statement that a row's class is k. Events are sorted into bins by the midpoint
    of their interval. In each bin b the share of true events should lie between the mean belief and
    the mean plausibility:

    .. math:: \overline{Bel}_b \le \frac{1}{n_b} \sum_{i \in b} 1[y_i = k_i]
              \le \overline{Pl}_b

    ``share_inside`` is the share of bins where it does. Read it beside ``mean_width``: intervals
    [0, 1] contain every frequency. Intervals of zero width are probabilities, and the result is a
    reliability diagram; the frequency of a finite bin then almost never equals the probability.

    Parameters
    ----------
    y_true : array of shape (n,)
        True classes, as in :func:`coverage_score`.
    belief, plausibility : arrays of shape (n, K)
        As ``ev.belief`` and ``ev.plausibility``.
    events : {"decided", "every"}
        "decided": the most plausible class of each row (on a tie, the one with most belief), so
        that frequencies are accuracies. "every": every class of each row.
    n_bins : int
        The largest number of bins; empty ones are left out.
    strategy : {"quantile", "uniform"}
        Bins with about equally many events, or bins of equal width.
    labels, sample_weight
        As in :func:`coverage_score`.

    Returns
    -------
    IntervalCalibration

    See Also
    --------
    shafer.plots.IntervalCalibrationDisplay : Draws the result.
    IntervalCalibration : The result.

    Examples
    --------
    >>> from shafer.metrics import interval_calibration
    >>> belief = [[0.1, 0.2], [0.2, 0.3], [0.6, 0.1], [0.7, 0.1]]
    >>> plausibility = [[0.8, 0.9], [0.7, 0.8], [0.9, 0.4], [0.9, 0.3]]
    >>> calibration = interval_calibration([0, 1, 0, 0], belief, plausibility, n_bins=2)
    >>> calibration.belief, calibration.frequency, calibration.plausibility
    (array([0.25, 0.65]), array([0.5, 1. ]), array([0.85, 0.9 ]))
    >>> calibration.share_inside, round(calibration.mean_width, 3)
    (0.5, 0.425)
    """
    for name, value, known in (("events", events, _EVENTS), ("strategy", strategy, _STRATEGIES)):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}; got {value!r}.")
    if isinstance(n_bins, bool) or not isinstance(n_bins, int | np.integer) or n_bins < 1:
        raise ValueError(f"n_bins must be a positive whole number; got {n_bins!r}.")
    truth, below, above = _intervals(y_true, belief, plausibility, labels)
    weight = relative_weights(sample_weight, len(below))
    held = weight > 0
    rows = truth.positions[held], below[held], above[held], weight[held]
    found = _decided_events(*rows) if events == "decided" else _every_event(*rows)
    return _binned(found, _bins(found.middle, int(n_bins), strategy))


def _intervals(
    y_true: Any, belief: Any, plausibility: Any, labels: Any
) -> tuple[TrueClasses, FloatArray, FloatArray]:
    truth, below = class_scores(y_true, belief, labels, "belief")
    # If one of the two is a data frame, its column names hold for the other one too.
    _, above = class_scores(y_true, plausibility, truth.classes, "plausibility")
    if below.shape != above.shape:
        raise ValueError(
            "belief and plausibility must have the same shape (n, K); "
            f"got {below.shape} and {above.shape}."
        )
    wrong = (below < -_ROUNDING) | (above > 1 + _ROUNDING) | (below > above + _ROUNDING)
    if wrong.any():
        i, k = np.argwhere(wrong)[0]
        raise ValueError(
            "belief and plausibility must satisfy 0 <= belief <= plausibility <= 1; "
            f"got {below[i, k]} and {above[i, k]} at index ({i}, {k})."
        )
    return truth, below, above


def _decided_events(
    truth: NDArray[np.intp], below: FloatArray, above: FloatArray, weight: FloatArray
) -> _Events:
    best = above == above.max(axis=1, keepdims=True)
    decided = np.argmax(np.where(best, below, -1.0), axis=1)
    rows = np.arange(len(truth))
    return _Events(below[rows, decided], above[rows, decided], decided == truth, weight)


def _every_event(
    truth: NDArray[np.intp], below: FloatArray, above: FloatArray, weight: FloatArray
) -> _Events:
    n_classes = below.shape[1]
    true = np.arange(n_classes) == truth[:, None]
    return _Events(below.ravel(), above.ravel(), true.ravel(), np.repeat(weight, n_classes))


def _bins(middle: FloatArray, n_bins: int, strategy: str) -> NDArray[np.intp]:
    """Return the bin of each event; equal middles share one."""
    inner = np.linspace(0.0, 1.0, n_bins + 1)[1:-1]
    edges = inner if strategy == "uniform" else np.quantile(middle, inner)
    return np.searchsorted(edges, middle, side="right")


def _binned(events: _Events, position: NDArray[np.intp]) -> IntervalCalibration:
    total = np.bincount(position, events.weight)
    held = total > 0

    def mean(values: NDArray[Any]) -> FloatArray:
        return np.bincount(position, events.weight * values)[held] / total[held]

    return IntervalCalibration(
        mean(events.belief),
        mean(events.plausibility),
        mean(events.true),
        total[held] / total.sum(),
        weighted_mean(events.plausibility - events.belief, events.weight),
    )
