"""Arrays in, arrays out: the reduction over components and the O(K) closed forms, in log space.

Written once on the array-API namespace, so NumPy and PyTorch arrays (and others of the standard)
come out as they went in. No classes, no validation, no labels: callers have checked their input.
May import ``_typing`` and ``_errors`` only; never ``belief``, which tests it.
"""

from shafer.kernels.closed_forms import Forms
from shafer.kernels.conflict import conflict, conflict_for_against, weight_of_conflict
from shafer.kernels.dispatch import (
    closed_forms,
    pool_linear,
    pool_linear_sparse,
)
from shafer.kernels.e_admissible_classes import e_admissible_classes, excess_belief
from shafer.kernels.expected_loss import (
    lower_expectation,
    lower_risk,
    upper_expectation,
    upper_risk,
)
from shafer.kernels.largest_focal_sets import focal_logarithms, largest_focal_sets
from shafer.kernels.log_terms import (
    LogTerms,
    log_belief,
    log_ignorance,
    log_plausibility,
    log_terms,
    probability,
)
from shafer.kernels.pignistic import pignistic
from shafer.kernels.pooling import Pooled, linear_weights, pool
from shafer.kernels.set_functions import (
    all_masses,
    belief_of,
    commonality_of,
    mass_of,
    plausibility_of,
)
from shafer.kernels.shares import Shares, one_minus_exp_ratio, shares

__all__ = [
    "Forms",
    "LogTerms",
    "Pooled",
    "Shares",
    "all_masses",
    "belief_of",
    "closed_forms",
    "commonality_of",
    "conflict",
    "conflict_for_against",
    "e_admissible_classes",
    "excess_belief",
    "focal_logarithms",
    "largest_focal_sets",
    "linear_weights",
    "log_belief",
    "log_ignorance",
    "log_plausibility",
    "log_terms",
    "lower_expectation",
    "lower_risk",
    "mass_of",
    "one_minus_exp_ratio",
    "pignistic",
    "plausibility_of",
    "pool",
    "pool_linear",
    "pool_linear_sparse",
    "probability",
    "shares",
    "upper_expectation",
    "upper_risk",
    "weight_of_conflict",
]
