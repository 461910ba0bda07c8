r"""Counting the prior once.

A classifier's logits hold the log prior of its training data: :math:`z_k = \ln \pi_k + \ln p(x
\mid k)` up to a constant. Adding the logits of S classifiers, as Dempster's rule does, counts the
prior S times. If the sources are independent given the class, Bayes' rule asks for

.. math:: \ln \pi_k + \sum_s (z_{sk} - \ln \pi_k),

the prior as one piece of evidence of its own, and each source without it. Taken out of a source,
the centred log prior :math:`c_k` goes from the intercept, which least commitment shares equally
among the components: each of the G components loses :math:`c_k / G`. That is Proposition 2 applied
to the model without its prior.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import array_api_compat
import numpy as np

from shafer._typing import Array
from shafer._validation import log_prior
from shafer.evidence import Evidence
from shafer.evidence.weight_sources import (
    BaseRateWeights,
    DenseWeights,
    LinearWeights,
    SparseWeights,
    WeightSource,
)


def prior_evidence(prior: Any, *, classes: Any, n: int = 1) -> Evidence:
    """Return a prior as evidence, n equal instances with one component ``"prior"``.

    Parameters
    ----------
    prior : array of shape (K,), or mapping or pandas Series from class to probability
        Positive; it need not sum to 1.
    classes : sequence of K labels
    n : int

    Returns
    -------
    Evidence

    See Also
    --------
    without_prior : Takes a prior out of evidence.
    shafer.combine : Combines a prior with other sources.

    Examples
    --------
    >>> from shafer.fusion import prior_evidence
    >>> prior_evidence([0.8, 0.2], classes=["no", "yes"]).probability
    array([[0.8, 0.2]])
    """
    labels = list(classes)
    weights = np.tile(log_prior(prior, labels), (n, 1, 1))
    return Evidence.from_weights(weights, classes=classes, names=["prior"])


def without_prior(evidence: Evidence, prior: Any) -> Evidence:
    """Take a prior out of the evidence of a classifier.

    All components lose an equal share of it; or, if the base rate is a component of its own, that
    component loses all of it.

    Parameters
    ----------
    evidence : Evidence
    prior : array of shape (K,), or mapping or pandas Series from class to probability
        Class frequencies of the data the classifier was trained on, in the order of
        ``evidence.classes``.

    Returns
    -------
    Evidence

    See Also
    --------
    prior_evidence : A prior as evidence.
    shafer.combine : Counts a prior once, with ``prior=``.

    Examples
    --------
    >>> import shafer
    >>> ev = shafer.fusion.prior_evidence([0.8, 0.2], classes=["no", "yes"])
    >>> shafer.fusion.without_prior(ev, [0.8, 0.2]).probability
    array([[0.5, 0.5]])
    """
    whole = log_prior(prior, evidence.classes.tolist())
    xp = array_api_compat.array_namespace(evidence.logits)
    shift = xp.asarray(whole, dtype=evidence.logits.dtype, device=evidence.logits.device)
    source = _shifted(evidence.unchanged_source(), shift)
    return Evidence.from_source(source, evidence.classes, evidence.component_names, evidence.parts)


def _shifted(source: WeightSource, whole: Array) -> WeightSource:
    """Take weights (K,) from the base rate, or in equal shares from all components."""
    if isinstance(source, BaseRateWeights):
        return replace(source, base_rate=source.base_rate - whole)
    share = whole / source.shape[-2]
    if isinstance(source, LinearWeights | SparseWeights):
        return replace(source, offset=source.offset - share)
    return DenseWeights(source.dense() - share, source.base_shares() - share)
