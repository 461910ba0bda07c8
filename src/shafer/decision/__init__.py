"""Decision rules and risks on arrays: under 0-1 loss, for any loss, and for sets as answers.

Knows no models and no Evidence. May import ``_masses``, ``_kernels`` and what is below. ``rules``
is the table of the rules by name; ``acts`` reads losses and utilities, also from data frames.
Names that live in ``conformal`` but belong here for a user are loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from shafer.decision.rules import BETTING_RULES, PRECISE_RULES, RULES
from shafer.decision.set_utility import owa_weights, set_utility
from shafer.decision.temperature import tempering_factor

if TYPE_CHECKING:
    from shafer.conformal.cross import CrossConformalSets, cross_conformal
    from shafer.conformal.scores import conformal_scores
    from shafer.conformal.split import ConformalSets, split_conformal

__all__ = [
    "BETTING_RULES",
    "PRECISE_RULES",
    "RULES",
    "ConformalSets",
    "CrossConformalSets",
    "conformal_scores",
    "cross_conformal",
    "owa_weights",
    "set_utility",
    "split_conformal",
    "tempering_factor",
]

_HOME = {
    "ConformalSets": "shafer.conformal.split",
    "CrossConformalSets": "shafer.conformal.cross",
    "conformal_scores": "shafer.conformal.scores",
    "cross_conformal": "shafer.conformal.cross",
    "split_conformal": "shafer.conformal.split",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'shafer.decision' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
