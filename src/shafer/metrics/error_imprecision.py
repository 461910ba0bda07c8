"""The trade-off between error and imprecision as prediction sets grow."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer.metrics.set_predictions import class_scores, relative_weights


class ErrorImprecisionCurve(NamedTuple):
    """Error and imprecision for decreasing thresholds, (T,) each."""

    imprecision: FloatArray
    error: FloatArray
    thresholds: FloatArray


def error_imprecision_curve(
    y_true: Any, y_score: Any, *, labels: Any = None, sample_weight: Any = None
) -> ErrorImprecisionCurve:
    r"""Return the error and the imprecision of prediction sets, for every threshold on a score.

    At threshold t a row's set holds its best class and all classes with a score of at least t:

    .. math:: A_t(x) = \{\arg\max_k s_k(x)\} \cup \{k : s_k(x) \ge t\}

    The error is :func:`set_error_rate`, the imprecision :func:`mean_imprecision`. As t falls, the
    sets grow from one class (imprecision 0, the error of the best class) to all classes
    (imprecision 1, no error). The score may be a probability, a plausibility, or any number that is
    larger for more likely classes. To compare decision rules, draw their error and imprecision as
    points beside the curve. The trade-off was described by Ha, *The optimum class-selective
    rejection rule*, IEEE TPAMI 19, 1997.

    Parameters
    ----------
    y_true : array of shape (n,)
        True classes, as in :func:`coverage_score`.
    y_score : array of shape (n, K)
        Score of each class. If several classes share the best score, the first is kept. The
        columns of a data frame are read by their names.
    labels, sample_weight
        As in :func:`coverage_score`.

    Returns
    -------
    imprecision, error, thresholds : arrays of shape (T,)
        Imprecision increases; error and thresholds decrease, the thresholds from infinity. Points
        inside a flat part of the curve are left out.

    See Also
    --------
    error_imprecision_area : The area under it.
    shafer.plots.ErrorImprecisionDisplay : Draws it.
    risk_coverage_curve : For one answer or none.

    Examples
    --------
    >>> from shafer.metrics import error_imprecision_curve
    >>> y_score = [[0.7, 0.2, 0.1], [0.5, 0.4, 0.1]]
    >>> imprecision, error, thresholds = error_imprecision_curve([0, 1], y_score, labels=[0, 1, 2])
    >>> imprecision, error, thresholds
    (array([0.  , 0.25, 1.  ]), array([0.5, 0. , 0. ]), array([inf, 0.4, 0.1]))
    """
    truth, scores = class_scores(y_true, y_score, labels, "y_score")
    weight = relative_weights(sample_weight, len(scores))
    held = weight > 0
    return _curve(truth.positions[held], scores[held], weight[held])


def error_imprecision_area(
    y_true: Any, y_score: Any, *, labels: Any = None, sample_weight: Any = None
) -> float:
    r"""Return the area under the error-imprecision curve.

    .. math:: \int_0^1 \mathrm{error}(\iota) \, d\iota

    This is the mean error over all degrees of imprecision. The trapezoidal rule corresponds to a
    random choice between neighbouring thresholds.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight
        As in :func:`error_imprecision_curve`.

    Returns
    -------
    float
        Between 0 and 1; smaller is better. A random score gives about (K − 1) / (2 K).

    See Also
    --------
    error_imprecision_curve : The curve itself.

    Examples
    --------
    >>> from shafer.metrics import error_imprecision_area
    >>> error_imprecision_area([0, 1], [[0.7, 0.2, 0.1], [0.5, 0.4, 0.1]], labels=[0, 1, 2])
    0.0625
    """
    curve = error_imprecision_curve(y_true, y_score, labels=labels, sample_weight=sample_weight)
    return float(np.trapezoid(curve.error, curve.imprecision))


def _curve(
    truth: NDArray[np.intp], scores: FloatArray, weight: FloatArray
) -> ErrorImprecisionCurve:
    """Add the classes that are not best one by one, by descending score."""
    n_classes = scores.shape[1]
    column = np.arange(n_classes)
    waiting = column != np.argmax(scores, axis=1)[:, None]  # (n, K), K − 1 true in each row
    entering = scores[waiting]
    row_weight = np.repeat(weight, n_classes - 1)
    gain = np.where((column == truth[:, None])[waiting], row_weight, 0.0)
    order = np.argsort(-entering, kind="stable")
    last = np.append(np.flatnonzero(np.diff(entering[order])), len(order) - 1)  # of equal scores
    grown = np.cumsum(row_weight[order])[last]
    gained = np.cumsum(gain[order])[last]
    imprecision = np.concatenate([[0.0], grown / grown[-1]])
    error = np.concatenate([gained[-1:], gained[-1] - gained]) / (grown[-1] / (n_classes - 1))
    thresholds = np.concatenate([[np.inf], entering[order][last]])
    kept = _corners(error)
    return ErrorImprecisionCurve(imprecision[kept], error[kept], thresholds[kept])


def _corners(error: FloatArray) -> NDArray[np.bool_]:
    """Return True at the ends of the curve and of its flat parts."""
    falls = np.diff(error) != 0
    kept = np.ones(len(error), dtype=bool)
    kept[1:-1] = falls[:-1] | falls[1:]
    return kept
