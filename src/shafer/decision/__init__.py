"""Decision rules and risks on arrays: under 0-1 loss, for any loss, and for sets as answers.

Knows no models and no Evidence. May import ``opinion``, ``kernels`` and what is below. The rules by
name are in ``rules.rule_table``, calibration on held-out rows is in ``calibration``. ``acts`` reads
losses and utilities, also from data frames.
"""

from shafer.conformal.cross import CrossConformalSets, cross_conformal
from shafer.conformal.scores import conformal_scores
from shafer.conformal.split import ConformalSets, split_conformal
from shafer.decision.acts import Acts, read_acts, read_loss
from shafer.decision.class_rules import interval_dominance
from shafer.decision.dominance import choose_largest
from shafer.decision.rules import (
    BETTING_RULES,
    PRECISE_RULES,
    RULES,
    choose,
    chosen_names,
    rule_for_costs,
)
from shafer.decision.set_utility import owa_weights, set_utility
from shafer.decision.temperature import tempering_factor

__all__ = [
    "BETTING_RULES",
    "PRECISE_RULES",
    "RULES",
    "Acts",
    "ConformalSets",
    "CrossConformalSets",
    "choose",
    "choose_largest",
    "chosen_names",
    "conformal_scores",
    "cross_conformal",
    "interval_dominance",
    "owa_weights",
    "read_acts",
    "read_loss",
    "rule_for_costs",
    "set_utility",
    "split_conformal",
    "tempering_factor",
]
