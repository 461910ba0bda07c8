r"""The logarithms that all closed forms of the pooled mass function share (Denœux 2019, Prop. 1).

With :math:`u = e^{-w^-}`, :math:`v = 1 - u`, :math:`s = u(e^{w^+} - 1)`, :math:`P = \prod_k v_k`
and :math:`D = \sum_k s_k + 1 - P`, everything costs O(K) per row. Logarithms are kept relative to
the largest logit, so that large weights do not cost accuracy. Derivations:
docs/background/theory.md.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from array_api_compat import array_namespace

from shafer._typing import Array
from shafer.kernels.logspace import (
    log1mexp,
    log1mexpexp,
    log_neg_log1mexp,
    logsumexp,
    neg_log1mexp,
)
from shafer.kernels.pooling import Pooled


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
