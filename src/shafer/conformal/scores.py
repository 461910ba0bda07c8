r"""Scores for conformal sets: how badly each class fits the evidence.

A conformal set keeps the classes whose score is at most a threshold, so only the order of the
scores counts. Both are computed as differences of logarithms of the pooled weights and saturate at
neither end: two classes of plausibility :math:`10^{-500}` and :math:`10^{-600}` still differ, and
so do two of :math:`1 - 10^{-500}` and :math:`1 - 10^{-600}`. Scores that tie where the evidence
does not would make the sets larger than they need be. But a pooled weight that is rounding beside
the largest of its row is no evidence: its logarithm would be another one in each computation.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

import numpy as np
from array_api_compat import array_namespace

from shafer._checks.arrays import to_numpy
from shafer._kernels.forms import (
    LogTerms,
    log_belief,
    log_one_minus_product,
    log_plausibility,
    log_terms,
)
from shafer._kernels.logspace import leave_one_out_logsumexp, log1mexp
from shafer._kernels.pooling import ROUNDINGS_OF_POOLED, Pooled
from shafer._typing import Array
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence

_LEAST_DOUBT = 1e-7  # 1 − pl below it, computed from pl, is rounding


def conformal_scores(pooled: Pooled, score: str = "plausibility") -> Array:
    r"""Return the score of every class, (n, K): small where the class fits the evidence.

    Parameters
    ----------
    pooled : Pooled
        The pooled weights, as in ``evidence.pooled``.
    score : {"plausibility", "dominance"}
        ``"plausibility"`` orders by :math:`1 - pl_k`, and is its log-odds
        :math:`\ln \frac{1 - pl_k}{pl_k}`. ``"dominance"`` is :math:`\ln \max_{l \ne k} bel_l -
        \ln pl_k`, positive where interval dominance drops the class.

    Returns
    -------
    array of shape (n, K)
        Never NaN; −∞ where no other class has belief.

    See Also
    --------
    split_conformal : Finds a threshold on these scores.
    shafer.Explainer.conformalize : Does both for a model.

    Examples
    --------
    >>> import shafer
    >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9], [-0.2, 0.2]]])
    >>> conformal_scores(ev.pooled).round(3)
    array([[-2.51 ,  1.219]])
    >>> conformal_scores(ev.pooled, "dominance").round(3)
    array([[-2.51 ,  1.219]])
    """
    check_score(score)
    return SCORES[score](log_terms(_without_rounding(pooled)))


def _without_rounding(pooled: Pooled) -> Pooled:
    """Set pooled weights to zero that are rounding beside the largest of their row, or beside 1."""
    xp = array_namespace(pooled.logits)
    weights = (pooled.weights_for, pooled.weights_against)
    largest = xp.max(xp.maximum(*weights), axis=-1, keepdims=True)
    smallest = ROUNDINGS_OF_POOLED * float(xp.finfo(pooled.logits.dtype).eps) * (1.0 + largest)
    return Pooled(pooled.logits, *(xp.where(w > smallest, w, 0.0) for w in weights))


def plausibility_score(terms: LogTerms) -> Array:
    r"""Return :math:`\ln \frac{1 - pl_k}{pl_k}`.

    :math:`(1 - pl_k) D = \sum_{l \ne k} s_l + v_k (1 - \prod_{l \ne k} v_l)` is a sum of
    nonnegative terms (the belief in the other classes), and D cancels against that of
    :math:`pl_k = u_k e^{w^+_k} / D`.
    """
    xp = array_namespace(terms.logits)
    # −∞ would meet itself in a difference, where no class has evidence for it.
    lowest = -xp.finfo(terms.log_s.dtype).max / 8
    others = leave_one_out_logsumexp(xp.clip(terms.log_s, min=lowest))
    others = xp.where(others < lowest / 2, -xp.inf, others)
    log_any_u = log_one_minus_product(terms.shift, terms.log_neg_log_v, leave_one_out_logsumexp)
    denied = log1mexp(terms.weights_against) + log_any_u
    return xp.logaddexp(others, denied) - terms.logits


def dominance_score(terms: LogTerms) -> Array:
    r"""Return :math:`\ln \max_{l \ne k} bel_l - \ln pl_k`.

    The log-ratio, not the difference: where all beliefs are small, or all plausibilities large, a
    difference says little, and sets made from it are much larger (3.06 classes against 2.39 at
    90 % coverage, means over 34 data sets).
    """
    xp = array_namespace(terms.logits)
    # No belief at all: no evidence for the class, and another class without evidence against it.
    # The kernel's stand-in for ln 0 is finite, and weights past 4000 would go below it.
    open_class = xp.astype(terms.weights_against == 0, terms.logits.dtype)
    others_open = xp.sum(open_class, axis=-1, keepdims=True) - open_class > 0
    belief = xp.where((terms.weights_for == 0) & others_open, -xp.inf, log_belief(terms))
    position = xp.arange(belief.shape[-1], device=belief.device)
    is_top = position == xp.argmax(belief, axis=-1, keepdims=True)
    top = xp.max(belief, axis=-1, keepdims=True)
    second = xp.max(xp.where(is_top, -xp.inf, belief), axis=-1, keepdims=True)
    return xp.where(is_top, second, top) - log_plausibility(terms)


SCORES: MappingProxyType[str, Callable[[LogTerms], Array]] = MappingProxyType(
    {"plausibility": plausibility_score, "dominance": dominance_score}
)
"""Score name -> its function of the logarithms that the closed forms share."""


def check_score(score: str) -> None:
    """Refuse an unknown score."""
    if not isinstance(score, str) or score not in SCORES:
        raise ValueError(f"score must be one of {', '.join(map(repr, SCORES))}; got {score!r}.")


def class_scores(evidence: MassEvidence, score: str) -> Array:
    """Return conformal scores (n, K), also of evidence without weights."""
    if isinstance(evidence, Evidence):
        return conformal_scores(evidence.pooled, score)
    if score != "plausibility":
        raise ValueError(
            f"score={score!r} needs evidence with weights, and {type(evidence).__name__} has none. "
            "Use score='plausibility', or combination='dempster' without reliability."
        )
    plausibility = np.clip(to_numpy(evidence.plausibility).astype(np.float64), 0.0, 1.0)
    with np.errstate(divide="ignore"):  # a class that is ruled out
        return np.asarray(
            np.log(np.maximum(1.0 - plausibility, _LEAST_DOUBT)) - np.log(plausibility)
        )
