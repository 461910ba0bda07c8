"""Selective prediction: the error among the rows with the most confident predictions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import float_array, to_numpy
from shafer._checks.labels import column_labels, label_array, label_positions
from shafer._typing import FloatArray
from shafer.metrics.set_predictions import (
    labels_in_both,
    relative_weights,
    same_length,
    set_predictions,
)


class RiskCoverageCurve(NamedTuple):
    """Risk and coverage for decreasing thresholds on the confidence, (T,) each."""

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
    r"""Return the error among the most confident rows, for every share of rows.

    .. math::

        \mathrm{coverage}(t) = \frac{1}{n} \sum_i 1[c_i \ge t], \qquad
        \mathrm{risk}(t) = \frac{\sum_i \ell_i 1[c_i \ge t]}{\sum_i 1[c_i \ge t]}

    with the loss :math:`\ell_i` 1 for an error, else 0 (El-Yaniv and Wiener, *On the foundations of
    noise-free selective classification*, JMLR 11, 2010). Coverage here is the share of rows that
    get an answer. :func:`coverage_score` means something else: how often sets hold the true class.

    Parameters
    ----------
    y_true : array of shape (n,)
        True classes.
    y_pred : array of shape (n,), or boolean of shape (n, K)
        Predicted classes; or sets, which are wrong if they do not hold the true class.
    confidence : array of shape (n,)
        Larger where the prediction is more likely to be right, such as the largest probability, or
        minus the ignorance.
    labels : sequence of K labels, optional
        The classes. Sets need them, in the order of their columns, as in :func:`coverage_score`.
        Predicted classes do not: they are compared with ``y_true`` label by label.
    sample_weight : array of shape (n,), optional

    Returns
    -------
    coverage, risk, thresholds : arrays of shape (T,)
        One point for each different confidence. Coverage increases to 1, thresholds decrease.

    See Also
    --------
    risk_coverage_area : The area under it.
    shafer.plots.RiskCoverageDisplay : Draws it.
    error_imprecision_curve : For sets of classes.

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
    confidence share their mean loss, which is the average over all orders of them.

    Parameters
    ----------
    y_true, y_pred, confidence, labels, sample_weight
        As in :func:`risk_coverage_curve`.

    Returns
    -------
    float
        Between 0 and 1; smaller is better. A random confidence gives the error rate.

    See Also
    --------
    excess_risk_coverage_area : The same less the smallest possible area.
    risk_coverage_curve : The curve itself.

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
    r"""Return the area under the risk-coverage curve minus the smallest possible one (E-AURC).

    The smallest area is reached if every wrong row has a lower confidence than every right one. The
    difference judges the confidence alone, not the classifier (Geifman, Uziel and El-Yaniv,
    *Bias-reduced uncertainty estimation for deep neural classifiers*, ICLR 2019; here the smallest
    area is exact, not approximated).

    Parameters
    ----------
    y_true, y_pred, confidence, labels, sample_weight
        As in :func:`risk_coverage_curve`.

    Returns
    -------
    float
        At least 0; smaller is better.

    See Also
    --------
    risk_coverage_area : Without the smallest possible area taken off.
    risk_coverage_curve : The curve itself.

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
    if to_numpy(y_pred).ndim == 2:
        return np.asarray(~set_predictions(y_true, y_pred, labels, None).hit, dtype=np.float64)
    truth, predicted = label_array(y_true, "y_true"), label_array(y_pred, "y_pred")
    for name, array in (("y_true", truth), ("y_pred", predicted)):
        if array.ndim != 1:
            raise ValueError(f"{name} must have one dimension; got shape {array.shape}.")
    same_length({"y_true": truth, "y_pred": predicted})
    if not len(truth):
        raise ValueError("y_true must have at least one row; got none.")
    if labels is None:
        classes = labels_in_both(truth, predicted)
    else:
        classes = column_labels(labels, len(label_array(labels, "labels")), "labels")
    wrong = label_positions(truth, classes, name="y_true") != label_positions(
        predicted, classes, name="y_pred"
    )
    return np.asarray(wrong, dtype=np.float64)


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
