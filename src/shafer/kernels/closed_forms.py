"""The quantities that every row needs, in one call: the reference for the compiled kernels."""

from __future__ import annotations

from typing import NamedTuple

from array_api_compat import array_namespace

from shafer._typing import Array
from shafer.kernels.conflict import conflict
from shafer.kernels.log_terms import (
    log_belief,
    log_ignorance,
    log_plausibility,
    log_terms,
    probability,
)
from shafer.kernels.pooling import Pooled


class Forms(NamedTuple):
    """What users read from the pooled mass function; the first three (..., K), the rest (...)."""

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
