r"""Total conflict, its weight, and the conflict between all evidence for and all against.

Each piece of evidence is an independent event: evidence of weight w holds with chance 1 − e^{−w}.
Let S be the classes whose evidence *for* holds, and T those whose evidence *against* holds. There
is conflict if S has two or more classes; or if S has one class, which is also in T; or if S is
empty and T has every class. All terms are nonnegative, so small conflicts keep their relative
accuracy (1 − D e^{−Σw⁺} would lose it).
"""

from __future__ import annotations

from array_api_compat import array_namespace

from shafer._typing import Array
from shafer.kernels.log_terms import LogTerms, log_one_minus_product, log_terms
from shafer.kernels.logspace import (
    leave_one_out_logsumexp,
    leave_one_out_sum,
    log1mexp,
    logsumexp,
)
from shafer.kernels.pooling import Pooled


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
