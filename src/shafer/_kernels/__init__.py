"""Arrays in, arrays out: sums over components and the O(K) closed forms, in log space.

Written once on the array-API namespace, so NumPy, PyTorch and other arrays of the standard keep
their kind. No classes, no validation, no labels: callers check their input. May import ``_typing``
only; never ``belief``, the oracle in its tests.

- ``pooling``: weights for and against each class, summed over components, given in full or as a
  linear model; and the terms of the closed forms as ordinary numbers.
- ``direct_forms``: the same closed forms for NumPy, as products; ``arithmetic``: what they share
  with compiled code.
- ``forms``: probability, plausibility, belief, ignorance, conflict, the pignistic probability.
- ``products``: matrix products in equal bits for a row in any batch.
- ``sets``: the functions of a set of classes, and the largest focal sets.
- ``risk``: lower and upper expected loss, and the E-admissible classes.
- ``trees``: Shapley values of trees by quadrature; ``tree_tables``: from tables of patterns.
- ``logspace``: accurate logarithms.
- ``compiled``: faster versions for numba and Triton; ``dispatch`` chooses between them.
"""

from shafer._kernels.dispatch import (
    additive_weights,
    closed_forms,
    located_weights_of,
    pool,
    pool_linear,
    pool_linear_sparse,
    pool_located,
)
from shafer._kernels.forms import (
    Forms,
    LogTerms,
    conflict,
    conflict_for_against,
    doubt,
    log_belief,
    log_ignorance,
    log_plausibility,
    log_terms,
    own_weights_of_conflict,
    pignistic,
    probability,
    surplus,
    surprise,
    weight_of_conflict,
)
from shafer._kernels.pooling import (
    Pooled,
    Shares,
    centred_over_classes,
    linear_weights,
    located_weights,
    one_minus_exp_ratio,
    shares,
)
from shafer._kernels.products import Factor, grouped_products, product
from shafer._kernels.risk import (
    e_admissible_classes,
    excess_belief,
    lower_expectation,
    lower_risk,
    upper_expectation,
    upper_risk,
)
from shafer._kernels.sets import (
    all_masses,
    belief_of,
    commonality_of,
    focal_logarithms,
    largest_focal_sets,
    mass_of,
    plausibility_of,
)

__all__ = [
    "Factor",
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
    "doubt",
    "e_admissible_classes",
    "excess_belief",
    "focal_logarithms",
    "grouped_products",
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
    "product",
    "shares",
    "surplus",
    "surprise",
    "upper_expectation",
    "upper_risk",
    "weight_of_conflict",
]
