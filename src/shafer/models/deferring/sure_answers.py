"""The answer for each row, and a score of how sure it is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from shafer._typing import FloatArray
from shafer._validation import to_numpy
from shafer.evidence import Evidence, MassEvidence


class SureAnswers(NamedTuple):
    """Positions of the answers among the classes, their scores and probabilities, (n,) each."""

    positions: NDArray[np.intp]
    scores: FloatArray
    probability: FloatArray


def sure_answers(bet: MassEvidence, loss: FloatArray | None = None) -> SureAnswers:
    r"""Return the most probable class of each row; with a loss, the one of least expected loss.

    The score is the log-odds of the largest betting probability: the same order, and two
    probabilities that both round to 1 still differ. With a loss it is minus the expected loss,
    which for 0-1 losses is the same order again.

    Parameters
    ----------
    bet : MassEvidence
        The evidence that bets are made with: moderated or tempered, not discounted.
    loss : array of shape (K, K), optional
        The loss of each answer (row) under each true class (column).
    """
    probability = to_numpy(bet.betting_probability).astype(np.float64)
    rows = np.arange(len(probability))
    if loss is not None:
        expected = probability @ loss.T
        answers = np.argmin(expected, axis=1)
        return SureAnswers(answers, -expected[rows, answers], probability[rows, answers])
    logits = _logits(bet, probability)
    answers = np.argmax(logits, axis=1)
    others = logits.copy()
    others[rows, answers] = -np.inf
    scores = logits[rows, answers] - logsumexp(others, axis=1)
    return SureAnswers(answers, scores, probability[rows, answers])


def _logits(bet: MassEvidence, probability: FloatArray) -> FloatArray:
    if isinstance(bet, Evidence):
        return to_numpy(bet.logits).astype(np.float64)
    with np.errstate(divide="ignore"):  # a class that is ruled out
        return np.log(probability)
