"""What abstaining buys: the error among the rows a classifier is most confident about."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer._validation import float_array, to_numpy
from shafer.metrics.set_predictions import (
    label_vector,
    relative_weights,
    same_length,
    set_predictions,
)


class RiskCoverageCurve(NamedTuple):
    """Risk and coverage, (T,) each, as the threshold on the confidence falls."""

    coverage: FloatArray
    risk: FloatArray
    thresholds: FloatArray


class _Accepted(NamedTuple):
    """Rows in the order in which they are accepted."""

    loss: FloatArray  # (n,)
    weight: FloatArray  # (n,)
    confidence: FloatArray  # (n,), descending


def risk_coverage_curve(
    y_true: Any, y_pred: Any, confidence: Any, *, labels: Any = None, sample_weight: Any = None
) -> RiskCoverageCurve:
    r"""Return the error among the rows of at least some confidence, and how many they are.

    .. math::

        \mathrm{coverage}(t) = \frac{1}{n} \sum_i 1[c_i \ge t], \qquad
        \mathrm{risk}(t) = \frac{\sum_i \ell_i 1[c_i \ge t]}{\sum_i 1[c_i \ge t]}

    with the loss :math:`\ell_i` 1 for an error, else 0 (El-Yaniv and Wiener, *On the foundations of
    noise-free selective classification*, JMLR 11, 2010). This coverage is a share of rows that are
    answered, not that of :func:`coverage_score`.

    Parameters
    ----------
    y_true : array of shape (n,)
        True classes.
    y_pred : array of shape (n,), or boolean of shape (n, K)
        Predicted classes; or sets, which are wrong where they miss the true class.
    confidence : array of shape (n,)
        Larger where the prediction is more likely to be right, such as the largest probability, or
        the ignorance with a minus sign.
    labels : sequence of K labels, optional
        The classes in the order of the columns of sets, as in :func:`coverage_score`.
    sample_weight : array of shape (n,), optional

    Returns
    -------
    coverage, risk, thresholds : arrays of shape (T,)
        One point for each different confidence; coverage ascends to 1, thresholds descend.

    Examples
    --------
    >>> from shafer.metrics import risk_coverage_curve
    >>> coverage, risk, thresholds = risk_coverage_curve(
    ...     ["a", "b", "a", "b"], ["a", "b", "b", "b"], [0.9, 0.8, 0.6, 0.6]
    ... )
    >>> coverage, risk, thresholds
    (array([0.25, 0.5 , 1.  ]), array([0.  , 0.  , 0.25]), array([0.9, 0.8, 0.6]))
    """
    accepted = _accepted(y_true, y_pred, confidence, labels, sample_weight)
    last = _group_ends(accepted.confidence)
    weight = np.cumsum(accepted.weight)[last]
    loss = np.cumsum(accepted.loss * accepted.weight)[last]
    return RiskCoverageCurve(weight / weight[-1], loss / weight, accepted.confidence[last])


def risk_coverage_area(
    y_true: Any, y_pred: Any, confidence: Any, *, labels: Any = None, sample_weight: Any = None
) -> float:
    r"""Return the area under the risk-coverage curve (AURC).

    .. math:: \frac{1}{n} \sum_{i=1}^{n} \frac{1}{i} \sum_{j \le i} \ell_{(j)}

    over rows by descending confidence: the mean risk over all coverages 1/n, 2/n, ..., 1 (Geifman
    and El-Yaniv, *Selective classification for deep neural networks*, NeurIPS 2017). Rows of equal
    confidence share their mean loss, which is what any order of them gives on average.

    Parameters
    ----------
    y_true, y_pred, confidence, labels, sample_weight
        As in :func:`risk_coverage_curve`.

    Returns
    -------
    float
        Between 0 and 1; smaller is better. A confidence that says nothing has the error rate.

    Examples
    --------
    >>> from shafer.metrics import risk_coverage_area
    >>> risk_coverage_area([0, 1, 0, 1], [0, 1, 1, 1], [0.9, 0.8, 0.7, 0.6])
    0.14583333333333331
    """
    return _area(_accepted(y_true, y_pred, confidence, labels, sample_weight))


def excess_risk_coverage_area(
    y_true: Any, y_pred: Any, confidence: Any, *, labels: Any = None, sample_weight: Any = None
) -> float:
    r"""Return the area under the risk-coverage curve less the least possible one (E-AURC).

    The least area belongs to a confidence that puts every error behind all that is right. What is
    left judges the confidence alone, not the classifier (Geifman, Uziel and El-Yaniv,
    *Bias-reduced uncertainty estimation for deep neural classifiers*, ICLR 2019; the least area is
    computed here, not approximated).

    Parameters
    ----------
    y_true, y_pred, confidence, labels, sample_weight
        As in :func:`risk_coverage_curve`.

    Returns
    -------
    float
        At least 0; smaller is better.

    Examples
    --------
    >>> from shafer.metrics import excess_risk_coverage_area
    >>> round(excess_risk_coverage_area([0, 1, 0, 1], [0, 1, 1, 1], [0.9, 0.8, 0.7, 0.6]), 4)
    0.0833
    """
    accepted = _accepted(y_true, y_pred, confidence, labels, sample_weight)
    least = _in_order(accepted.loss, accepted.weight, -accepted.loss)
    return max(_area(accepted) - _area(least), 0.0)  # not −1e-17 where they are equal


def _accepted(
    y_true: Any, y_pred: Any, confidence: Any, labels: Any, sample_weight: Any
) -> _Accepted:
    wrong = _errors(y_true, y_pred, labels)
    score: FloatArray = to_numpy(float_array(confidence, "confidence", ndim=(1,)))
    same_length({"y_true": wrong, "confidence": score})
    weight = relative_weights(sample_weight, len(wrong))
    held = weight > 0
    return _in_order(wrong[held], weight[held], score[held])


def _errors(y_true: Any, y_pred: Any, labels: Any) -> FloatArray:
    """Return 1 where the prediction is wrong, else 0."""
    predicted = to_numpy(y_pred)
    if predicted.ndim == 2:
        return np.asarray(~set_predictions(y_true, y_pred, labels, None).hit, dtype=np.float64)
    truth, predicted = label_vector(y_true, "y_true"), label_vector(y_pred, "y_pred")
    same_length({"y_true": truth, "y_pred": predicted})
    if not len(truth):
        raise ValueError("y_true must have at least one row; got none.")
    if (truth.dtype.kind in "biuf") != (predicted.dtype.kind in "biuf") and object not in (
        truth.dtype,
        predicted.dtype,
    ):
        raise ValueError(
            "y_true and y_pred must hold the same kind of labels; "
            f"got {truth.dtype} and {predicted.dtype}."
        )
    pairs = zip(truth.tolist(), predicted.tolist(), strict=True)
    return np.array([t != p for t, p in pairs], dtype=np.float64)


def _in_order(loss: FloatArray, weight: FloatArray, confidence: FloatArray) -> _Accepted:
    order = np.argsort(-confidence, kind="stable")
    return _Accepted(loss[order], weight[order], confidence[order])


def _group_ends(confidence: FloatArray) -> NDArray[np.intp]:
    """Return the last position of each run of equal values."""
    return np.append(np.flatnonzero(np.diff(confidence)), len(confidence) - 1)


def _area(accepted: _Accepted) -> float:
    ends = _group_ends(accepted.confidence)
    group = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=-1))
    weight = np.bincount(group, accepted.weight)
    loss = np.bincount(group, accepted.loss * accepted.weight) / weight
    covered = np.cumsum(accepted.weight)
    risk = np.cumsum(loss[group] * accepted.weight) / covered
    return float(np.average(risk, weights=accepted.weight))
