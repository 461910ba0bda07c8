r"""Tempering: one factor on all weights, fitted by the log loss of held-out rows.

The log loss of :math:`\mathrm{softmax}(\lambda z)` is convex in the factor :math:`\lambda`. Where
the logits separate the held-out rows it has no minimum, and where the rows are few its minimum is
mostly chance. Therefore a Gamma prior with its mode at 1 is added,

.. math:: \sum_i -\ln \mathrm{softmax}_{y_i}(\lambda z_i) + a (\lambda - 1 - \ln \lambda),

which is convex too, keeps the factor positive and finite, and is soon outweighed by data: near
1 it is worth a normal prior on :math:`\ln \lambda` with variance 1/a.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import softmax

from shafer._typing import FloatArray

PRIOR_STRENGTH = 4.0
"""The a of the prior: a standard deviation of one half for the logarithm of the factor."""


def tempering_factor(
    logits: FloatArray, truth: NDArray[np.intp], sample_weight: FloatArray | None = None
) -> float:
    """Return the factor on the weights that suits held-out rows best, by log loss.

    Parameters
    ----------
    logits : array of shape (n, K)
        Of rows the model was not trained on.
    truth : array of shape (n,)
        The position of each row's true class.
    sample_weight : array of shape (n,), optional
        Weights of the rows; only their ratios count.

    Examples
    --------
    >>> import numpy as np
    >>> logits = np.array([[4.0, -4.0], [3.0, -3.0], [2.0, -2.0], [-3.0, 3.0]])
    >>> round(tempering_factor(logits, np.array([0, 0, 1, 1])), 2)  # one of four is badly wrong
    0.56
    """
    n = len(truth)
    weight = np.ones(n) if sample_weight is None else n * sample_weight / np.sum(sample_weight)
    # Distances below the largest logit: a constant over the classes changes nothing.
    below = logits - np.max(logits, axis=1, keepdims=True)
    of_truth = np.take_along_axis(below, truth[:, None], axis=1)[:, 0]

    def slope(log_factor: float) -> Any:
        factor = np.exp(log_factor)
        expected = np.sum(softmax(factor * below, axis=1) * below, axis=1)
        return factor * (weight @ (expected - of_truth)) + PRIOR_STRENGTH * (factor - 1.0)

    # Where the loss is steepest the prior still wins beyond these bounds.
    steepest = float(weight @ np.max(-below, axis=1))
    low = -np.log1p(steepest / PRIOR_STRENGTH) - 1.0
    high = np.log1p(steepest / PRIOR_STRENGTH) + 1.0
    return float(np.exp(brentq(slope, low, high, xtol=1e-10)))
