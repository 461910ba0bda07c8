r"""Would a decision stand if components were lost? The chance that it falls, by a normal law.

A decision for class a falls if some other class gets a larger logit. If the margins
:math:`z_a - z_k` are normal with known means and variances, and treated as independent,

.. math:: P = 1 - \prod_{k \ne a} \Phi(\text{mean}_k / \text{sd}_k).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_ndtr

from shafer._typing import FloatArray
from shafer.decision.option_checks import is_number

_BLOCK = 2**20  # elements of (rows, G, K) in memory at a time


def fall_probability(
    margins: FloatArray, variances: FloatArray, chosen: FloatArray | Any
) -> FloatArray:
    """Return the chance that some margin turns negative, (n,).

    Parameters
    ----------
    margins, variances : arrays of shape (n, K)
        Mean and variance of the lead of the chosen class over each class.
    chosen : array of n positions
        The chosen class of each row, whose own column plays no part. Without variance, a margin
        below zero falls for certain, and a margin of zero or more stands.
    """
    spread = np.sqrt(np.maximum(variances, 0.0))
    certain = np.where(margins < 0.0, -np.inf, np.inf)
    with np.errstate(over="ignore"):  # a margin of very many spreads is as good as certain
        ratio = np.divide(margins, spread, out=certain, where=spread > 0.0)
    log_stands = log_ndtr(ratio)
    log_stands[np.arange(len(margins)), chosen] = 0.0
    # Adding a zero turns -0.0 into 0.0.
    return np.asarray(0.0 - np.expm1(log_stands.sum(axis=1)))


def loss_fragility(weights: FloatArray, base: FloatArray, chance: float) -> FloatArray:
    r"""Return the chance that losing components at random changes the decision, (n,).

    A lost component keeps only its weight at the background means, its share of the base rate.
    With a the class of the largest logit, and
    :math:`d_{gk} = (w_{ga} - b_{ga}) - (w_{gk} - b_{gk})` what the lead of a over k loses with
    component g, the lead after losses with chance q has the mean
    :math:`z_a - z_k - q \sum_g d_{gk}` and the variance :math:`q (1 - q) \sum_g d_{gk}^2`.

    Parameters
    ----------
    weights : array of shape (n, G, K)
    base : array that broadcasts to (n, G, K)
        The weights at the background means.
    chance : float
        The chance q of each component to be lost, independently of the others.
    """
    n, n_components, n_classes = weights.shape
    base = np.broadcast_to(base, weights.shape)
    result = np.empty(n)
    step = max(1, _BLOCK // max(1, n_components * n_classes))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        part = np.asarray(weights[rows], dtype=np.float64)
        logits = part.sum(axis=1)
        lost = lead_over_others(part - base[rows], np.argmax(logits, axis=1))
        result[rows] = loss_probability(logits, lost, chance)
    return result


def lead_over_others(contributions: FloatArray, chosen: Any) -> FloatArray:
    """Return how much more each component gives the chosen class than each class, (n, G, K)."""
    own = np.take_along_axis(contributions, np.asarray(chosen)[:, None, None], axis=2)
    return np.asarray(own - contributions)


def loss_probability(logits: FloatArray, lost: FloatArray, chance: float) -> FloatArray:
    """Return the chance to fall, (n,), given what the lead loses with each component (n, G, K)."""
    chosen = np.argmax(logits, axis=1)
    margins = logits[np.arange(len(logits)), chosen][:, None] - logits
    mean = margins - chance * lost.sum(axis=1)
    variance = chance * (1.0 - chance) * np.einsum("ngk,ngk->nk", lost, lost)
    return fall_probability(mean, variance, chosen)


def check_chance(q: Any) -> float:
    """Return the chance of a loss as a float after checking its range."""
    if not is_number(q) or not 0.0 <= q <= 1.0:
        raise ValueError(
            f"q must be a number from 0 (nothing is lost) to 1 (everything is lost); got {q!r}."
        )
    return float(q)
