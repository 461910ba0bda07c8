r"""``Suspicion``: the hypotheses "no value is wrong" and "the value of input j is wrong".

.. math:: P_0 \propto 1, \qquad
          P_j \propto \frac{\epsilon / J}{1 - \epsilon}\,\text{factor}_j, \qquad \epsilon = 0.2,

with J inputs and the factor of ``known_cells.py``. Under "j is wrong" the input counts as missing:
its expectation is used, and the variance that this leaves open shrinks the weights by κ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

from shafer._typing import BoolArray, FloatArray
from shafer.models.asking.known_cells import CellDistances
from shafer.models.uncertainty.moderation import moderating_factor

_ANY_WRONG = 0.2  # ε: how often a row has a wrong value, before it is seen
_SURE = 0.9


@final
@dataclass(frozen=True, eq=False)
class Suspicion:
    """Rows of one pattern of gaps, and the probability of each hypothesis.

    Attributes
    ----------
    far : CellDistances
    log_fine : array of shape (n,)
        ln P_0.
    log_wrong : array of shape (n, inputs)
        ln P_j of the known inputs.
    """

    far: CellDistances
    log_fine: FloatArray
    log_wrong: FloatArray

    @classmethod
    def of(cls, far: CellDistances, n_inputs: int) -> Suspicion:
        """Weigh the hypotheses, given the number of inputs of the model."""
        odds = far.log_factor + np.log(_ANY_WRONG / n_inputs / (1.0 - _ANY_WRONG))
        fine = np.zeros((len(odds), 1))
        everything = logsumexp(np.concatenate([fine, odds], axis=1), axis=1)
        return cls(far, -everything, odds - everything[:, None])

    @property
    def alarm(self) -> FloatArray:
        """The probability that some value is wrong, (n,)."""
        return np.asarray(0.0 - np.expm1(self.log_fine))

    @property
    def sure(self) -> BoolArray:
        """The rows in which one value is almost certainly wrong, (n,)."""
        return np.asarray((self.log_wrong > np.log(_SURE)).any(axis=1))

    @property
    def suspect(self) -> NDArray[np.intp]:
        """The input that is most probably wrong, (n,)."""
        return np.asarray(self.far.cells.which[np.argmax(self.log_wrong, axis=1)])

    def log_mixture(self, level: FloatArray, own_factor: FloatArray) -> FloatArray:
        """Return ln of the probabilities over all hypotheses, (n, K).

        Parameters
        ----------
        level : array of shape (K,)
            The logits at the feature means.
        own_factor : array of shape (n,)
            The factor of tempering and moderation on the weights.
        """
        cells, logits = self.far.cells, self.far.logits(level)
        as_given = own_factor * _shrinkage(cells.variance[None, :])
        result = log_softmax(as_given[:, None] * logits, axis=1) + self.log_fine[:, None]
        without = _shrinkage(cells.variance + cells.more_variance)
        for rows, changed in self.far.repaired(level):
            factor = own_factor[rows, None] * without
            repaired = log_softmax(factor[:, :, None] * changed, axis=2)
            repaired += self.log_wrong[rows, :, None]
            every = np.concatenate([result[rows, None, :], repaired], axis=1)
            result[rows] = logsumexp(every, axis=1)
        return np.asarray(result)


def _shrinkage(variance: FloatArray) -> FloatArray:
    """Return κ for variances of the logits (..., K)."""
    return moderating_factor(2.0 / (variance.shape[-1] - 1) * variance.sum(axis=-1))
