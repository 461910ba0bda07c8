r"""The pignistic probability, by exact quadrature instead of a sum over 2^K sets.

:math:`BetP_k = (s_k + u_k I_k) / D` with :math:`I_k = \int_0^1 \prod_{l \ne k} (v_l + u_l t)\,dt`.
The integrand is a polynomial of degree K − 1 with nonnegative coefficients.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from array_api_compat import array_namespace

from shafer._typing import Array, FloatArray
from shafer.kernels.closed_forms import log_belief, log_plausibility
from shafer.kernels.log_terms import LogTerms


def quadrature_size(n_classes: int) -> int:
    r"""Return how many Gauss-Legendre nodes integrate the K-class polynomial to rounding error.

    ⌊K/2⌋ + 1 nodes are exact. Fewer are enough for many classes: the coefficients are nonnegative,
    so the relative error is at most the worst over the monomials :math:`t^m, m < K`, and about
    :math:`\sqrt K` nodes make that smaller than rounding error.
    """
    return min(n_classes // 2 + 1, math.ceil(3.2 * math.sqrt(n_classes)))


@lru_cache(maxsize=16)
def gauss_legendre(n: int) -> tuple[FloatArray, FloatArray]:
    r"""Return 1 − t and the weights of the n-node rule on [0, 1], each with relative accuracy.

    The integrand is steepest at t = 1, so the distance δ = 1 − t must be accurate, rather than t.
    NumPy's nodes are refined by Newton's method in δ, where :math:`P_k(1 - 2\delta)` and its
    differences :math:`P_k - P_{k-1}` follow a recurrence without cancellation.
    """
    x, _ = np.polynomial.legendre.leggauss(n)
    delta = 0.5 * (1.0 - x[::-1][: (n + 1) // 2])
    for _ in range(3):
        value, difference = 1.0 - 2.0 * delta, -2.0 * delta
        for k in range(1, n):
            difference = (k * difference - (2 * k + 1) * 2.0 * delta * value) / (k + 1)
            value = value + difference
        slope = n * (2.0 * delta * value - difference) / (4.0 * delta * (1.0 - delta))
        delta = delta + value / (2.0 * slope)
    weight = 1.0 / (4.0 * delta * (1.0 - delta) * slope**2)
    odd = n % 2  # the middle node is its own mirror image
    mirrored = 1.0 - delta[::-1][odd:]
    return np.concatenate([delta, mirrored]), np.concatenate([weight, weight[::-1][odd:]])


def pignistic(terms: LogTerms) -> Array:
    """Return the pignistic probability of each class, between its belief and plausibility.

    Parameters
    ----------
    terms : LogTerms
        From :func:`log_terms`.

    Returns
    -------
    array of shape (..., K)
        Each row sums to 1.
    """
    xp = array_namespace(terms.logits)
    u = xp.exp(-terms.weights_against)
    integral = xp.zeros_like(u)
    for one_minus_t, weight in zip(*gauss_legendre(quadrature_size(u.shape[-1])), strict=True):
        log_factor = xp.log1p(-u * float(one_minus_t))  # ln(v + u t)
        log_product = xp.sum(log_factor, axis=-1, keepdims=True) - log_factor
        integral = integral + float(weight) * xp.exp(log_product)
    ratio = -xp.expm1(-terms.weights_for) + xp.exp(-terms.weights_for) * integral
    upper = xp.exp(log_plausibility(terms))
    return xp.maximum(xp.minimum(upper * ratio, upper), xp.exp(log_belief(terms)))
