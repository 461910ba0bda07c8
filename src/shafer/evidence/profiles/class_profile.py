"""The usual weights of the components for one class, and the distance of a row from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from shafer._typing import FloatArray
from shafer.evidence.profiles.covariance_shrinkage import shrinkage_intensity

# With more components than this their correlations are left out: (G, G) per class is too much.
_MOST_CORRELATED = 2048
# Spreads of a class are estimated as if it had this many rows more, spread as all classes are.
_BORROWED_ROWS = 1.0
# A constant component has moved if it differs by this much more than rounding would explain.
_MOVED = 100.0


@final
@dataclass(frozen=True, eq=False)
class ClassProfile:
    """The weights that the components give one class, over the rows assigned to it.

    Attributes
    ----------
    mean, spread : arrays of shape (G,)
        A spread of 0 marks a component that is constant over the whole background.
    noise : float
        What rounding does to a component that is constant.
    axes, precision : arrays of shapes (G, r) and (r,)
        Principal directions of the standardised weights, and the reciprocals of their variances.
    rest : float
        Reciprocal of the variance in all other directions.
    distances : array of shape (n_c,)
        Of the rows themselves, each measured by the others, ascending.
    """

    mean: FloatArray
    spread: FloatArray
    noise: float
    axes: FloatArray
    precision: FloatArray
    rest: float
    distances: FloatArray

    def distance(self, profiles: FloatArray) -> FloatArray:
        """Return squared Mahalanobis distances of profiles (m, G); infinite if a constant moved."""
        deviation = profiles - self.mean
        constant = self.spread == 0.0
        moved = (np.abs(deviation[:, constant]) > _MOVED * self.noise).any(axis=1)
        with np.errstate(over="ignore", invalid="ignore"):  # then it is infinite
            x = _standardised(deviation, self.spread)
            along = (x @ self.axes) ** 2
            others = np.maximum((x**2).sum(axis=1) - along.sum(axis=1), 0.0)
            squared = along @ self.precision + self.rest * others
        return np.where(moved | ~np.isfinite(squared), np.inf, squared)

    def typicality(self, profiles: FloatArray) -> FloatArray:
        """Rank the distances of profiles (m, G) among those of the rows, (m,) in (0, 1]."""
        distance = self.distance(profiles)
        n = len(self.distances)
        values, first = np.unique(self.distances, return_index=True)
        ranks = (1.0 + n - first) / (n + 1.0)
        largest = values[-1]
        tail = ranks[-1] * ((1.0 + largest) / (1.0 + distance))
        inside = np.interp(np.minimum(distance, largest), values, ranks)
        rank = np.where(distance > largest, tail, inside)
        smallest = np.finfo(np.float64).tiny
        result: FloatArray = np.maximum(rank, smallest)
        return result


def class_profile(weights: FloatArray, overall: FloatArray, eps: float) -> ClassProfile:
    """Describe weights (n, G) for one class; ``overall`` are the variances over all rows."""
    n, n_components = weights.shape
    mean = weights.mean(axis=0)
    deviation = weights - mean
    borrowed = _BORROWED_ROWS * overall
    spread = np.sqrt(((deviation**2).sum(axis=0) + borrowed) / (n + _BORROWED_ROWS))
    noise = 16.0 * eps * float(np.abs(weights).max())
    spread = np.where(spread > noise, spread, 0.0)
    x = _standardised(deviation, spread)
    correlated = n > 1 and n_components <= _MOST_CORRELATED
    axes, variances = _principal_axes(x) if correlated else _no_axes(n_components)
    shrinkage = shrinkage_intensity(x) if correlated else 1.0
    precision = 1.0 / ((1.0 - shrinkage) * variances + shrinkage)
    rest = 1.0 / shrinkage if axes.shape[1] < n_components else 0.0
    profile = ClassProfile(mean, spread, noise, axes, precision, rest, np.zeros(1))
    distances = _without_itself(profile.distance(weights), n, shrinkage)
    return replace(profile, distances=np.sort(distances))


def _standardised(deviation: FloatArray, spread: FloatArray) -> FloatArray:
    return np.divide(deviation, spread, out=np.zeros_like(deviation), where=spread > 0.0)


def _principal_axes(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the directions (G, r) in which centred rows vary, and their unbiased variances."""
    n, n_components = x.shape
    if n > n_components:
        variances, axes = np.linalg.eigh(x.T @ x / (n - 1))
        return axes, np.maximum(variances, 0.0)
    variances, rows = np.linalg.eigh(x @ x.T / (n - 1))
    held = variances > 1e-10 * max(1.0, float(variances[-1]))
    axes = x.T @ (rows[:, held] / np.sqrt(variances[held] * (n - 1)))
    return axes, variances[held]


def _no_axes(n_components: int) -> tuple[FloatArray, FloatArray]:
    return np.zeros((n_components, 0)), np.zeros(0)


def _without_itself(squared: FloatArray, n: int, shrinkage: float) -> FloatArray:
    r"""Turn distances of rows from their own mean into those from the mean of the others.

    Taking row a out of the scatter matrix is a rank-one change: with h its distance and
    :math:`c = (1 - \delta) n / (n - 1)^2`, the others measure :math:`(n / (n-1))^2 h / (1 - c h)`.
    Spreads and δ stay as they are.
    """
    if n < 2:
        return squared
    left = 1.0 - (1.0 - shrinkage) * n / (n - 1.0) ** 2 * squared
    # Rounding must not make the most isolated row the most usual one.
    distances: FloatArray = (n / (n - 1.0)) ** 2 * squared / np.maximum(left, 1e-12)
    return distances
