"""Means over data that need not fit in memory: one pass, batch by batch, mergeable."""

from __future__ import annotations

from typing import Any, Self, final

import array_api_compat
import numpy as np
from scipy import sparse

from shafer._typing import Array
from shafer._validation import float_array, row_weights


@final
class RunningMean:
    """The mean over the first axis of all batches seen, in double precision.

    Means of batches are merged by their weights (Chan, Golub and LeVeque 1983), so no large sum is
    ever formed. Workers may each see a part of the data and merge their results.

    See Also
    --------
    shafer.scale.background : Means over a distributed frame.

    Examples
    --------
    >>> from shafer.evidence import RunningMean
    >>> first = RunningMean().partial_fit([[1.0, 2.0], [3.0, 4.0]])
    >>> second = RunningMean().partial_fit([[8.0, 9.0]])
    >>> first.merge(second).mean
    array([4., 5.])
    """

    def __init__(self) -> None:
        self.weight = 0.0
        self._mean: Array = None
        self._dtype: Any = None

    def partial_fit(self, values: Any, sample_weight: Any = None) -> Self:
        """Take in a batch of rows, (n, ...) or a sparse matrix (n, J), weighted if asked.

        Parameters
        ----------
        values : array of shape (n, ...) or sparse matrix of shape (n, J)
            The rows of the batch.
        sample_weight : array of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        RunningMean
            The object itself.
        """
        if not sparse.issparse(values):
            values = float_array(values, "background")
        n = values.shape[0]
        weight = row_weights(sample_weight, n, allow_all_zero=True)
        total = float(n if weight is None else weight.sum())
        if total > 0.0:
            self._take_in(_batch_mean(values, weight), total, values.dtype)
        return self

    def merge(self, other: RunningMean) -> Self:
        """Add the rows of another running mean, over the same columns.

        Parameters
        ----------
        other : RunningMean
            Of other rows. It stays as it is.

        Returns
        -------
        RunningMean
            The object itself.
        """
        if other.weight > 0.0:
            self._take_in(other._mean, other.weight, other._dtype)
        return self

    def _take_in(self, mean: Array, weight: float, dtype: Any) -> None:
        if self._mean is None:
            self._mean, self._dtype = mean, dtype
        elif self._mean.shape != mean.shape:
            raise ValueError(
                f"All batches must have the same columns; got shape {tuple(mean.shape)} "
                f"after {tuple(self._mean.shape)}."
            )
        else:
            self._mean = self._mean + (mean - self._mean) * (weight / (self.weight + weight))
        self.weight += weight

    @property
    def mean(self) -> Array:
        """The mean so far, in the precision of the data."""
        if self._mean is None:
            raise ValueError("background must have at least one row with a positive weight.")
        xp = array_api_compat.array_namespace(self._mean)
        return xp.astype(self._mean, _floating(xp, self._dtype), copy=False)


def _floating(xp: Any, dtype: Any) -> Any:
    return xp.float32 if dtype == xp.float32 else xp.float64


def _batch_mean(values: Any, weight: Any) -> Array:
    """Average one batch in double precision."""
    if sparse.issparse(values):
        share = np.full(values.shape[0], 1.0 / values.shape[0])
        return np.asarray((share if weight is None else weight / weight.sum()) @ values)
    xp = array_api_compat.array_namespace(values)
    if weight is None:
        return xp.sum(values, axis=0, dtype=xp.float64) / values.shape[0]
    share = xp.asarray(weight / weight.sum(), device=values.device)
    share = xp.reshape(share, (-1, *(1,) * (values.ndim - 1)))
    return xp.sum(values * share, axis=0)
