"""Decision rules and risks on arrays: under 0-1 loss, for any loss, and for sets as answers.

Knows no models, no Evidence. May import ``kernels``, ``belief``, ``_validation``, ``_errors`` and
``_typing``. The rules by name are in ``rules``; under 0-1 loss they live in ``classes``, for any
loss in ``losses`` and ``admissible``, for set-valued acts in ``set_valued`` and ``set_acts``.
"""

from shafer.decision.acts import Acts, read_acts, read_loss
from shafer.decision.classes import interval_dominance
from shafer.decision.dominance import choose_largest
from shafer.decision.opinion import Opinion
from shafer.decision.owa import owa_weights, set_worth
from shafer.decision.rules import PRECISE_RULES, RULES, choose, names_of

__all__ = [
    "PRECISE_RULES",
    "RULES",
    "Acts",
    "Opinion",
    "choose",
    "choose_largest",
    "interval_dominance",
    "names_of",
    "owa_weights",
    "read_acts",
    "read_loss",
    "set_worth",
]
