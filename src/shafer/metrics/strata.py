"""Coverage by set size and by true class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import float_array, to_numpy
from shafer._typing import FloatArray
from shafer.metrics.set_predictions import SetPredictions, set_predictions


@final
@dataclass(frozen=True, eq=False)
class StratifiedCoverage:
    """Coverage in each stratum; strata without rows are left out.

    Attributes
    ----------
    strata : array of shape (S,)
        The largest size, or the class, of each stratum.
    coverage : array of shape (S,)
        How often sets hold the true class, within the stratum.
    share : array of shape (S,)
        Share of all rows that lie in the stratum; sums to 1.

    See Also
    --------
    coverage_by_class : Makes one for the classes.
    coverage_by_size : Makes one for the sizes of sets.
    GroupCoverage : The same for groups of rows.

    Examples
    --------
    >>> from shafer.metrics import coverage_by_class
    >>> found = coverage_by_class([0, 1, 1], [[1, 0], [1, 0], [1, 1]])
    >>> found.strata, found.coverage
    (array([0, 1]), array([1. , 0.5]))
    """

    strata: NDArray[Any]
    coverage: FloatArray
    share: FloatArray

    @property
    def worst(self) -> float:
        """The smallest coverage of any stratum."""
        return float(self.coverage.min())


def coverage_by_size(
    y_true: Any,
    y_set: Any,
    *,
    bins: Sequence[int] | None = None,
    labels: Any = None,
    sample_weight: Any = None,
) -> StratifiedCoverage:
    r"""Return the coverage among sets of each size.

    .. math:: P(Y \in A \mid b_{s-1} < |A| \le b_s)

    Sets with 90 % coverage should reach it for small and for large sets. The average coverage may
    be right while small sets are often wrong (Angelopoulos, Bates, Jordan and Malik,
    *Uncertainty sets for image classifiers using conformal prediction*, ICLR 2021).

    Parameters
    ----------
    y_true, y_set, labels, sample_weight
        As in :func:`coverage_score`.
    bins : increasing sequence of integers, optional
        Largest size of each stratum, 1, 2, ..., K by default. Larger sizes form one more stratum.
        Empty sets belong to the first stratum.

    Returns
    -------
    StratifiedCoverage

    See Also
    --------
    size_stratified_coverage_score : The smallest of them.
    coverage_by_class : The same for classes.
    coverage_score : Of all rows together.

    Examples
    --------
    >>> from shafer.metrics import coverage_by_size
    >>> y_set = [[1, 0, 0], [1, 0, 0], [0, 1, 1], [1, 1, 1]]
    >>> by_size = coverage_by_size([0, 1, 1, 2], y_set)
    >>> by_size.strata, by_size.coverage, by_size.share
    (array([1, 2, 3]), array([0.5, 1. , 1. ]), array([0.5 , 0.25, 0.25]))
    """
    predictions = set_predictions(y_true, y_set, labels, sample_weight)
    limits = _limits(bins, predictions.chosen.shape[1])
    return _by_stratum(predictions, np.searchsorted(limits, predictions.size), limits)


def size_stratified_coverage_score(
    y_true: Any,
    y_set: Any,
    *,
    bins: Sequence[int] | None = None,
    labels: Any = None,
    sample_weight: Any = None,
) -> float:
    r"""Return the smallest coverage among sets of one size.

    .. math:: \min_s P(Y \in A \mid b_{s-1} < |A| \le b_s)

    See :func:`coverage_by_size`. Rare sizes give poor estimates: choose ``bins`` so that each holds
    many rows.

    Parameters
    ----------
    y_true, y_set, bins, labels, sample_weight
        As in :func:`coverage_by_size`.

    Returns
    -------
    float
        Between 0 and 1; greater is better.

    See Also
    --------
    coverage_by_size : The coverage of each size.
    worst_class_coverage_score : The same for classes.

    Examples
    --------
    >>> from shafer.metrics import size_stratified_coverage_score
    >>> y_set = [[1, 0, 0], [1, 0, 0], [0, 1, 1], [1, 1, 1]]
    >>> size_stratified_coverage_score([0, 1, 1, 2], y_set)
    0.5
    """
    return coverage_by_size(
        y_true, y_set, bins=bins, labels=labels, sample_weight=sample_weight
    ).worst


def coverage_by_class(
    y_true: Any, y_set: Any, *, labels: Any = None, sample_weight: Any = None
) -> StratifiedCoverage:
    r"""Return the coverage among rows of each true class.

    .. math:: P(Y \in A \mid Y = \theta_k)

    Class-conditional (Mondrian) conformal sets guarantee it. Classes without rows are left out.

    Parameters
    ----------
    y_true, y_set, labels, sample_weight
        As in :func:`coverage_score`.

    Returns
    -------
    StratifiedCoverage
        Its strata are class labels.

    See Also
    --------
    worst_class_coverage_score : The smallest of them.
    coverage_by_group : The same for groups of rows.
    coverage_score : Of all rows together.

    Examples
    --------
    >>> from shafer.metrics import coverage_by_class
    >>> y_true, y_set = ["no", "yes", "yes"], [[1, 0], [1, 0], [1, 1]]
    >>> by_class = coverage_by_class(y_true, y_set, labels=["no", "yes"])
    >>> by_class.strata, by_class.coverage
    (array(['no', 'yes'], dtype='<U3'), array([1. , 0.5]))
    """
    predictions = set_predictions(y_true, y_set, labels, sample_weight)
    return _by_stratum(predictions, predictions.truth, predictions.classes)


def worst_class_coverage_score(
    y_true: Any, y_set: Any, *, labels: Any = None, sample_weight: Any = None
) -> float:
    r"""Return the smallest coverage of any true class.

    .. math:: \min_k P(Y \in A \mid Y = \theta_k)

    See :func:`coverage_by_class`.

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
    coverage_by_class : The coverage of each class.
    size_stratified_coverage_score : The same for sizes of sets.

    Examples
    --------
    >>> from shafer.metrics import worst_class_coverage_score
    >>> worst_class_coverage_score([0, 1, 1], [[1, 0], [1, 0], [1, 1]])
    0.5
    """
    return coverage_by_class(y_true, y_set, labels=labels, sample_weight=sample_weight).worst


def _by_stratum(
    predictions: SetPredictions, stratum: NDArray[np.intp], names: NDArray[Any]
) -> StratifiedCoverage:
    total = np.bincount(stratum, predictions.weight, minlength=len(names))
    covered = np.bincount(stratum, predictions.weight * predictions.hit, minlength=len(names))
    held = total > 0
    return StratifiedCoverage(names[held], covered[held] / total[held], total[held] / total.sum())


def _limits(bins: Sequence[int] | None, n_classes: int) -> NDArray[np.int64]:
    if bins is None:
        return np.arange(1, n_classes + 1)
    given = to_numpy(float_array(bins, "bins", ndim=(1,)))
    if not len(given) or np.any(given != np.floor(given)) or np.any(np.diff(given) <= 0):
        raise ValueError(f"bins must be one or more increasing whole numbers; got {bins!r}.")
    limits = given.astype(np.int64)
    return limits if limits[-1] >= n_classes else np.append(limits, n_classes)
