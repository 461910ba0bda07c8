"""A Gaussian over features: the missing ones given those that are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from shafer._typing import BoolArray, FloatArray
from shafer.evidence.profiles.covariance_shrinkage import shrinkage_intensity

_MOST_FEATURES = 10_000  # their covariance takes most of a gigabyte


@final
@dataclass(frozen=True, eq=False)
class ConditionalGaussian:
    r"""A Gaussian whose correlations are shrunk by Ledoit and Wolf's intensity.

    Features are standardised first, so that shrinking does not depend on their units. A feature
    that is constant over the background has no correlations, and its expectation is its mean.

    Attributes
    ----------
    mean, spread : arrays of shape (J,)
    correlation, precision : arrays of shape (J, J)
        Of the standardised features, and its inverse.
    """

    mean: FloatArray
    spread: FloatArray
    correlation: FloatArray
    precision: FloatArray

    @classmethod
    def fit(cls, features: FloatArray, share: FloatArray) -> ConditionalGaussian:
        """Estimate it from complete features (n, J), whose shares sum to 1."""
        n_features = features.shape[1]
        if n_features > _MOST_FEATURES:
            raise ValueError(
                f"missing='conditional', and questions about inputs, need the covariance of all "
                f"pairs of features, at most {_MOST_FEATURES:,} features; got {n_features:,}. Use "
                "missing='vacuous', and a model with fewer features for questions."
            )
        mean = share @ features
        centred = features - mean
        spread = np.sqrt(share @ centred**2)
        # Rounding makes a constant differ from its mean in the last digits.
        spread = np.where(spread > 1e-12 * np.abs(features).max(axis=0), spread, 0.0)
        x = standardised(centred, spread)
        correlation = (x * share[:, None]).T @ x
        if spread.any():
            correlation *= 1.0 - shrinkage_intensity(x[:, spread > 0.0], share)
        np.fill_diagonal(correlation, 1.0)
        identity = np.eye(n_features)
        precision = cho_solve(cho_factor(correlation, lower=True), identity)
        return cls(mean, spread, correlation, precision)

    def completed(self, features: FloatArray, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Replace NaN by its expectation, and return the remaining variance of linear functions.

        Parameters
        ----------
        features : array of shape (n, J)
        coef : array of shape (J, K)

        Returns
        -------
        filled : array of shape (n, J)
            The features, with expectations given the known ones in place of NaN.
        variances : array of shape (n, K)
            The variances of ``features @ coef``, given the known features.
        """
        gaps = np.isnan(features)
        filled = features.copy()
        variances = np.zeros((features.shape[0], coef.shape[1]))
        for rows, missing in patterns(gaps):
            out, there = np.flatnonzero(missing), np.flatnonzero(~missing)
            gain, left = self.given(there, out)
            x = standardised(features[np.ix_(rows, there)] - self.mean[there], self.spread[there])
            filled[np.ix_(rows, out)] = self.mean[out] + (x @ gain.T) * self.spread[out]
            slope = coef[out] * self.spread[out][:, None]
            variances[rows] = np.maximum(((left @ slope) * slope).sum(axis=0), 0.0)
        return filled, variances

    def given(
        self, there: NDArray[np.intp], out: NDArray[np.intp]
    ) -> tuple[FloatArray, FloatArray]:
        """Return the regression of missing features on known ones, and the remaining covariance.

        Features are standardised. The correlations and their inverse give the same result; the
        smaller system is solved.
        """
        if len(out) <= len(there):
            factor = cho_factor(self.precision[np.ix_(out, out)], lower=True)
            gain = -cho_solve(factor, self.precision[np.ix_(out, there)])
            return gain, cho_solve(factor, np.eye(len(out)))
        if len(there) == 0:
            return np.zeros((len(out), 0)), self.correlation[np.ix_(out, out)]
        across = self.correlation[np.ix_(there, out)]
        factor = cho_factor(self.correlation[np.ix_(there, there)], lower=True)
        gain = cho_solve(factor, across).T
        return gain, self.correlation[np.ix_(out, out)] - gain @ across


def patterns(
    gaps: BoolArray, *, complete: bool = False
) -> Iterator[tuple[NDArray[np.intp], BoolArray]]:
    """Yield the incomplete rows, or all rows, those with the same missing features together."""
    incomplete = np.arange(len(gaps)) if complete else np.flatnonzero(gaps.any(axis=1))
    if not len(incomplete):
        return
    which = _numbered_patterns(gaps[incomplete])
    order = np.argsort(which, kind="stable")
    starts = np.flatnonzero(np.diff(which[order])) + 1
    for rows in np.split(incomplete[order], starts):
        yield rows, gaps[rows[0]]


def _numbered_patterns(gaps: BoolArray) -> NDArray[Any]:
    """Return a number (n,) for each row, the same for the same gaps."""
    packed = np.packbits(gaps, axis=1)
    if packed.shape[1] > 8:
        return np.unique(packed, axis=0, return_inverse=True)[1].reshape(-1)
    one_number = np.zeros((len(packed), 8), dtype=np.uint8)
    one_number[:, : packed.shape[1]] = packed
    return one_number.view(np.uint64)[:, 0]


def standardised(centred: FloatArray, spread: FloatArray) -> FloatArray:
    """Divide by the spread; constants, which have none, give zeros."""
    return np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0.0)
