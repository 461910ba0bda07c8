r"""Closed forms of probability, plausibility, belief and ignorance (Denœux 2019, Prop. 1).

The symbols are those of ``log_terms``. ``closed_forms`` gives all that every row needs in one call;
it is the reference for the compiled kernels. Derivations: docs/background/theory.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from array_api_compat import array_namespace

from shafer._kernels.logspace import (
    is_top,
    leave_one_out_logsumexp,
    leave_one_out_sum,
    log1mexp,
    log1mexpexp,
    log_neg_log1mexp,
    logsumexp,
    neg_log1mexp,
)
from shafer._kernels.pooling import Pooled, Shares, one_minus_exp_ratio
from shafer._typing import Array, FloatArray


def probability(terms: LogTerms) -> Array:
    r"""Return the normalised plausibilities: the softmax of the logits.

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
    odds = xp.exp(terms.logits)
    return odds / xp.sum(odds, axis=-1, keepdims=True)


def log_plausibility(terms: LogTerms) -> Array:
    r"""Return :math:`\ln pl_k`, where :math:`pl_k = u_k e^{w^+_k} / D`.

    Parameters
    ----------
    terms : LogTerms
        From :func:`log_terms`.

    Returns
    -------
    array of shape (..., K)
        At most 0.
    """
    xp = array_namespace(terms.logits)
    return xp.clip(terms.logits - terms.log_d, max=0.0)


def log_belief(terms: LogTerms) -> Array:
    r"""Return :math:`\ln bel_k`, where :math:`bel_k = (s_k + u_k \prod_{l \ne k} v_l) / D`.

    Computed as :math:`pl_k \rho_k` with :math:`\rho_k = 1 - e^{-w^+_k} + e^{-w^+_k}
    \prod_{l \ne k} v_l`, which lies in [0, 1]: belief never exceeds plausibility.

    Parameters
    ----------
    terms : LogTerms
        From :func:`log_terms`.

    Returns
    -------
    array of shape (..., K)
        At most 0.
    """
    xp = array_namespace(terms.logits)
    log_ratio = xp.logaddexp(
        log1mexp(terms.weights_for), -terms.weights_for - leave_one_out_sum(terms.neg_log_v)
    )
    return log_plausibility(terms) + xp.clip(log_ratio, max=0.0)


def log_ignorance(terms: LogTerms) -> Array:
    r"""Return :math:`\ln m(\Theta)`, where :math:`m(\Theta) = \prod_k u_k / D`; shape (...).

    Parameters
    ----------
    terms : LogTerms
        From :func:`log_terms`.

    Returns
    -------
    array of shape (...)
        At most 0.
    """
    xp = array_namespace(terms.logits)
    log_all_u = -xp.sum(terms.weights_against, axis=-1, keepdims=True)
    return xp.clip(log_all_u - terms.shift - terms.log_d, max=0.0)[..., 0]


class Forms(NamedTuple):
    """What users read from the pooled mass function; the first three (..., K), the rest (...).

    Attributes
    ----------
    probability : array of shape (..., K)
        The softmax of the logits.
    plausibility : array of shape (..., K)
        The plausibility of each class.
    belief : array of shape (..., K)
        The belief of each class.
    ignorance : array of shape (...)
        The mass of the whole frame.
    conflict : array of shape (...)
        The mass of the empty set before normalising.
    """

    probability: Array
    plausibility: Array
    belief: Array
    ignorance: Array
    conflict: Array


def closed_forms(pooled: Pooled) -> Forms:
    """Return probability, plausibility, belief, ignorance and conflict of every row."""
    xp = array_namespace(pooled.logits)
    terms = log_terms(pooled)
    return Forms(
        probability(terms),
        xp.exp(log_plausibility(terms)),
        xp.exp(log_belief(terms)),
        xp.exp(log_ignorance(terms)),
        conflict(terms),
    )


# The logarithms that all closed forms of the pooled mass function share (Denœux 2019, Prop. 1).


class LogTerms(NamedTuple):
    """The pooled weights and the logarithms of all closed forms; (..., K) unless noted.

    Attributes
    ----------
    weights_for, weights_against : arrays of shape (..., K)
        The pooled weights w⁺ and w⁻.
    shift : array of shape (..., 1)
        The largest logit.
    logits : array of shape (..., K)
        The logits less the shift.
    log_s : array of shape (..., K)
        ln s less the shift.
    neg_log_v, log_neg_log_v : arrays of shape (..., K)
        −ln v, and its logarithm.
    log_1mp, log_d : arrays of shape (..., 1)
        ln(1 − P) and ln D, both less the shift.
    """

    weights_for: Array  # w⁺
    weights_against: Array  # w⁻
    shift: Array  # (..., 1): the largest logit
    logits: Array  # z − shift
    log_s: Array  # ln s − shift
    neg_log_v: Array  # −ln v; logspace.NEVER where w⁻ = 0 and v = 0
    log_neg_log_v: Array  # ln(−ln v)
    log_1mp: Array  # (..., 1): ln(1 − P) − shift
    log_d: Array  # (..., 1): ln D − shift


