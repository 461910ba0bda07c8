"""``Policy``: how evidence becomes a decision where the user names no rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from shafer.decision.rules import rule_for_costs


@final
@dataclass(frozen=True)
class Policy:
    """The rules that a model decides by.

    Attributes
    ----------
    calibrated : bool
        Whether the weights were tempered, moderated or guarded. Costs are then weighed by the
        probabilities, as expected losses.
    set_rule : str
        The rule of sets of classes where no costs are given.
    act_rule : str
        The rule of acts.
    """

    calibrated: bool = False
    set_rule: str = "interval_dominance"
    act_rule: str = "expected_loss"

    @classmethod
    def of_bets(cls) -> Policy:
        """Return the policy of weights that were tempered, moderated or guarded."""
        return cls(True, "utility_set")

    def rule_of_sets(self, options: Mapping[str, Any]) -> str:
        """Return the rule of sets of classes, given the options of the call."""
        return rule_for_costs(options, calibrated=self.calibrated) or self.set_rule
