"""What caution buys: the error of ever larger sets."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer._validation import float_array, to_numpy
from shafer.metrics.set_predictions import relative_weights, same_length, true_classes


class ErrorImprecisionCurve(NamedTuple):
    """Error and imprecision, (T,) each, as the threshold falls."""

    imprecision: FloatArray
    error: FloatArray
    thresholds: FloatArray


def error_imprecision_curve(
    y_true: Any, y_score: Any, *, labels: Any = None, sample_weight: Any = None
) -> ErrorImprecisionCurve:
    r"""Return the error and the imprecision of the sets that every threshold on a score gives.

    At threshold t a row's set holds its best class and all classes of score t or more:

    .. math:: A_t(x) = \{\arg\max_k s_k(x)\} \cup \{k : s_k(x) \ge t\}

    Its error is :func:`set_error_rate`, its imprecision :func:`mean_imprecision`. As t falls the
    sets grow, from one class (imprecision 0, the error of the best class) to all (imprecision 1,
    no error). The score may be a probability, a plausibility, or anything of which more speaks for
    the class; to compare rules of sets, mark their own error and imprecision beside the curve.
    The trade-off is that of Ha, *The optimum class-selective rejection rule*, IEEE TPAMI 19, 1997.

    Parameters
    ----------
    y_true : array of shape (n,)
        True classes, as in :func:`coverage_score`.
    y_score : array of shape (n, K)
        Score of each class; of equal best ones the first is kept.
    labels, sample_weight
        As in :func:`coverage_score`.

    Returns
    -------
    imprecision, error, thresholds : arrays of shape (T,)
        Imprecision ascends, error and thresholds descend from infinity. Points inside a level part
        of the curve are left out.

    Examples
    --------
    >>> from shafer.metrics import error_imprecision_curve
    >>> y_score = [[0.7, 0.2, 0.1], [0.5, 0.4, 0.1]]
    >>> imprecision, error, thresholds = error_imprecision_curve([0, 1], y_score)
    >>> imprecision, error, thresholds
    (array([0.  , 0.25, 1.  ]), array([0.5, 0. , 0. ]), array([inf, 0.4, 0.1]))
    """
    scores: FloatArray = to_numpy(float_array(y_score, "y_score", ndim=(2,)))
    if scores.shape[0] == 0 or scores.shape[1] < 2:
        raise ValueError(
            f"y_score must have at least one row and two classes; got shape {scores.shape}."
        )
    truth = true_classes(y_true, scores.shape[1], labels).positions
    same_length({"y_true": truth, "y_score": scores})
    weight = relative_weights(sample_weight, len(scores))
    held = weight > 0
    return _curve(truth[held], scores[held], weight[held])


def error_imprecision_area(
    y_true: Any, y_score: Any, *, labels: Any = None, sample_weight: Any = None
) -> float:
    r"""Return the area under the error-imprecision curve.

    .. math:: \int_0^1 \mathrm{error}(\iota) \, d\iota

    The mean error over all degrees of imprecision, by the trapezoidal rule: between two thresholds
    either may be chosen at random.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight
        As in :func:`error_imprecision_curve`.

    Returns
    -------
    float
        Between 0 and 1; smaller is better. A score that says nothing has about (K − 1) / (2 K).

    Examples
    --------
    >>> from shafer.metrics import error_imprecision_area
    >>> error_imprecision_area([0, 1], [[0.7, 0.2, 0.1], [0.5, 0.4, 0.1]])
    0.0625
    """
    curve = error_imprecision_curve(y_true, y_score, labels=labels, sample_weight=sample_weight)
    return float(np.trapezoid(curve.error, curve.imprecision))


def _curve(
    truth: NDArray[np.intp], scores: FloatArray, weight: FloatArray
) -> ErrorImprecisionCurve:
    """Let the classes that are not best enter one by one, by descending score."""
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
    """Keep the ends of the curve and of its level parts."""
    falls = np.diff(error) != 0
    kept = np.ones(len(error), dtype=bool)
    kept[1:-1] = falls[:-1] | falls[1:]
    return kept
