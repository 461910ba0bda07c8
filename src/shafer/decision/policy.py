r"""``Policy``: how evidence becomes a decision where the user names no rule.

With two classes the answer may be the positive class from a probability t on, instead of from one
half. A ``Cutoff`` shifts the log-odds by :math:`-\ln(t / (1 - t))`. So every closed form about the
largest logit holds for the shifted logits. Costs of errors are such a threshold. With more classes,
``LeastLoss`` gives the class of the least expected loss.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from shafer._checks.labels import one_position
from shafer._text import listed
from shafer._typing import FloatArray
from shafer.decision.acts import is_number, loss_of_answers
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
                f"threshold needs two classes; the model has {len(classes)}: "
                f"[{listed(classes.tolist())}]. State what each error costs instead, with loss=."
            )
        return cls(float(threshold), position)

    @property
    def shift(self) -> FloatArray:
        """What is added to the two logits, so that the answer has the larger one, (2,)."""
        half = 0.5 * (np.log(self.threshold) - np.log1p(-self.threshold))
        shift = np.array([half, half])
        shift[self.position] = -half
        return shift

    def text(self, classes: NDArray[Any]) -> str:
        """Return the rule in words, such as ``answers 'ill' from 0.2 on``."""
        return f"answers {classes.tolist()[self.position]!r} from {self.threshold:.3g} on"

    def positions(self, logits: FloatArray) -> NDArray[np.intp]:
        """Return the position of each row's answer, (n,)."""
        shifted = logits + self.shift
        lead = shifted[:, self.position] - shifted[:, 1 - self.position]
        rounding = _ROUNDING * (_size(logits) + np.abs(self.shift).max())
        # A probability at the threshold, up to rounding, gives the positive class.
        return np.where(lead >= -rounding, self.position, 1 - self.position)


@final
@dataclass(frozen=True)
class LeastLoss:
    """The class of the least expected loss, where there are three classes or more.

    Attributes
    ----------
    loss : tuple of K tuples of K numbers
        The loss of each answer (row) under each true class (column).
    """

    loss: tuple[tuple[float, ...], ...]

    @cached_property
    def regret(self) -> FloatArray:
        """How much more each answer loses than the best one, (K, K)."""
        table = np.array(self.loss)
        return np.asarray(table - table.min(axis=0))

    def text(self, classes: NDArray[Any]) -> str:
        """Return the rule in words."""
        del classes
        return "answers with the least expected loss"

    def positions(self, logits: FloatArray) -> NDArray[np.intp]:
        """Return the position of each row's answer, (n,); the first of those that tie."""
        expected = softmax(np.asarray(logits, dtype=np.float64), axis=-1) @ self.regret.T
        rounding = _ROUNDING * _size(logits) * expected.min(axis=-1)
        least = expected.min(axis=-1) + rounding
        return np.asarray(np.argmax(expected <= least[..., None], axis=-1))


def _size(logits: FloatArray) -> FloatArray:
    """Return the scale on which logits are rounded; −∞ is a class that is ruled out."""
    return np.asarray(1.0 + np.where(np.isfinite(logits), np.abs(logits), 0.0).max(axis=-1))


AnswerRule: TypeAlias = Cutoff | LeastLoss
"""What answers, where it is not the most probable class."""


def read_answer_rule(threshold: Any, loss: Any, classes: NDArray[Any]) -> AnswerRule | None:
    """Return the rule that a user states by a threshold or by losses; None without both."""
    if threshold is not None and loss is not None:
        raise ValueError(
            "Give threshold or loss, not both: losses of two classes are a threshold; got "
            f"threshold={threshold!r} and a loss. Leave out one."
        )
    if loss is not None:
        return least_loss(loss_of_answers(loss, classes), classes)
    return None if threshold is None else Cutoff.read(threshold, classes)


def least_loss(table: FloatArray, classes: NDArray[Any]) -> AnswerRule:
    """Return the rule of the least expected loss: with two classes, a threshold.

    Parameters
    ----------
    table : array of shape (K, K)
        The loss of each answer (row) under each true class (column).
    classes : array of shape (K,)
    """
    regret = table - table.min(axis=0)
    always = np.flatnonzero(~regret.any(axis=1))
    if len(always):
        raise ValueError(
            f"loss gives every row the answer {classes.tolist()[always[0]]!r}: no answer costs "
            "less, whatever the true class. Rows are answers, columns are true classes; a right "
            "answer must cost less than a wrong one."
        )
    if len(classes) > 2:
        return LeastLoss(tuple(map(tuple, table.tolist())))
    if not (regret[0, 1] > 0.0 and regret[1, 0] > 0.0):
        raise ValueError(
            f"loss makes every right answer cost more than a wrong one; got {table.tolist()}. Rows "
            "are answers, columns are true classes; a right answer must cost less."
        )
    # The first class wins a tie, so it is the positive one.
    threshold = float(regret[0, 1] / (regret[0, 1] + regret[1, 0]))
    if not 0.0 < threshold < 1.0:
        raise ValueError(
            "loss holds errors whose costs are too far apart for a threshold between 0 and 1; got "
            f"{regret[1, 0]:.3g} and {regret[0, 1]:.3g}. Give numbers of more similar size."
        )
    return Cutoff(threshold, 0)


def stored_rule(threshold: Cutoff | None, loss: Any, classes: NDArray[Any]) -> AnswerRule | None:
    """Return the rule that a file holds, after checking that it fits the classes."""
    if threshold is not None and loss is not None:
        raise ValueError("it has a threshold and a loss of its answers, and one is expected")
    if threshold is not None:
        if threshold.position not in (0, 1):
            raise ValueError(f"position must be 0 or 1; got {threshold.position}.")
        Cutoff.read({classes.tolist()[0]: threshold.threshold}, classes)
        return threshold
    if loss is None:
        return None
    if np.shape(loss) != 2 * (len(classes),):
        raise ValueError(f"loss must have shape {2 * (len(classes),)}; got {np.shape(loss)}.")
    return least_loss(np.asarray(loss, dtype=np.float64), classes)


def asked_class(rule: AnswerRule | None) -> int:
    """Return the position of the class that numbers about two classes are for.

    That is the class of a threshold, which its user asks about; otherwise the second, as in
    scikit-learn.
    """
    return rule.position if isinstance(rule, Cutoff) else 1


def answers(logits: FloatArray, rule: AnswerRule | None) -> NDArray[np.intp]:
    """Return the position of each row's answer, (n,), given logits (n, K)."""
    if rule is None:
        found: NDArray[np.intp] = np.argmax(logits, axis=1)
        return found
    return rule.positions(logits)


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
    cutoff : Cutoff or LeastLoss, optional
        From which probability on the answer is the positive class, or what each error costs; by
        default the answer is the most probable class.
    """

    calibrated: bool = False
    set_rule: str = "interval_dominance"
    act_rule: str = "expected_loss"
    cutoff: AnswerRule | None = None

    @classmethod
    def of_bets(cls, cutoff: AnswerRule | None = None) -> Policy:
        """Return the policy of weights that were tempered, moderated or guarded."""
        return cls(True, "utility_set", cutoff=cutoff)

    def rule_of_sets(self, options: Mapping[str, Any]) -> str:
        """Return the rule of sets of classes, given the options of the call."""
        return rule_for_costs(options, calibrated=self.calibrated) or self.set_rule
