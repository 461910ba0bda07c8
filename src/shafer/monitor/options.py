"""Options of a monitor, checked."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, final

LEAST_KEPT = 50
_TOO_LARGE = 2**63


@final
@dataclass(frozen=True)
class MonitorOptions:
    """How a monitor compares.

    Attributes
    ----------
    alpha : float
        The chance of a false alarm.
    max_rows : int
        The most reference rows kept.
    bins : int
        Bins of the population stability index.
    seed : int
    """

    alpha: float
    max_rows: int
    bins: int
    seed: int


def checked_options(alpha: Any, max_rows: Any, bins: Any, seed: Any) -> MonitorOptions:
    """Check the options of a user."""
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0.0 < float(alpha) < 1.0:
        raise ValueError(f"alpha must be a chance between 0 and 1, such as 0.05; got {alpha!r}.")
    return MonitorOptions(
        float(alpha),
        _whole(max_rows, "max_rows", LEAST_KEPT),
        _whole(bins, "bins", 2),
        _whole(seed, "seed", 0),
    )


def _whole(value: Any, name: str, least: int) -> int:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or not least <= int(value) < _TOO_LARGE:
        raise ValueError(
            f"{name} must be a whole number of at least {least} and below 2**63; got {value!r}."
        )
    return int(value)
