r"""Least commitment by other measures than the sum of squared weights of single features.

Prop. 2 minimises :math:`\sum_{ij} I_2(m_{ij})`. Here the exponent is another one, or the mass
functions are those of whole rows. Both are convex in the free constants for a power of at least 1,
and are minimised numerically. The derivation is in docs/background/theory.md, section 3.5.
"""

from __future__ import annotations

import numpy as np

from shafer._typing import FloatArray

MEASURED = ("components", "combined")
LARGEST_POWER = 20  # a weight of a thousand ordinary ones still has a finite power
_ROUNDING = (1e-1, 1e-2, 1e-3, 1e-4)  # of the corner of |w| at 0, relative to an ordinary weight


def least_committed(
    coef: FloatArray, intercept: FloatArray, features: FloatArray, power: float, measured: str
) -> tuple[FloatArray, FloatArray]:
    r"""Return β and α, (J, K) each, that minimise :math:`\sum_i I_p` over the rows of the features.

    .. math:: w_{ijk} = (\beta_{jk} + c_j) \phi_{ij} + \alpha_{jk}, \qquad
              \sum_j \alpha_{jk} = \beta_{0k} + c_0 .

    Parameters
    ----------
    coef, intercept : arrays of shape (J, K) and (K,)
        Centred over the classes.
    features : array of shape (n, J)
    power : float
        p, from 1 to ``LARGEST_POWER``.
    measured : {"components", "combined"}
        Whether I_p is that of each feature's mass function, or of the combined one of each row.
    """
    from scipy.optimize import minimize  # takes a while to load

    means, scale = features.mean(axis=0), features.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    z = (features - means) / scale
    slopes = coef * scale[:, None]  # of the standardised features
    at_means = intercept + means @ coef
    start = z[:, :, None] * slopes + at_means / len(slopes)
    largest = float(np.abs(start).max())
    if largest == 0.0 or not np.isfinite(largest):
        return coef, at_means / len(coef) - means[:, None] * coef
    size = largest * float(np.sqrt(np.mean((start / largest) ** 2)))
    problem = _Problem(z, slopes / size, at_means / size, power, measured)
    free = np.zeros(problem.n_free)
    for rounding in _ROUNDING:
        options = {"maxiter": 2000, "maxfun": 4000, "ftol": 1e-13, "gtol": 1e-9}
        free = minimize(
            problem.value, free, (rounding,), jac=True, method="L-BFGS-B", options=options
        ).x
    beta, alpha = (size * array for array in problem.parameters(free))
    beta = beta / scale[:, None]
    return beta, alpha - means[:, None] * beta


class _Problem:
    """The sum of I_p over the rows as a smooth function of free numbers without constraints."""

    def __init__(
        self, z: FloatArray, slopes: FloatArray, at_means: FloatArray, power: float, measured: str
    ) -> None:
        self.z, self.slopes, self.at_means = z, slopes, at_means
        self.power, self.combined = power, measured == "combined"
        self.n_free = 1 + len(slopes) + slopes.size

    def parameters(self, free: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return β and α of the standardised features."""
        n_features = len(self.slopes)
        share = free[1 + n_features :].reshape(self.slopes.shape)
        alpha = share - share.mean(axis=0) + (self.at_means + free[0]) / n_features
        return self.slopes + free[1 : 1 + n_features, None], alpha

    def value(self, free: FloatArray, rounding: float) -> tuple[float, FloatArray]:
        """Return the mean over the rows, and its gradient."""
        beta, alpha = self.parameters(free)
        weights = self.z[:, :, None] * beta + alpha
        value, slope = self._of_weights(weights, rounding)
        n = len(self.z)
        to_alpha = slope.sum(axis=0) / n  # (J, K)
        to_beta = np.einsum("ij,ijk->jk", self.z, slope) / n
        to_all = to_alpha.mean(axis=0)
        parts = ([to_all.sum()], to_beta.sum(axis=1), (to_alpha - to_all).ravel())
        return value / n, np.concatenate(parts)

    def _of_weights(self, weights: FloatArray, rounding: float) -> tuple[float, FloatArray]:
        """Return the sum of I_p, and its gradient in the weights (n, J, K)."""
        size = np.sqrt(weights**2 + rounding**2)
        p = self.power
        if not self.combined:
            return float((size**p).sum()), p * size ** (p - 2) * weights
        total, logits = size.sum(axis=1, keepdims=True), weights.sum(axis=1, keepdims=True)
        above, below = (total + logits) / 2, (total - logits) / 2  # w+ and w−, (n, 1, K)
        sign = weights / size
        slope = above ** (p - 1) * (sign + 1) + below ** (p - 1) * (sign - 1)
        return float((above**p + below**p).sum()), p / 2 * slope
