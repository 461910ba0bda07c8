"""Error rates, coverage and sizes of prediction sets.

An empty set does not hold the true class: it counts as an error, of size zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shafer.metrics.set_predictions import (
    relative_weights,
    set_array,
    set_predictions,
    weighted_mean,
)


def coverage_score(
    y_true: Any, y_set: Any, *, labels: Any = None, sample_weight: Any = None
) -> float:
    r"""Return the coverage: how often the prediction set holds the true class.

    .. math:: \frac{1}{n} \sum_i 1[y_i \in A_i]

    Conformal sets guarantee a coverage of at least the nominal level, on average (Vovk, Gammerman
    and Shafer, *Algorithmic Learning in a Random World*, 2005). Greater is better. Sets of all
    classes reach 1, so read it beside :func:`mean_set_size`.

    Parameters
    ----------
    y_true : array of shape (n,)
        True classes, as labels. They are matched to the rows of ``y_set`` in order; the index of a
        pandas Series plays no part.
    y_set : boolean array of shape (n, K)
        Prediction sets, one column for each class. The columns of a data frame are read by their
        names.
    labels : sequence of K labels, optional
        The classes in the order of the columns, such as ``clf.classes_`` or ``ev.classes``.
        Required, except in two cases: ``y_set`` is a data frame whose columns are named by the
        classes; or ``y_true`` holds the numbers 0 to K−1, every one of them.
    sample_weight : array of shape (n,), optional
        Weight of each row.

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    set_error_rate : One minus the coverage.
    mean_set_size : Read it beside the coverage.
    coverage_by_class : The coverage of each class.

    Examples
    --------
    >>> from shafer.metrics import coverage_score
    >>> y_set = [[True, False, False], [True, True, False], [False, True, True]]
    >>> coverage_score(["a", "b", "b"], y_set, labels=["a", "b", "c"])
    1.0
    >>> coverage_score([0, 1, 2], y_set[::-1])
    0.3333333333333333
    """
    predictions = set_predictions(y_true, y_set, labels, sample_weight)
    return weighted_mean(predictions.hit, predictions.weight)


def set_error_rate(
    y_true: Any, y_set: Any, *, labels: Any = None, sample_weight: Any = None
) -> float:
    r"""Return how often the prediction set does not hold the true class: 1 − coverage.

    .. math:: \frac{1}{n} \sum_i 1[y_i \notin A_i]

    An empty set is an error. Denœux (2019) counts wrong sets of one class only; see
    :func:`singleton_error_rate`.

    Parameters
    ----------
    y_true, y_set, labels, sample_weight
        As in :func:`coverage_score`.

    Returns
    -------
    float
        Between 0 and 1; smaller is better.

    See Also
    --------
    coverage_score : One minus this.
    singleton_error_rate : Counts wrong sets of one class only.

    Examples
    --------
    >>> from shafer.metrics import set_error_rate
    >>> set_error_rate([0, 1, 0, 1], [[1, 0], [1, 1], [0, 1], [0, 1]])
    0.25
    """
    predictions = set_predictions(y_true, y_set, labels, sample_weight)
    return weighted_mean(~predictions.hit, predictions.weight)


def singleton_error_rate(
    y_true: Any, y_set: Any, *, labels: Any = None, sample_weight: Any = None
) -> float:
    r"""Return the share of all rows whose set is one class, and the wrong one.

    .. math:: \frac{1}{n} \sum_i 1[|A_i| = 1, \ y_i \notin A_i]

    Denœux (2019, §5) calls this the error rate of a decision rule. Sets of several classes are not
    counted, even if they do not hold the true class.

    Parameters
    ----------
    y_true, y_set, labels, sample_weight
        As in :func:`coverage_score`.

    Returns
    -------
    float
        Between 0 and 1; smaller is better.

    See Also
    --------
    set_error_rate : Counts wrong sets of all sizes.
    singleton_rate : How often the set is one class.

    Examples
    --------
    >>> from shafer.metrics import set_error_rate, singleton_error_rate
    >>> y_set = [[1, 0, 0], [1, 1, 0]]
    >>> y_true, labels = ["b", "c"], ["a", "b", "c"]
    >>> singleton_error_rate(y_true, y_set, labels=labels)
    0.5
    >>> set_error_rate(y_true, y_set, labels=labels)
    1.0
    """
    predictions = set_predictions(y_true, y_set, labels, sample_weight)
    return weighted_mean((predictions.size == 1) & ~predictions.hit, predictions.weight)


def mean_set_size(y_set: Any, *, sample_weight: Any = None) -> float:
    r"""Return the mean number of classes in a set.

    .. math:: \frac{1}{n} \sum_i |A_i|

    Parameters
    ----------
    y_set : boolean array of shape (n, K)
        Prediction sets. An empty set has size 0.
    sample_weight : array of shape (n,), optional

    Returns
    -------
    float
        Between 0 and K. At equal coverage, smaller is better.

    See Also
    --------
    mean_imprecision : The same, scaled from 0 to 1.
    coverage_score : Read it beside the size.

    Examples
    --------
    >>> from shafer.metrics import mean_set_size
    >>> mean_set_size([[True, False, False], [True, True, False]])
    1.5
    """
    chosen = set_array(y_set)
    return weighted_mean(chosen.sum(axis=1), relative_weights(sample_weight, len(chosen)))


def mean_imprecision(y_set: Any, *, sample_weight: Any = None) -> float:
    r"""Return the mean set size, scaled: 0 for sets of one class, 1 for sets of all classes.

    .. math:: \frac{1}{n} \sum_i \frac{\max(|A_i| - 1, 0)}{K - 1}

    For two classes this is the rejection rate.

    Parameters
    ----------
    y_set : boolean array of shape (n, K)
        Prediction sets. An empty set counts as precise, like one class.
    sample_weight : array of shape (n,), optional

    Returns
    -------
    float

    See Also
    --------
    mean_set_size : The same in classes.
    rejection_rate : Counts sets of all classes only.

    Examples
    --------
    >>> from shafer.metrics import mean_imprecision
    >>> mean_imprecision([[True, False, False], [True, True, False]])
    0.25
    """
    chosen = set_array(y_set)
    more_than_one = np.maximum(chosen.sum(axis=1) - 1, 0) / (chosen.shape[1] - 1)
    return weighted_mean(more_than_one, relative_weights(sample_weight, len(chosen)))


def singleton_rate(y_set: Any, *, sample_weight: Any = None) -> float:
    r"""Return how often the set is exactly one class (the determinacy).

    .. math:: \frac{1}{n} \sum_i 1[|A_i| = 1]

    Parameters
    ----------
    y_set : boolean array of shape (n, K)
        Prediction sets.
    sample_weight : array of shape (n,), optional

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    singleton_error_rate : How often that class is wrong.
    rejection_rate : How often the set holds all classes.

    Examples
    --------
    >>> from shafer.metrics import singleton_rate
    >>> singleton_rate([[True, False, False], [True, True, False]])
    0.5
    """
    chosen = set_array(y_set)
    return weighted_mean(chosen.sum(axis=1) == 1, relative_weights(sample_weight, len(chosen)))


def rejection_rate(y_set: Any, *, sample_weight: Any = None) -> float:
    r"""Return how often the set holds all classes, so that no decision is made.

    .. math:: \frac{1}{n} \sum_i 1[|A_i| = K]

    Parameters
    ----------
    y_set : boolean array of shape (n, K)
        Prediction sets.
    sample_weight : array of shape (n,), optional

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    singleton_rate : How often the set is one class.
    mean_imprecision : Counts sets of all sizes.

    Examples
    --------
    >>> from shafer.metrics import rejection_rate
    >>> rejection_rate([[True, False], [True, True], [True, True], [False, True]])
    0.5
    """
    chosen = set_array(y_set)
    return weighted_mean(np.all(chosen, axis=1), relative_weights(sample_weight, len(chosen)))
