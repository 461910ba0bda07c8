"""The sums and products behind the closed forms, for 64 lanes at a time.

A lane is a row, or a part of the classes of one row. Every formula is a sum of products of
nonnegative numbers (docs/background/theory.md, section 6), so the only risk is underflow.

Lanes are in flat arrays: number ``b`` of quantity ``Q`` is at ``Q + b``. With constant distances
the compiler sees that they do not overlap, and makes vector code.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, misc"
# The compiler infers types from the arguments; annotations inside compiled code have no effect.

from __future__ import annotations

import numba

from shafer.kernels.compiled.vector_code import FUSED, chances, exponential, use_full_width

LANES = 64
# What is given of one class: logit minus the largest, w⁺, w⁻.
Z, FOR, AGAINST, GIVEN_SIZE = 0, LANES, 2 * LANES, 3 * LANES
# What is kept of one class: e^z, 1 − e^{−w⁺}, v, and the product of the v of other classes.
ODDS, FIRES, DENIED, OTHERS, KEPT_SIZE = 0, LANES, 2 * LANES, 3 * LANES, 4 * LANES
# What is summed over the classes: the chances that evidence for no class holds, for one class, for
# two or more, for one that is denied as well; P, 1 − P, Σ e^z, Σ s.
NONE, ONE, TWO, CONTRADICTED = 0, LANES, 2 * LANES, 3 * LANES
PRODUCT, OPEN, SUM_ODDS, SUM_S = 4 * LANES, 5 * LANES, 6 * LANES, 7 * LANES
STATE_SIZE = 8 * LANES


@numba.njit(error_model="numpy", cache=True)
def start(state):
    """Write the state before the first class."""
    state[:] = 0.0
    state[NONE : NONE + LANES] = 1.0
    state[PRODUCT : PRODUCT + LANES] = 1.0


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def add_class(given, state, kept):
    """Add a class to the state of each lane; ``OTHERS`` is the product of the classes before it."""
    use_full_width()
    for b in range(LANES):
        silent, fires = chances(given[FOR + b])
        u, denied = chances(given[AGAINST + b])
        odds = exponential(given[Z + b])
        none, one, product = state[NONE + b], state[ONE + b], state[PRODUCT + b]
        first = none * fires
        state[TWO + b] += one * fires
        state[ONE + b] = one * silent + first
        state[CONTRADICTED + b] = state[CONTRADICTED + b] * silent + first * denied
        state[NONE + b] = none * silent
        state[OPEN + b] += u * product
        state[PRODUCT + b] = product * denied
        state[SUM_ODDS + b] += odds
        state[SUM_S + b] += odds * fires
        kept[ODDS + b] = odds
        kept[FIRES + b] = fires
        kept[DENIED + b] = denied
        kept[OTHERS + b] = product


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def joined(state):
    """Join the lanes of one row; the result is in the first lane."""
    for b in range(1, LANES):
        none, one, product = state[NONE], state[ONE], state[PRODUCT]
        more_none, more_one = state[NONE + b], state[ONE + b]
        more_two = state[TWO + b]
        state[TWO] += one * (more_one + more_two) + none * more_two
        state[ONE] = one * more_none + none * more_one
        state[CONTRADICTED] = state[CONTRADICTED] * more_none + none * state[CONTRADICTED + b]
        state[NONE] = none * more_none
        state[OPEN] += product * state[OPEN + b]
        state[PRODUCT] = product * state[PRODUCT + b]
        state[SUM_ODDS] += state[SUM_ODDS + b]
        state[SUM_S] += state[SUM_S + b]


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def class_forms(kept, d, total, result):
    """Write probability, plausibility and belief; ``d`` and ``total`` are given for each lane."""
    use_full_width()
    for b in range(LANES):
        odds, fires = kept[ODDS + b], kept[FIRES + b]
        plausibility = min(1.0, odds / d[b])
        # The chances add up to one, so the ratio is at most one up to rounding.
        ratio = fires + (1.0 - fires) * kept[OTHERS + b]
        result[b] = odds / total[b]
        result[LANES + b] = plausibility
        result[2 * LANES + b] = plausibility * min(1.0, ratio)
