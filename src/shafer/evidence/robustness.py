r"""Would a decision stand if components were lost? The chance that it falls.

With up to 8 components all combinations of losses are tried. With more, the sum of what is lost is
taken as normal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray
from scipy.special import log_ndtr

from shafer import _kernels as kernels
from shafer._checks.arrays import to_numpy
from shafer._typing import Array, FloatArray
from shafer.decision.acts import is_number
from shafer.evidence.sources import WeightSource

MOST_COMBINED = 8  # all combinations of losses are tried up to here
_BLOCK = 2**20  # elements of (rows, G, K) in memory at a time


def source_fragility(
    source: WeightSource,
    chance: float,
    certain: Sequence[int] = (),
    shift: FloatArray | None = None,
) -> FloatArray:
    """Return :func:`loss_fragility` of all rows of a source; few weights are made at a time."""
    *batch, n_components, n_classes = source.shape
    result = np.empty(batch)
    step = max(1, _BLOCK // max(1, math.prod(source.shape[1:])))
    for start in range(0, batch[0], step):
        rows = range(start, min(start + step, batch[0]))
        part = source.rows(list(rows))
        weights = to_numpy(part.dense())
        base = np.broadcast_to(to_numpy(part.base_shares()), weights.shape)
        flat = (-1, n_components, n_classes)
        found = loss_fragility(weights.reshape(flat), base.reshape(flat), chance, certain, shift)
        result[rows.start : rows.stop] = found.reshape(weights.shape[:-2])
    return result


def loss_fragility(
    weights: FloatArray,
    base: FloatArray,
    chance: float,
    certain: Sequence[int] = (),
    shift: FloatArray | None = None,
) -> FloatArray:
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
    certain : positions of components
        The base rate, which cannot be lost.
    shift : array of shape (K,), optional
        What a threshold adds to the logits.
    """
    weights = np.asarray(weights, dtype=np.float64)
    logits = weights.sum(axis=1) if shift is None else weights.sum(axis=1) + shift
    own = np.delete(weights - base, list(certain), axis=1)
    lost = lead_over_others(own, np.argmax(logits, axis=1))
    return loss_probability(logits, lost, chance)


def lead_over_others(contributions: FloatArray, chosen: Any) -> FloatArray:
    """Return how much more each component gives the chosen class than each class, (n, G, K)."""
    own = np.take_along_axis(contributions, np.asarray(chosen)[:, None, None], axis=2)
    return np.asarray(own - contributions)


def loss_probability(logits: FloatArray, lost: FloatArray, chance: float) -> FloatArray:
    """Return the chance to fall, (n,), given what the lead loses with each component (n, G, K).

    All combinations of losses are tried for few components; for more, their sum is taken as
    normal. A factor on all weights of a row changes nothing, so none is too large for squares.
    """
    size = np.maximum(np.abs(logits).max(axis=1), np.abs(lost).max(axis=(1, 2), initial=0.0))
    size = np.where(size > 0.0, size, 1.0)
    logits, lost = logits / size[:, None], lost / size[:, None, None]
    if lost.shape[1] <= MOST_COMBINED:
        step = _BLOCK >> lost.shape[1]
        parts = [slice(start, start + step) for start in range(0, len(logits), step)]
        return np.concatenate([_combined(logits[part], lost[part], chance) for part in parts])
    return normal_loss_probability(logits, lost, chance)


def normal_loss_probability(logits: FloatArray, lost: FloatArray, chance: float) -> FloatArray:
    """Return the chance to fall, (n,), by the normal approximation."""
    margins, chosen = leads(logits)
    mean = margins - chance * lost.sum(axis=1)
    size = chance * (1.0 - chance)
    variance = size * np.einsum("ngk,ngk->nk", lost, lost)

    def covariance(classes: NDArray[np.intp]) -> FloatArray:
        part = np.take_along_axis(lost, classes[:, None, :], axis=2)
        return np.asarray(size * np.swapaxes(part, 1, 2) @ part)

    return fall_probability(mean, variance, covariance, chosen)


def _combined(logits: FloatArray, lost: FloatArray, chance: float) -> FloatArray:
    """Return the chance to fall, (n,), by all 2^G combinations of losses. A tie stands."""
    n_components = lost.shape[1]
    gone = (np.arange(2**n_components)[:, None] >> np.arange(n_components)) & 1  # (2^G, G)
    count = gone.sum(axis=1)
    share = chance**count * (1.0 - chance) ** (n_components - count)
    margins, chosen = leads(logits)
    rounding = 1e-12 * (np.abs(margins) + np.abs(lost).sum(axis=1))  # (n, K)
    falls = np.zeros((len(logits), len(gone)), dtype=bool)
    for k in range(logits.shape[1]):
        others = chosen != k
        lead = margins[others, k, None] - lost[others, :, k] @ gone.T
        falls[others] |= lead < -rounding[others, k, None]
    return np.asarray(np.where(falls, share, 0.0).sum(axis=1))


def check_chance(q: Any) -> float:
    """Return the chance of a loss as a float after checking its range."""
    if not is_number(q) or not 0.0 <= q <= 1.0:
        raise ValueError(
            f"q must be a number from 0 (nothing is lost) to 1 (everything is lost); got {q!r}."
        )
    return float(q)


# The chance that a decision falls, if the leads over the other classes are normal.

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


# The conflict that the components have by themselves, summed over them.

# Elements of (rows, G, K) held at a time; rows are read in blocks.


def own_conflict(source: WeightSource) -> Array:
    """Return the sum of the components' own weights of conflict, (n,)."""
    n, n_components, n_classes = source.shape
    size = max(1, _BLOCK // max(1, n_components * n_classes))
    starts = range(0, max(n, 1), size)
    blocks = [np.arange(start, min(start + size, n)) for start in starts]
    parts = [
        kernels.own_weights_of_conflict(
            (source if len(blocks) == 1 else source.rows(rows)).dense()
        ).sum(-1)
        for rows in blocks
    ]
    return parts[0] if len(parts) == 1 else array_namespace(*parts).concat(parts)
