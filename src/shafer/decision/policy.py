r"""``Policy``: how evidence becomes a decision where the user names no rule.

With two classes the answer may be the positive class from a probability t on, instead of from one
half. A ``Cutoff`` shifts the log-odds by :math:`-\ln(t / (1 - t))`. So every closed form about the
largest logit holds for the shifted logits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.labels import one_position
from shafer._typing import FloatArray
from shafer.decision.acts import is_number
from shafer.decision.dominance import choose_smallest
from shafer.decision.rules import rule_for_costs
from shafer.decision.ties import tie_width

_ROUNDING = 1e-13


@final
@dataclass(frozen=True)
class Cutoff:
    """The probability from which on the answer is the positive one of two classes.

    Attributes
    ----------
    threshold : float
        Above 0 and below 1.
    position : int
        Of the positive class, 0 or 1.
    """

    threshold: float
    position: int = 1

    @classmethod
    def read(cls, threshold: Any, classes: NDArray[Any]) -> Cutoff:
        """Return the cutoff that a user states: a number for the second class, or by its label."""
        position = 1
        if isinstance(threshold, Mapping):
            if len(threshold) != 1:
                raise ValueError(
                    "threshold must be a number, or name one class, such as {'ill': 0.2}; got "
                    f"{threshold!r}."
                )
            ((label, threshold),) = threshold.items()
            position = one_position(label, classes, "threshold")
        if not is_number(threshold) or not 0.0 < threshold < 1.0:
            raise ValueError(
                "threshold must be a probability above 0 and below 1, or {class: probability}; got "
                f"{threshold!r}."
            )
        if len(classes) != 2:
            raise ValueError(
                f"threshold needs two classes; the model has {len(classes)}. State what each error "
                "costs instead: explainer.decide(X, loss)."
            )
        return cls(float(threshold), position)

    @property
    def shift(self) -> FloatArray:
        """What is added to the two logits, so that the answer has the larger one, (2,)."""
        half = 0.5 * (np.log(self.threshold) - np.log1p(-self.threshold))
        shift = np.array([half, half])
        shift[self.position] = -half
        return shift


def answers(logits: FloatArray, cutoff: Cutoff | None) -> NDArray[np.intp]:
    """Return the position of each row's answer, (n,), given logits (n, K)."""
    if cutoff is None:
        found: NDArray[np.intp] = np.argmax(logits, axis=1)
        return found
    shifted = logits + cutoff.shift
    lead = shifted[:, cutoff.position] - shifted[:, 1 - cutoff.position]
    rounding = _ROUNDING * (1.0 + np.abs(logits).max(axis=1) + np.abs(cutoff.shift).max())
    # A probability at the threshold, up to rounding, gives the positive class.
    return np.where(lead >= -rounding, cutoff.position, 1 - cutoff.position)


def first_largest(scores: FloatArray) -> NDArray[np.intp]:
    """Return the position of the largest score of each row; the first of those tied by rounding."""
    risk = -scores
    width = tie_width(risk.min(axis=1, keepdims=True))
    return np.asarray(np.argmax(choose_smallest(risk, width), axis=1))


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
    cutoff : Cutoff, optional
        From which probability on the answer is the positive class; by default it is the most
        probable class.
    """

    calibrated: bool = False
    set_rule: str = "interval_dominance"
    act_rule: str = "expected_loss"
    cutoff: Cutoff | None = None

    @classmethod
    def of_bets(cls, cutoff: Cutoff | None = None) -> Policy:
        """Return the policy of weights that were tempered, moderated or guarded."""
        return cls(True, "utility_set", cutoff=cutoff)

    def rule_of_sets(self, options: Mapping[str, Any]) -> str:
        """Return the rule of sets of classes, given the options of the call."""
        return rule_for_costs(options, calibrated=self.calibrated) or self.set_rule
