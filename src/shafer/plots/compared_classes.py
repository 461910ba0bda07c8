"""Which class weights are drawn for, over which other class, and how the axis names it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shafer._checks.labels import one_position
from shafer._typing import FloatArray, Label
from shafer.decision.policy import answers
from shafer.evidence.evidence import Evidence
from shafer.plots.style import numbers, without_middle

UNITS = ("log_odds", "weight")
ODDS_NOTE = "+1 multiplies the odds by 2.7"
WEIGHT_NOTE = "not log-odds: the logistic function does not\nturn it into the probability"


class Compared(NamedTuple):
    """Positions of the class, and of the class it is compared with: None for plain weights."""

    class_: int
    over: int | None

    def weights(self, evidence: Evidence) -> FloatArray:
        """Return the components' weights for the class, (n, G): contrasts, or plain weights."""
        if self.over is None:
            return numbers(evidence.weights)[..., self.class_]
        labels = evidence.classes.tolist()
        return numbers(evidence.contrast(labels[self.class_], labels[self.over]))

    def intervals(self, evidence: Evidence, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper ends of their error bars, (n, G); the errors are known."""
        if self.over is None:
            lower, upper = (end[..., self.class_] for end in evidence.weight_interval(level))
        else:
            labels = evidence.classes.tolist()
            first, second = labels[self.class_], labels[self.over]
            lower, upper = evidence.contrast_interval(first, second, level)
        return numbers(lower), numbers(upper)


def compared_in_row(
    evidence: Evidence, class_: Label | None, over: Label | None, units: str
) -> Compared:
    """Choose the classes to compare in the first row: by default the answer and its rival."""
    plain = plain_weights(units, over)
    logits, classes = numbers(evidence.logits)[0], evidence.classes
    answer = int(answers(logits[None], evidence.cutoff)[0])
    k = answer if class_ is None else one_position(class_, classes, "class_")
    if plain:
        return Compared(k, None)
    if over is None:
        return Compared(k, int(best_others(logits[None], k)[0]))
    return Compared(k, other_than(k, over, classes))


def other_than(k: int, over: Label, classes: NDArray[Any]) -> int:
    """Return the position of the class ``over``, which must not be class k."""
    other = one_position(over, classes, "over")
    if other == k:
        raise ValueError(
            f"over must be another class than the one that is drawn; got {over!r} for both. "
            "Choose another class, or leave out over."
        )
    return other


def best_others(logits: FloatArray, k: int) -> NDArray[np.intp]:
    """Return the most probable class other than k in each row, (n,)."""
    others = logits.copy()
    others[:, k] = -np.inf
    best: NDArray[np.intp] = np.argmax(others, axis=1)
    return best


def plain_weights(units: str, over: Label | None) -> bool:
    """Return whether plain weights are asked for; refuse other units."""
    if units not in UNITS:
        raise ValueError(
            f"units must be 'log_odds' (a class over another) or 'weight' (the weights of one "
            f"class); got {units!r}."
        )
    if units == "weight" and over is not None:
        raise ValueError(
            f"over= compares two classes, so it needs units='log_odds'; got over={over!r} and "
            "units='weight'."
        )
    return units == "weight"


def axis_text(label: object, over: object | None, most: int = 24) -> str:
    """Return the name of an axis of weights for a class, or of log-odds over another."""
    name = without_middle(label, most)
    if over is None:
        return f"weight of evidence for {name}"
    return f"log-odds of {name} over {without_middle(over, most)}"
