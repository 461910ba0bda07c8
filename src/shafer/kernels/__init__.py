"""Arrays in, arrays out: sums over components and the O(K) closed forms, in log space.

Written once on the array-API namespace, so NumPy, PyTorch and other arrays of the standard keep
their kind. No classes, no validation, no labels: callers check their input. May import ``_typing``
and ``_errors`` only; never ``belief``, the oracle in its tests.

- ``pooling``, ``sparse_pooling``, ``located_pooling``: weights for and against each class, summed
  over components.
- ``class_centring``: weights of contributions that are given directly.
- ``closed_forms``: probability, plausibility, belief, ignorance; ``log_terms``: what they share.
- ``conflict``, ``pignistic``, ``set_functions``, ``largest_focal_sets``, ``expected_loss``,
  ``e_admissible_classes``: one quantity each.
- ``logspace``: accurate logarithms. ``shares``: the same terms as ordinary numbers.
- ``compiled``: faster versions for numba and Triton; ``dispatch`` chooses between them.
"""

from shafer.kernels.class_centring import centred_over_classes
from shafer.kernels.closed_forms import (
    Forms,
    log_belief,
    log_ignorance,
    log_plausibility,
    probability,
)
from shafer.kernels.conflict import (
    conflict,
    conflict_for_against,
    own_weights_of_conflict,
    weight_of_conflict,
)
from shafer.kernels.dispatch import (
    additive_weights,
    closed_forms,
    located_weights_of,
    pool,
    pool_linear,
    pool_linear_sparse,
    pool_located,
)
from shafer.kernels.e_admissible_classes import e_admissible_classes, excess_belief
from shafer.kernels.expected_loss import (
    lower_expectation,
    lower_risk,
    upper_expectation,
    upper_risk,
)
from shafer.kernels.largest_focal_sets import focal_logarithms, largest_focal_sets
from shafer.kernels.located_pooling import located_weights
from shafer.kernels.log_terms import LogTerms, log_terms
from shafer.kernels.pignistic import pignistic
from shafer.kernels.pooling import Pooled, linear_weights
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
    "additive_weights",
    "all_masses",
    "belief_of",
    "centred_over_classes",
    "closed_forms",
    "commonality_of",
    "conflict",
    "conflict_for_against",
    "e_admissible_classes",
    "excess_belief",
    "focal_logarithms",
    "largest_focal_sets",
    "linear_weights",
    "located_weights",
    "located_weights_of",
    "log_belief",
    "log_ignorance",
    "log_plausibility",
    "log_terms",
    "lower_expectation",
    "lower_risk",
    "mass_of",
    "one_minus_exp_ratio",
    "own_weights_of_conflict",
    "pignistic",
    "plausibility_of",
    "pool",
    "pool_linear",
    "pool_linear_sparse",
    "pool_located",
    "probability",
    "shares",
    "upper_expectation",
    "upper_risk",
    "weight_of_conflict",
]
