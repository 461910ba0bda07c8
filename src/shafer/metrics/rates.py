"""Shares of rows: how often the set holds the truth, and how large the sets are.

An empty set holds no class: it is an error of size zero.
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
    r"""Return how often the set holds the true class.

    .. math:: \frac{1}{n} \sum_i 1[y_i \in A_i]

    Conformal sets promise it: at least the nominal coverage, on average (Vovk, Gammerman and
    Shafer, *Algorithmic Learning in a Random World*, 2005). Greater is better, but the whole frame
    reaches 1: read it beside :func:`mean_set_size`.

    Parameters
    ----------
    y_true : array of shape (n,)
        True classes: positions of columns 0..K−1, or labels.
    y_set : boolean array of shape (n, K)
        Decided sets; an empty one covers nothing.
    labels : sequence of K labels, optional
        The classes in the order of the columns, such as ``clf.classes_``. Without it numbers in
        ``y_true`` are positions, and other labels must be K different ones, which are sorted.
    sample_weight : array of shape (n,), optional

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from shafer.metrics import coverage_score
    >>> y_set = [[True, False, False], [True, True, False], [False, True, True]]
    >>> coverage_score([0, 1, 0], y_set)
    0.6666666666666666
    >>> coverage_score(["a", "b", "b"], y_set, labels=["a", "b", "c"])
    1.0
    """
    predictions = set_predictions(y_true, y_set, labels, sample_weight)
    return weighted_mean(predictions.hit, predictions.weight)


def set_error_rate(
    y_true: Any, y_set: Any, *, labels: Any = None, sample_weight: Any = None
) -> float:
    r"""Return how often the set does not hold the true class: one less the coverage.

    .. math:: \frac{1}{n} \sum_i 1[y_i \notin A_i]

    An empty set is an error. The paper's text counts wrong single classes only; that is
    :func:`singleton_error_rate`.

    Parameters
    ----------
    y_true, y_set, labels, sample_weight
        As in :func:`coverage_score`.

    Returns
    -------
    float
        Between 0 and 1; smaller is better.

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
    r"""Return how often one class is decided and it is the wrong one, among all rows.

    .. math:: \frac{1}{n} \sum_i 1[|A_i| = 1, \ y_i \notin A_i]

    What Denœux (2019, §5) calls the error rate of a rule: sets of several classes are not counted,
    even where they miss the true one.

    Parameters
    ----------
    y_true, y_set, labels, sample_weight
        As in :func:`coverage_score`.

    Returns
    -------
    float
        Between 0 and 1; smaller is better.

    Examples
    --------
    >>> from shafer.metrics import set_error_rate, singleton_error_rate
    >>> y_set = [[1, 0, 0], [1, 1, 0]]
    >>> singleton_error_rate([1, 2], y_set), set_error_rate([1, 2], y_set)
    (0.5, 1.0)
    """
    predictions = set_predictions(y_true, y_set, labels, sample_weight)
    return weighted_mean((predictions.size == 1) & ~predictions.hit, predictions.weight)


def mean_set_size(y_set: Any, *, sample_weight: Any = None) -> float:
    r"""Return the mean number of classes in a set.

    .. math:: \frac{1}{n} \sum_i |A_i|

    Parameters
    ----------
    y_set : boolean array of shape (n, K)
        Decided sets; an empty one has size 0.
    sample_weight : array of shape (n,), optional

    Returns
    -------
    float
        Between 0 and K; at equal coverage, smaller is better.

    Examples
    --------
    >>> from shafer.metrics import mean_set_size
    >>> mean_set_size([[True, False, False], [True, True, False]])
    1.5
    """
    chosen = set_array(y_set)
    return weighted_mean(chosen.sum(axis=1), relative_weights(sample_weight, len(chosen)))


def mean_imprecision(y_set: Any, *, sample_weight: Any = None) -> float:
    r"""Return the mean size as a number between 0, always one class, and 1, always all of them.

    .. math:: \frac{1}{n} \sum_i \frac{\max(|A_i| - 1, 0)}{K - 1}

    For two classes it is the rejection rate.

    Parameters
    ----------
    y_set : boolean array of shape (n, K)
        Decided sets; an empty one is as precise as one class.
    sample_weight : array of shape (n,), optional

    Returns
    -------
    float

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
    r"""Return how often exactly one class is decided: the determinacy.

    .. math:: \frac{1}{n} \sum_i 1[|A_i| = 1]

    Parameters
    ----------
    y_set : boolean array of shape (n, K)
        Decided sets.
    sample_weight : array of shape (n,), optional

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from shafer.metrics import singleton_rate
    >>> singleton_rate([[True, False, False], [True, True, False]])
    0.5
    """
    chosen = set_array(y_set)
    return weighted_mean(chosen.sum(axis=1) == 1, relative_weights(sample_weight, len(chosen)))


def rejection_rate(y_set: Any, *, sample_weight: Any = None) -> float:
    r"""Return how often all classes are kept, so that nothing is decided.

    .. math:: \frac{1}{n} \sum_i 1[|A_i| = K]

    Parameters
    ----------
    y_set : boolean array of shape (n, K)
        Decided sets.
    sample_weight : array of shape (n,), optional

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from shafer.metrics import rejection_rate
    >>> rejection_rate([[True, False], [True, True], [True, True], [False, True]])
    0.5
    """
    chosen = set_array(y_set)
    return weighted_mean(np.all(chosen, axis=1), relative_weights(sample_weight, len(chosen)))
