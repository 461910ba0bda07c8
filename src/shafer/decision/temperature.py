r"""Tempering: one factor on all weights, fitted by the log loss of held-out rows.

The log loss of :math:`\mathrm{softmax}(\lambda z)` is convex in the factor :math:`\lambda`. Where
the logits separate the held-out rows it has no minimum, and where the rows are few its minimum is
mostly chance. Therefore a Gamma prior with its mode at 1 is added,

.. math:: \sum_i -\ln \mathrm{softmax}_{y_i}(\lambda z_i) + a (\lambda - 1 - \ln \lambda),

which is convex too, keeps the factor positive and finite, and is soon outweighed by data: near
1 it acts as a normal prior on :math:`\ln \lambda` with variance 1/a.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax

from shafer._checks.arrays import float_array, row_weights, to_numpy
from shafer._checks.labels import true_classes
from shafer._typing import FloatArray

PRIOR_STRENGTH = 4.0
"""The a of the prior: a standard deviation of one half for the logarithm of the factor."""


def tempering_factor(
    logits: Any, y: Any, sample_weight: Any = None, *, classes: Any = None
) -> float:
    """Return the factor on the weights that has the least log loss on held-out rows.

    Parameters
    ----------
    logits : array of shape (n, K)
        Of rows the model was not trained on.
    y : array of shape (n,)
        The true class of each row, by label.
    sample_weight : array of shape (n,), optional
        Weights of the rows; only their ratios count.
    classes : array of shape (K,), optional
        The labels in ``y``, in the order of the columns of ``logits``. May be left out if the
        labels are the numbers 0..K−1, each of them present.

    Returns
    -------
    float
        Below 1 if the model is too sure of itself.

    See Also
    --------
    shafer.Explainer.temper : Finds the factor for a model and applies it.
    shafer.Evidence.tempered : Applies a factor to evidence.

    Examples
    --------
    >>> import numpy as np
    >>> logits = np.array([[4.0, -4.0], [3.0, -3.0], [2.0, -2.0], [-3.0, 3.0]])
    >>> round(tempering_factor(logits, np.array([0, 0, 1, 1])), 2)  # one of four is badly wrong
    0.56
    """
    values = to_numpy(float_array(logits, "logits", ndim=(2,))).astype(np.float64)
    if not len(values):
        raise ValueError("tempering_factor needs at least one held-out row; got none.")
    positions = true_classes(y, classes, values.shape[1], n=len(values)).positions
    weight = _shares(sample_weight, len(positions))
    # Distances below the largest logit: a constant over the classes changes nothing.
    below = values - np.max(values, axis=1, keepdims=True)
    of_truth = np.take_along_axis(below, positions[:, None], axis=1)[:, 0]

    def slope(log_factor: float) -> Any:
        factor = np.exp(log_factor)
        expected = np.sum(softmax(factor * below, axis=1) * below, axis=1)
        return factor * (weight @ (expected - of_truth)) + PRIOR_STRENGTH * (factor - 1.0)

    # Beyond these bounds the prior wins: it meets a slope of the loss in ln λ of at most λ times
    # the steepest, where all rows are wrong, and of at least −1/e for each row and rival class,
    # since x e^{−x} is never more.
    steepest = float(weight @ np.max(-below, axis=1))
    low = -np.log1p(steepest / PRIOR_STRENGTH) - 1.0
    high = np.log1p(values.size / PRIOR_STRENGTH)
    return float(np.exp(brentq(slope, low, high, xtol=1e-10)))


def _shares(sample_weight: Any, n: int) -> FloatArray:
    """Return the weights of n rows, scaled to add up to n."""
    weight = row_weights(sample_weight, n)
    if weight is None:
        return np.ones(n)
    share = weight / weight.max()  # neither too large nor too small to be added up
    scaled: FloatArray = n * share / share.sum()
    return scaled
