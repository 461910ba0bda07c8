"""Which single numbers a rule accepts."""

from __future__ import annotations

import math
from numbers import Real
from typing import TypeGuard


def is_number(value: object) -> TypeGuard[float]:
    """Return whether ``value`` is one finite real number, and not a truth value."""
    if isinstance(value, bool):
        return False
    return isinstance(value, Real) and math.isfinite(value)


def check_alpha(alpha: object) -> float:
    """Return a pessimism index as a float after checking its range."""
    if not is_number(alpha) or not 0.0 <= alpha <= 1.0:
        raise ValueError(
            f"alpha must be a number from 0 (optimistic) to 1 (pessimistic); got {alpha!r}."
        )
    return float(alpha)


def check_tolerance(tolerance: object) -> float:
    """Return a tolerance to imprecision γ as a float after checking its range."""
    if not is_number(tolerance) or not 0.5 <= tolerance <= 1.0:
        raise ValueError(
            f"tolerance must be a number from 0.5 to 1, or 'u65' or 'u80'; got {tolerance!r}."
        )
    return float(tolerance)


def check_reject(cost: object, *, zero_one: bool) -> float:
    """Return a cost of rejection as a float; under 0-1 loss it is at most one."""
    if not is_number(cost) or (zero_one and not 0.0 <= cost <= 1.0):
        wanted = "a number from 0 to 1 under 0-1 loss" if zero_one else "a finite number"
        raise ValueError(f"reject must be {wanted}; got {cost!r}.")
    return float(cost)
