"""Utility of prediction sets: 1 for the true class alone, less for larger sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from shafer._checks.arrays import float_array, to_numpy
from shafer._typing import FloatArray
from shafer.decision.set_utility import DISCOUNTED_UTILITIES, discounted_utility
from shafer.metrics.set_predictions import set_predictions, weighted_mean


def discounted_utility_score(
    y_true: Any,
    y_set: Any,
    utility: str | Sequence[float] | Callable[[int], float] = "u65",
    *,
    labels: Any = None,
    sample_weight: Any = None,
) -> float:
    r"""Return the mean utility of the sets: larger sets have less utility.

    .. math:: \frac{1}{n} \sum_i u(|A_i|) \, 1[y_i \in A_i]

    Sets without the true class, and empty sets, have utility 0.

    ========  ==========================================  ===================================
    utility   utility of a set of b classes               utility of a set of two classes
    ========  ==========================================  ===================================
    "u50"     :math:`1/b`, the discounted accuracy        .50, as much as a random choice
    "u65"     :math:`1.6/b - 0.6/b^2`                     .65
    "u80"     :math:`2.2/b - 1.2/b^2`                     .80, for users averse to errors
    ========  ==========================================  ===================================

    Source: Zaffalon, Corani and Mauá, *Evaluating credal classifiers by utility-discounted
    predictive accuracy*, International Journal of Approximate Reasoning 53, 2012.

    Parameters
    ----------
    y_true, y_set, labels, sample_weight
        As in :func:`coverage_score`.
    utility : {"u50", "u65", "u80"}, sequence of numbers, or function
        Utility of a set that holds the true class: a name from the table; or numbers, the first
        for one class, the second for two, and so on, at least K of them; or a function of the
        number of classes.

    Returns
    -------
    float
        Greater is better. For the named utilities at most 1, if each set is the true class alone.

    See Also
    --------
    u65_score : With the utility u65.
    u80_score : With the utility u80.
    shafer.decision.set_utility : Utilities from a tolerance to imprecision.

    Examples
    --------
    >>> from shafer.metrics import discounted_utility_score
    >>> y_set = [[1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 0, 1]]
    >>> round(discounted_utility_score([0, 1, 2, 0], y_set, "u50"), 4)
    0.4583
    >>> round(discounted_utility_score([0, 1, 2, 0], y_set, [1.0, 0.8, 0.681867]), 4)
    0.6205
    >>> discounted_utility_score([0, 1, 2, 0], y_set, lambda size: float(size == 1))
    0.25
    """
    predictions = set_predictions(y_true, y_set, labels, sample_weight)
    gained = _utility_by_size(utility, predictions.chosen.shape[1])[predictions.size]
    return weighted_mean(np.where(predictions.hit, gained, 0.0), predictions.weight)


def u65_score(y_true: Any, y_set: Any, *, labels: Any = None, sample_weight: Any = None) -> float:
    r"""Return the mean utility u65 of the sets: two classes with the true one have utility .65.

    .. math:: u(b) = \frac{1.6}{b} - \frac{0.6}{b^2}

    for a set of b classes that holds the true one, else 0 (Zaffalon, Corani and Mauá 2012). See
    :func:`discounted_utility_score`.

    Parameters
    ----------
    y_true, y_set, labels, sample_weight
        As in :func:`coverage_score`.

    Returns
    -------
    float
        Between 0 and 1; greater is better.

    See Also
    --------
    u80_score : More tolerant of imprecision.
    discounted_utility_score : With any utility.

    Examples
    --------
    >>> from shafer.metrics import u65_score
    >>> round(u65_score(["a", "a"], [[True, True], [False, True]], labels=["a", "b"]), 3)
    0.325
    """
    return discounted_utility_score(
        y_true, y_set, "u65", labels=labels, sample_weight=sample_weight
    )


def u80_score(y_true: Any, y_set: Any, *, labels: Any = None, sample_weight: Any = None) -> float:
    r"""Return the mean utility u80 of the sets: two classes with the true one have utility .80.

    .. math:: u(b) = \frac{2.2}{b} - \frac{1.2}{b^2}

    for a set of b classes that holds the true one, else 0 (Zaffalon, Corani and Mauá 2012). See
    :func:`discounted_utility_score`.

    Parameters
    ----------
    y_true, y_set, labels, sample_weight
        As in :func:`coverage_score`.

    Returns
    -------
    float
        Between 0 and 1; greater is better.

    See Also
    --------
    u65_score : Less tolerant of imprecision.
    discounted_utility_score : With any utility.

    Examples
    --------
    >>> from shafer.metrics import u80_score
    >>> round(u80_score(["a", "a"], [[True, True], [True, False]], labels=["a", "b"]), 3)
    0.9
    """
    return discounted_utility_score(
        y_true, y_set, "u80", labels=labels, sample_weight=sample_weight
    )


def _utility_by_size(utility: Any, n_classes: int) -> FloatArray:
    """Return the utility of sets of 0, 1, ..., K classes, (K + 1,)."""
    if isinstance(utility, str):
        if utility not in DISCOUNTED_UTILITIES:
            raise ValueError(
                f"utility must be one of {', '.join(map(repr, DISCOUNTED_UTILITIES))}, a list with "
                f"the utility of a set of 1, 2, ..., K classes, or a function of the set size; got "
                f"{utility!r}."
            )
        values = discounted_utility(utility, np.arange(1.0, n_classes + 1.0))
    elif callable(utility):
        values = float_array([utility(b) for b in range(1, n_classes + 1)], "utility", ndim=(1,))
    else:
        values = to_numpy(float_array(utility, "utility"))
        if values.ndim != 1 or len(values) < n_classes:
            raise ValueError(
                f"utility must hold at least {n_classes} numbers, for sets of 1 to {n_classes} "
                f"classes; got shape {values.shape}."
            )
    return np.concatenate([[0.0], values[:n_classes]])