def log_one_minus_product(
    shift: Array, log_neg_log_v: Array, total_of: Callable[[Array], Array] | None = None
) -> Array:
    r"""Return :math:`\ln(1 - \prod_k v_k)` minus the shift, from :math:`\ln(-\ln v_k)`.

    ``total_of`` sums over the classes, in logarithms; the default sums over all. If all evidence
    is against, both shift and result are large and negative. Then the shift is subtracted from
    the terms before the sum, so that no digits cancel.
    """
    xp = array_namespace(shift)
    total_of = total_of or partial(logsumexp, keepdims=True)
    early = xp.clip(shift, max=0.0)
    total = total_of(log_neg_log_v - early)
    return log1mexpexp(total, early) - (shift - early)


def log_terms(pooled: Pooled) -> LogTerms:
    """Return the logarithms that the closed forms share.

    Parameters
    ----------
    pooled : Pooled
        The pooled weights.

    Returns
    -------
    LogTerms
    """
    logits, weights_for, weights_against = pooled
    xp = array_namespace(logits)
    shift = xp.max(logits, axis=-1, keepdims=True)
    logits = logits - shift
    log_s = logits + log1mexp(weights_for)
    log_neg_log_v = log_neg_log1mexp(weights_against)
    log_1mp = log_one_minus_product(shift, log_neg_log_v)
    return LogTerms(
        weights_for,
        weights_against,
        shift,
        logits,
        log_s,
        neg_log1mexp(weights_against),
        log_neg_log_v,
        log_1mp,
        xp.logaddexp(logsumexp(log_s, keepdims=True), log_1mp),
    )


# Total conflict, its weight, and the conflict between all evidence for and all against.


def _two_or_more_fire(weights_for: Array) -> Array:
    r"""Return the chance that two or more of K independent events of weight w⁺ happen.

    Sort the events by weight, largest first, and sum over the rank r of the second event that
    happens: event r happens, and exactly one before it. The chance of exactly one among the first
    r − 1 is :math:`e^{-W} \sum (e^{w} - 1)`. It is taken relative to the largest weight, so that
    nothing overflows.
    """
    xp = array_namespace(weights_for)
    w = xp.sort(weights_for, axis=-1, descending=True)
    fires = -xp.expm1(-w)
    one_before = xp.cumulative_sum(fires * xp.exp(w - w[..., :1]), axis=-1)[..., :-1]
    silent = xp.cumulative_sum(w[..., 1:], axis=-1) - w[..., 1:]
    return xp.sum(fires[..., 1:] * one_before * xp.exp(-silent), axis=-1)


def conflict(terms: LogTerms) -> Array:
    r"""Return the total conflict :math:`\kappa = m(\emptyset)` before normalising; shape (...).

    Parameters
    ----------
    terms : LogTerms
        From :func:`log_terms`.

    Returns
    -------
    array of shape (...)
        From 0 to 1.
    """
    xp = array_namespace(terms.logits)
    w_for, w_against = terms.weights_for, terms.weights_against
    only_k = -xp.expm1(-w_for) * xp.exp(-leave_one_out_sum(w_for))
    contradicted = xp.sum(only_k * -xp.expm1(-w_against), axis=-1)
    all_denied = xp.exp(-xp.sum(w_for, axis=-1) - xp.sum(terms.neg_log_v, axis=-1))
    return xp.clip(_two_or_more_fire(w_for) + contradicted + all_denied, max=1.0)


def weight_of_conflict(terms: LogTerms) -> Array:
    r"""Return Shafer's weight of conflict :math:`-\ln(1 - \kappa) = \sum_k w^+_k - \ln D`.

    Parameters
    ----------
    terms : LogTerms
        From :func:`log_terms`.

    Returns
    -------
    array of shape (...)
        At least 0.
    """
    xp = array_namespace(terms.logits)
    kappa = conflict(terms)
    total = xp.sum(terms.weights_for, axis=-1) - (terms.shift + terms.log_d)[..., 0]
    small = kappa < 0.5
    return xp.where(small, -xp.log1p(-xp.where(small, kappa, 0.0)), xp.clip(total, min=0.0))


