"""``Promise``: what holds for the decided rows, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.labels import one_position
from shafer._text import percent
from shafer._typing import BoolArray, FloatArray, Label
from shafer.decision.acts import is_number, loss_of_answers
from shafer.deferral.search import (
    SelectiveThreshold,
    budget_threshold,
    error_threshold,
    loss_threshold,
    miss_threshold,
)
from shafer.metrics.bounds import rows_without_error

KINDS = ("error", "false_negative_rate", "mean_loss", "budget")
DEFAULT_ERROR = 0.05


@final
@dataclass(frozen=True, eq=False)
class Promise:
    """A bound on what goes wrong among decided rows, with a confidence.

    Attributes
    ----------
    kind : {"error", "false_negative_rate", "mean_loss", "budget"}
    level : float
        The bound; for a budget, the share of rows that is handed on.
    confidence : float
        The probability, over calibration sets, that the bound holds.
    class_ : label or None
        The class that must not be missed, for a false negative rate.
    loss : array of shape (K, K) or None
        The loss of each answer (row) under each true class (column), for a mean loss.
    """

    kind: str
    level: float
    confidence: float
    class_: Label | None = None
    loss: FloatArray | None = None

    @property
    def method(self) -> str:
        """The name of the method that makes it."""
        return "control_budget" if self.kind == "budget" else "control_error"

    @property
    def rows_needed(self) -> int:
        """How many rows without error are needed at least; of the class, if there is one."""
        if self.kind == "budget":
            return 1  # every number of rows gives some bound
        return rows_without_error(self.scaled_level, self.confidence)

    @property
    def scaled_level(self) -> float:
        """The bound on a scale where losses lie between 0 and 1."""
        if self.loss is None:
            return self.level
        low, high = float(self.loss.min()), float(self.loss.max())
        return (self.level - low) / (high - low)

    @property
    def unit(self) -> float:
        """The size of the scores: 1 for log-odds, the largest loss for expected losses."""
        return 1.0 if self.loss is None else float(np.abs(self.loss).max())

    def unscaled(self, risk: float) -> float:
        """Return a risk in units of the loss table."""
        if self.loss is None:
            return risk
        low, high = float(self.loss.min()), float(self.loss.max())
        return low + (high - low) * risk

    @property
    def text(self) -> str:
        """The promise in words."""
        sure = f"with {percent(self.confidence)} confidence"
        if self.kind == "error":
            return f"at most {percent(self.level)} of the decided rows are wrong, {sure}"
        if self.kind == "budget":
            return f"{percent(self.level)} of the rows are handed on"
        if self.kind == "mean_loss":
            return f"the mean loss of the decided rows is at most {self.level:g}, {sure}"
        return (
            f"of the rows of class {self.class_!r}, at most {percent(self.level)} are decided as "
            f"another class, {sure}"
        )

    def threshold(
        self, scores: FloatArray, answers: NDArray[np.intp], truth: NDArray[np.intp], classes: Any
    ) -> SelectiveThreshold:
        """Return the threshold that keeps the promise for rows like these."""
        wrong, sure = answers != truth, self.confidence
        if self.kind == "error":
            return error_threshold(scores, wrong, self.level, sure)
        if self.kind == "budget":
            return budget_threshold(scores, wrong, self.level, sure)
        if self.loss is not None:
            losses = self.scaled_losses(answers, truth)
            return loss_threshold(scores, losses, self.scaled_level, sure, self.unit)
        own = self.own_rows(truth, classes)  # a false negative rate is left
        return miss_threshold(scores[own], wrong[own], self.level, sure)

    def own_rows(self, truth: NDArray[np.intp], classes: NDArray[Any]) -> BoolArray:
        """Return which rows the promise is about: those of the class, or all."""
        if self.kind != "false_negative_rate":
            return np.ones(len(truth), dtype=bool)
        return np.asarray(truth == classes.tolist().index(self.class_))

    def scaled_losses(self, answers: NDArray[np.intp], truth: NDArray[np.intp]) -> FloatArray:
        """Return the loss of each answer, on a scale from 0 to 1; errors without a loss table."""
        if self.loss is None:
            return np.asarray(answers != truth, dtype=np.float64)
        low, high = self.loss.min(), self.loss.max()
        return np.asarray((self.loss[answers, truth] - low) / (high - low))


def read_budget(share: Any, confidence: Any) -> Promise:
    """Return the promise of a budget: a share of rows for a person."""
    if not is_number(share) or not 0.0 < share < 1.0:
        raise ValueError(
            "share must be the share of rows to hand on, between 0 and 1, such as 20 / 500; got "
            f"{share!r}."
        )
    return Promise("budget", float(share), _rate(confidence, "confidence"))


def read_promise(
    error: Any,
    confidence: Any,
    false_negative_rate: Any,
    recall: Any,
    class_: Any,
    mean_loss: Any,
    loss: Any,
    classes: NDArray[Any],
) -> Promise:
    """Return the one promise that is asked for; an error for none, two or half of one."""
    sure = _rate(confidence, "confidence")
    given = {"error": error, "false_negative_rate": false_negative_rate, "recall": recall}
    asked = [name for name, value in {**given, "mean_loss": mean_loss}.items() if value is not None]
    if len(asked) > 1:
        raise ValueError(
            f"control_error makes one promise at a time; got {' and '.join(asked)}. Leave out all "
            "but one."
        )
    kind = asked[0] if asked else "error"
    _check_partner("class_", class_, kind in ("false_negative_rate", "recall"), kind)
    _check_partner("loss", loss, kind == "mean_loss", kind)
    if kind == "mean_loss":
        table = loss_of_answers(loss, classes)
        return Promise(kind, _bound(mean_loss, table), sure, loss=table)
    if kind == "error":
        return Promise(kind, DEFAULT_ERROR if error is None else _rate(error, "error"), sure)
    label = classes.tolist()[one_position(class_, classes)]
    missed = 1.0 - _rate(recall, "recall") if kind == "recall" else _rate(given[kind], kind)
    return Promise("false_negative_rate", round(missed, 12), sure, class_=label)


def _check_partner(name: str, value: Any, wanted: bool, kind: str) -> None:
    if wanted and value is None:
        what = "the class that must not be missed" if name == "class_" else "a table of losses"
        raise ValueError(f"{kind} needs {name}=, {what}; got none.")
    if value is not None and not wanted:
        partner = "false_negative_rate or recall" if name == "class_" else "mean_loss"
        raise ValueError(f"{name} belongs to {partner}; got {name}={value!r} without it.")


def _rate(value: Any, name: str) -> float:
    if not is_number(value) or not 0.0 < value < 1.0:
        usual = 0.05 if name in ("error", "false_negative_rate") else 0.9
        raise ValueError(
            f"{name} must be a number between 0 and 1, such as {usual}; got {value!r}."
        )
    return float(value)


def _bound(mean_loss: Any, table: FloatArray) -> float:
    low, high = float(table.min()), float(table.max())
    if not is_number(mean_loss) or not low < mean_loss < high:
        raise ValueError(
            f"mean_loss must lie between the smallest and the largest loss, {low:g} and {high:g}; "
            f"got {mean_loss!r}."
        )
    return float(mean_loss)
