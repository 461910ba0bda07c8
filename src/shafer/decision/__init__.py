"""Decision rules and risks on arrays: under 0-1 loss, for any loss, and for sets as answers.

Knows no models, no Evidence. May import ``kernels``, ``belief``, ``_validation``, ``_errors`` and
``_typing``. The rules by name are in ``rules``; under 0-1 loss they live in ``classes``, for any
loss in ``losses`` and ``admissible``, for set-valued acts in ``set_valued`` and ``set_acts``;
calibration on held-out rows is in ``conformal``, ``cross_conformal`` and ``temperature``.
"""

from shafer.decision.acts import Acts, read_acts, read_loss
from shafer.decision.calibration.conformal_scores import conformal_scores
from shafer.decision.calibration.cross_conformal import CrossConformalSets, cross_conformal
from shafer.decision.calibration.split_conformal import ConformalSets, split_conformal
from shafer.decision.calibration.temperature import tempering_factor
from shafer.decision.rules.class_rules import interval_dominance
from shafer.decision.rules.dominance import choose_largest
from shafer.decision.rules.rule_table import PRECISE_RULES, RULES, choose, names_of
from shafer.decision.rules.set_utility import owa_weights, set_worth
from shafer.opinion.pooled_opinion import Opinion

__all__ = [
    "PRECISE_RULES",
    "RULES",
    "Acts",
    "ConformalSets",
    "CrossConformalSets",
    "Opinion",
    "choose",
    "choose_largest",
    "conformal_scores",
    "cross_conformal",
    "interval_dominance",
    "names_of",
    "owa_weights",
    "read_acts",
    "read_loss",
    "set_worth",
    "split_conformal",
    "tempering_factor",
]