def own_weights_of_conflict(weights: Array) -> Array:
    r"""Return the weight of conflict of each component by itself, (..., G), from (..., G, K).

    A component that supports two classes contradicts itself. Two classes with opposite weights, as
    models have them, are the same piece of evidence: no conflict.

    Parameters
    ----------
    weights : array of shape (..., G, K)
        Weights of evidence.

    Returns
    -------
    array of shape (..., G)
    """
    xp = array_namespace(weights)
    if weights.shape[-1] == 2:
        first, second = -xp.expm1(-xp.abs(weights[..., 0])), -xp.expm1(-xp.abs(weights[..., 1]))
        contradicts = weights[..., 0] * weights[..., 1] > 0.0
        product = xp.where(contradicts, first * second, 0.0)
        larger = xp.max(xp.abs(weights), axis=-1)
        smaller = xp.min(xp.abs(weights), axis=-1)
        # 1 − (1 − e^−a)(1 − e^−b) = e^−b (1 + e^{b−a} − e^−a) with a ≥ b
        far = smaller - xp.log1p(xp.exp(smaller - larger) - xp.exp(-larger))
        near = -xp.log1p(-xp.where(product < 0.5, product, 0.0))
        return xp.where(product < 0.5, near, far)
    positive = xp.clip(weights, min=0.0)
    return weight_of_conflict(log_terms(Pooled(weights, positive, positive - weights)))


def conflict_for_against(terms: LogTerms) -> Array:
    r"""Return the conflict between all evidence for and all evidence against (Denœux 2019, App. A).

    .. math:: \kappa = \sum_k m^+(\{k\}) \, v_k \frac{1 - \prod_{l \ne k} v_l}{1 - P}, \qquad
              m^+(\{k\}) = \frac{e^{w^+_k} - 1}{1 + \sum_l (e^{w^+_l} - 1)}.

    With two classes, evidence against one is evidence for the other, so this equals the total
    conflict.

    Parameters
    ----------
    terms : LogTerms
        From :func:`log_terms`.

    Returns
    -------
    array of shape (...)
        From 0 to 1.
    """
    if terms.logits.shape[-1] == 2:
        return conflict(terms)
    xp = array_namespace(terms.logits)
    log_odds_for = terms.weights_for + log1mexp(terms.weights_for)  # ln(e^w − 1)
    log_sum = logsumexp(log_odds_for, keepdims=True)
    log_for = log_odds_for - xp.logaddexp(log_sum, xp.zeros_like(log_sum))
    log_others_open = log_one_minus_product(
        terms.shift, terms.log_neg_log_v, leave_one_out_logsumexp
    )
    log_denied = log_others_open - terms.neg_log_v - terms.log_1mp
    return xp.clip(xp.sum(xp.exp(log_for + log_denied), axis=-1), max=1.0)


# What lies above and below the plausibilities: doubt in each class, and their sum less one.


def doubt(parts: Shares) -> Array:
    r"""Return :math:`1 - pl_k`, the belief in all other classes, as a sum of nonnegative terms.

    .. math:: 1 - pl_k = \Bigl(\sum_{l \ne k} s_l
              + v_k \bigl(1 - \prod_{l \ne k} v_l\bigr)\Bigr) / D

    Parameters
    ----------
    parts : Shares
        From :func:`shares`.

    Returns
    -------
    array of shape (..., K)
        From 0 to 1. A small doubt keeps its digits, which 1 − pl would lose.
    """
    xp = array_namespace(parts.s)
    others = leave_one_out_sum(parts.t_share) * one_minus_exp_ratio(leave_one_out_sum(parts.t))
    return xp.clip(leave_one_out_sum(parts.s) + parts.v * others, max=1.0)


def surplus(parts: Shares) -> Array:
    r"""Return :math:`\sum_k pl_k - 1 = \sum_A m(A) (|A| - 1)`, as a sum of nonnegative terms.

    .. math:: \sum_k pl_k - 1 = \sum_k u_k \Bigl(1 - \prod_{l < k} v_l\Bigr) / D

    Parameters
    ----------
    parts : Shares
        From :func:`shares`.

    Returns
    -------
    array of shape (...)
        From 0 to K − 1.
    """
    xp = array_namespace(parts.s)
    before = xp.cumulative_sum(parts.t[..., :-1], axis=-1)
    return xp.sum(parts.u[..., 1:] * -xp.expm1(-before), axis=-1)


def surprise(logits: Array) -> Array:
    r"""Return :math:`-\ln \max_k p_k` of the softmax of the logits, with the digits of a small one.

    Parameters
    ----------
    logits : array of shape (..., K)

    Returns
    -------
    array of shape (...)
        From 0 to ln K.
    """
    xp = array_namespace(logits)
    behind = xp.where(is_top(logits), -xp.inf, logits - xp.max(logits, axis=-1, keepdims=True))
    return xp.log1p(xp.sum(xp.exp(behind), axis=-1))


# The pignistic probability, by exact quadrature instead of a sum over 2^K sets.


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
