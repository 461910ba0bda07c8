"""Whether intervals [Bel, Pl] hold the frequencies they speak of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import BoolArray, FloatArray
from shafer._validation import float_array, to_numpy
from shafer.metrics.set_predictions import (
    relative_weights,
    same_length,
    true_classes,
    weighted_mean,
)

_EVENTS = ("decided", "every")
_STRATEGIES = ("quantile", "uniform")
_ROUNDING = 1e-9  # of belief and plausibility


@final
@dataclass(frozen=True, eq=False)
class IntervalCalibration:
    """Mean intervals and frequencies in bins of their middles; only bins that hold events.

    Attributes
    ----------
    belief, plausibility : arrays of shape (B,)
        Mean belief and plausibility of the events of a bin.
    frequency : array of shape (B,)
        How often these events are true.
    share : array of shape (B,)
        How many of all events lie in the bin; sums to 1.
    mean_width : float
        Mean of plausibility less belief over all events.
    """

    belief: FloatArray
    plausibility: FloatArray
    frequency: FloatArray
    share: FloatArray
    mean_width: float

    @property
    def inside(self) -> BoolArray:
        """Where the frequency lies in the mean interval, bounds included, (B,)."""
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
    r"""Compare intervals [Bel, Pl] with how often what they speak of is true.

    Events are sorted into bins by the middle of their interval. In each bin b the accuracy should
    lie between the mean belief and the mean plausibility:

    .. math:: \overline{Bel}_b \le \frac{1}{n_b} \sum_{i \in b} 1[y_i = k_i]
              \le \overline{Pl}_b

    ``share_inside`` says in how many bins it does, ``mean_width`` at what price: intervals [0, 1]
    hold everything. Intervals without width are probabilities and the picture is a reliability
    diagram; then chance alone keeps the accuracy of a finite bin out of them.

    Parameters
    ----------
    y_true : array of shape (n,)
        True classes, as in :func:`coverage_score`.
    belief, plausibility : arrays of shape (n, K)
        As ``ev.belief`` and ``ev.plausibility``.
    events : {"decided", "every"}
        What the intervals speak of: the most plausible class of each row (on a tie, that of most
        belief), so that frequencies are accuracies; or every class of each row.
    n_bins : int
        Bins at most; those without events are left out.
    strategy : {"quantile", "uniform"}
        Bins of about equally many events, or of equal width.
    labels, sample_weight
        As in :func:`coverage_score`.

    Returns
    -------
    IntervalCalibration

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
    below, above = _interval_arrays(belief, plausibility)
    truth = true_classes(y_true, below.shape[1], labels).positions
    same_length({"y_true": truth, "belief": below})
    weight = relative_weights(sample_weight, len(below))
    held = weight > 0
    rows = truth[held], below[held], above[held], weight[held]
    found = _decided_events(*rows) if events == "decided" else _every_event(*rows)
    return _binned(found, _bins(found.middle, int(n_bins), strategy))


def _interval_arrays(belief: Any, plausibility: Any) -> tuple[FloatArray, FloatArray]:
    below: FloatArray = to_numpy(float_array(belief, "belief", ndim=(2,)))
    above: FloatArray = to_numpy(float_array(plausibility, "plausibility", ndim=(2,)))
    if below.shape != above.shape or below.shape[0] == 0 or below.shape[1] < 2:
        raise ValueError(
            "belief and plausibility must have the same shape (n, K), with at least one row and "
            f"two classes; got {below.shape} and {above.shape}."
        )
    wrong = (below < -_ROUNDING) | (above > 1 + _ROUNDING) | (below > above + _ROUNDING)
    if wrong.any():
        i, k = np.argwhere(wrong)[0]
        raise ValueError(
            "belief and plausibility must obey 0 <= belief <= plausibility <= 1; "
            f"got {below[i, k]} and {above[i, k]} at index ({i}, {k})."
        )
    return below, above


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
