"""``DeferringPrediction``: the answer for each row, which rows are deferred, and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from shafer._checks.arrays import to_numpy
from shafer._kernels.products import product
from shafer._typing import BoolArray, FloatArray
from shafer.decision.dominance import choose_smallest
from shafer.decision.policy import AnswerRule, answers
from shafer.decision.ties import tie_width
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.notebook import paragraph
from shafer.evidence.table import native_frame

if TYPE_CHECKING:
    from shafer.deferral.control import DeferralControl


@final
@dataclass(frozen=True, eq=False, repr=False)
class DeferringPrediction:
    """Answers, and the rows that a person should decide: from ``predict_or_defer``.

    Attributes
    ----------
    labels : array of shape (n,)
        The model's answer for every row. The promise is about ``labels[~deferred]``; in a deferred
        row the answer is a suggestion.
    deferred : boolean array of shape (n,)
    reason : array of n texts
        Why a row is deferred, empty where it is decided. From its evidence: "nothing known",
        "unlike the training data", "components disagree", "fragile" or "close call". Whatever its
        evidence: "unknown group", "group too small" or "promise not reachable".
    probability : array of shape (n,)
        The betting probability of the answer.
    scores, thresholds : arrays of shape (n,)
        A row is decided if its score is greater than its threshold, by more than rounding. The
        score is the log-odds of ``probability``, or minus the expected loss if the promise is
        about a loss.
    by : array of shape (n,) or None
        The group of each row.
    classes : array of shape (K,)
    control : DeferralControl
        The thresholds and the promise.
    index : pandas index or None
        The labels of the rows.

    See Also
    --------
    shafer.Explainer.predict_or_defer : Makes one.
    DeferralControl : The thresholds behind it.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> X = np.linspace(-3, 3, 300)[:, None]
    >>> y = (X[:, 0] > 0.2).astype(int)
    >>> explainer = shafer.Explainer(([2.0], 0.0), X).control_error(X, y, error=0.02)
    >>> found = explainer.predict_or_defer([[0.0], [2.0]])
    >>> found.labels, found.deferred, str(found.reason[0])
    (array([0, 1]), array([ True, False]), 'nothing known')
    """

    labels: NDArray[Any]
    deferred: BoolArray
    reason: NDArray[Any]
    probability: FloatArray
    scores: FloatArray
    thresholds: FloatArray
    by: NDArray[Any] | None
    classes: NDArray[Any]
    control: DeferralControl
    index: Any = None

    @property
    def share_decided(self) -> float:
        """The share of rows that are decided; 0 if there are no rows."""
        return float(1.0 - self.deferred.mean()) if len(self) else 0.0

    @property
    def promise(self) -> str:
        """What holds for the decided rows, in words."""
        return self.control.text

    @property
    def reason_counts(self) -> dict[str, int]:
        """How many rows are deferred for each reason, the most frequent first."""
        return dict(Counter(str(word) for word in self.reason[self.deferred]).most_common())

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a data frame: ``answer, deferred, why, probability`` and, if any, ``group``.

        The first three are the columns that ``shafer score`` writes.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the data frame.

        Returns
        -------
        data frame of n rows
        """
        columns: dict[str, Any] = {
            "answer": self.labels.tolist(),
            "deferred": self.deferred,
            "why": self.reason.tolist(),
            "probability": self.probability,
        }
        if self.by is not None:
            columns["group"] = self.by.tolist()
        return native_frame(columns, self.index, backend)

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"<DeferringPrediction: {self._size}; {self.promise}>"

    @property
    def _size(self) -> str:
        decided = len(self) - int(self.deferred.sum())
        return f"{len(self)} rows, {decided} decided ({100 * self.share_decided:.0f} %)"

    def _repr_html_(self) -> str:
        head = paragraph(f"{self._size}. Promise: {self.promise}.")
        if not self.deferred.any():
            return head
        rows = "".join(
            f"<tr><td style='text-align:left'>{escape(word)}</td><td>{count}</td></tr>"
            for word, count in self.reason_counts.items()
        )
        names = "<tr><th style='text-align:left'>deferred because</th><th>rows</th></tr>"
        return f"{head}<table>{names}{rows}</table>"


# The answer for each row, and a score of how sure it is.


class SureAnswers(NamedTuple):
    """Positions of the answers among the classes, their scores and probabilities, (n,) each."""

    positions: NDArray[np.intp]
    scores: FloatArray
    probability: FloatArray


def sure_answers(
    bet: MassEvidence, loss: FloatArray | None = None, rule: AnswerRule | None = None
) -> SureAnswers:
    r"""Return the answer of each row: by the rule, by the loss, or the most probable class.

    The score is the log-odds of the answer's betting probability: the same order, and two
    probabilities that both round to 1 still differ. With a loss it is minus the expected loss,
    which for 0-1 losses is the same order again. The first class wins a tie, up to rounding.

    Parameters
    ----------
    bet : MassEvidence
        The evidence that bets are made with: moderated or tempered, not discounted.
    loss : array of shape (K, K), optional
        The loss of each answer (row) under each true class (column).
    rule : Cutoff or LeastLoss, optional
        What answers.
    """
    probability = to_numpy(bet.betting_probability).astype(np.float64)
    rows = np.arange(len(probability))
    if loss is not None:
        expected = product(probability, loss.T)
        chosen = (
            _first_smallest(expected, float(np.abs(loss).max()))
            if rule is None
            else answers(_logits(bet, probability), rule)
        )
        return SureAnswers(chosen, -expected[rows, chosen], probability[rows, chosen])
    logits = _logits(bet, probability)
    chosen = _first_smallest(-logits) if rule is None else answers(logits, rule)
    others = logits.copy()
    others[rows, chosen] = -np.inf
    scores = logits[rows, chosen] - logsumexp(others, axis=1)
    return SureAnswers(chosen, scores, probability[rows, chosen])


def _first_smallest(risk: FloatArray, unit: float = 1.0) -> NDArray[np.intp]:
    width = tie_width(risk.min(axis=1, keepdims=True), unit)
    return np.asarray(np.argmax(choose_smallest(risk, width), axis=1))


def _logits(bet: MassEvidence, probability: FloatArray) -> FloatArray:
    if isinstance(bet, Evidence):
        return to_numpy(bet.logits).astype(np.float64)
    with np.errstate(divide="ignore"):  # a class that is ruled out
        return np.log(probability)
