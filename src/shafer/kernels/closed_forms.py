r"""Closed forms of probability, plausibility, belief and ignorance (Denœux 2019, Prop. 1).

The symbols are those of ``log_terms``. ``closed_forms`` gives all that every row needs in one call;
it is the reference for the compiled kernels. Derivations: docs/background/theory.md.
"""

from __future__ import annotations

from typing import NamedTuple

from array_api_compat import array_namespace

from shafer._typing import Array
from shafer.kernels.conflict import conflict
from shafer.kernels.log_terms import LogTerms, log_terms
from shafer.kernels.logspace import leave_one_out_sum, log1mexp
from shafer.kernels.pooling import Pooled


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
