"""All that is asked of every row, at once: the reference the compiled kernel is measured by."""

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
    """The pooled mass function as users read it; the first three (..., K), the others (...)."""

    probability: Array
    plausibility: Array
    belief: Array
    ignorance: Array
    conflict: Array


def closed_forms(pooled: Pooled) -> Forms:
    """Return the closed forms of every row."""
    xp = array_namespace(pooled.logits)
    terms = log_terms(pooled)
    return Forms(
        probability(terms),
        xp.exp(log_plausibility(terms)),
        xp.exp(log_belief(terms)),
        xp.exp(log_ignorance(terms)),
        conflict(terms),
    )
