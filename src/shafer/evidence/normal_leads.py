r"""The chance that a decision falls, if the leads over the other classes are normal.

A decision for class a falls if some lead :math:`L_k = z_a - z_k` turns negative. For two classes
the chance is :math:`\Phi(-\text{mean} / \text{sd})`. For more, the leads are correlated, because
all of them contain :math:`z_a`. They are taken one after the other, the most endangered first: the
others get the mean and the covariance that they have if it stays positive, and are taken as normal
again (Mendell and Elston 1974). Treating them as independent would count the same accident twice.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from shafer._typing import FloatArray

_MOST_ENDANGERED = 8  # leads whose correlation counts; the others hardly ever turn
_LOG_ROOT = 0.5 * np.log(2.0 * np.pi)


def leads(logits: FloatArray) -> tuple[FloatArray, NDArray[np.intp]]:
    """Return the lead of the class of the largest logit over each class (n, K), and that class."""
    chosen = np.argmax(logits, axis=1)
    return logits[np.arange(len(logits)), chosen][:, None] - logits, chosen


def fall_probability(
    mean: FloatArray,
    variance: FloatArray,
    covariance: Callable[[NDArray[np.intp]], FloatArray],
    chosen: NDArray[np.intp],
) -> FloatArray:
    """Return the chance that some lead turns negative, (n,).

    Parameters
    ----------
    mean, variance : arrays of shape (n, K)
        Of the lead of the chosen class over each class. Without variance, a lead below zero falls
        for certain, and a lead of zero or more stands.
    covariance : callable
        From positions of classes (n, M) to the covariance of these leads, (n, M, M).
    chosen : array of n positions
        The chosen class of each row, whose own column plays no part.
    """
    ratio = _ratio(mean, variance)
    ratio[np.arange(len(mean)), chosen] = np.inf
    most = min(mean.shape[1] - 1, _MOST_ENDANGERED)
    order = np.argsort(ratio, axis=1, kind="stable")
    first, rest = order[:, :most], order[:, most:]
    log_stands = log_ndtr(np.take_along_axis(ratio, rest, axis=1)).sum(axis=1)
    if most == 1:
        log_stands += log_ndtr(np.take_along_axis(ratio, first, axis=1))[:, 0]
    else:
        endangered = np.take_along_axis(mean, first, axis=1)
        log_stands += _log_all_stand(endangered, covariance(first))
    # Adding a zero turns -0.0 into 0.0.
    return np.asarray(0.0 - np.expm1(log_stands))


def _log_all_stand(mean: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return the logarithm of the chance that all leads stay positive, (n,)."""
    mean, covariance = mean.copy(), covariance.copy()
    total = np.zeros(len(mean))
    for j in range(mean.shape[1]):
        variance = np.maximum(covariance[:, j, j], 0.0)
        ratio = _ratio(mean[:, j], variance)
        log_stands = log_ndtr(ratio)
        total += log_stands
        inside = np.isfinite(ratio)
        at = np.where(inside, ratio, 0.0)
        pull = np.where(inside, np.exp(-0.5 * at**2 - _LOG_ROOT - log_ndtr(at)), 0.0)
        shrink = np.clip(pull * (pull + at), 0.0, 1.0)
        across = covariance[:, j, j + 1 :]
        scale = np.sqrt(variance)[:, None]
        across = np.divide(across, scale, out=np.zeros_like(across), where=scale > 0.0)
        mean[:, j + 1 :] += across * pull[:, None]
        change = across[:, :, None] * across[:, None, :]
        covariance[:, j + 1 :, j + 1 :] -= shrink[:, None, None] * change
    return total


def _ratio(mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Return mean / sd; without variance, −∞ below zero and +∞ else."""
    spread = np.sqrt(np.maximum(variance, 0.0))
    certain = np.where(mean < 0.0, -np.inf, np.inf)
    with np.errstate(over="ignore"):  # a lead of very many spreads is as good as certain
        return np.divide(mean, spread, out=certain, where=spread > 0.0)
