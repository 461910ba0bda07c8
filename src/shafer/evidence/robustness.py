r"""Would a decision stand if components were lost? The chance that it falls.

With up to 11 components all combinations of losses are tried. With up to 64, losses are drawn 2048
times, evenly spread and always the same. With more, those of the 64 components that can change a
lead most are drawn, and the sum of the others is taken as normal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import qmc

from shafer import _kernels as kernels
from shafer._checks.arrays import to_numpy
from shafer._kernels.products import product
from shafer._typing import Array, FloatArray
from shafer.decision.acts import is_number
from shafer.decision.policy import AnswerRule, LeastLoss
from shafer.evidence.sources import WeightSource

MOST_COMBINED = 11  # all combinations of losses are tried up to here
MOST_DRAWN = 64  # losses are drawn one by one up to here
_MOST_DIMENSIONS = 1000  # of evenly spread points
_BLOCK = 2**20  # elements of (rows, G, K) in memory at a time


def source_fragility(
    source: WeightSource,
    chance: float,
    certain: Sequence[int] = (),
    rule: AnswerRule | None = None,
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
        found = loss_fragility(weights.reshape(flat), base.reshape(flat), chance, certain, rule)
        result[rows.start : rows.stop] = found.reshape(weights.shape[:-2])
    return result


def loss_fragility(
    weights: FloatArray,
    base: FloatArray,
    chance: float,
    certain: Sequence[int] = (),
    rule: AnswerRule | None = None,
) -> FloatArray:
    r"""Return the chance that losing components at random changes the decision, (n,).

    A lost component keeps only its weight at the background means, its share of the base rate.
    With a the class of the largest logit, and
    :math:`d_{gk} = (w_{ga} - b_{ga}) - (w_{gk} - b_{gk})` what the lead of a over k loses with
    component g, the decision falls if :math:`\sum_{g \text{ lost}} d_{gk} > z_a - z_k` for some k.

    Parameters
    ----------
    weights : array of shape (n, G, K)
    base : array that broadcasts to (n, G, K)
        The weights at the background means.
    chance : float
        The chance q of each component to be lost, independently of the others.
    certain : positions of components
        The base rate, which cannot be lost.
    rule : Cutoff or LeastLoss, optional
        What answers; by default the most probable class. A cutoff shifts the logits. With losses
        of more classes, all combinations of up to 11 components are tried, and evenly spread
        losses of more; the error is then below 0.02.
    """
    weights = np.asarray(weights, dtype=np.float64)
    logits = weights.sum(axis=1)
    own = np.delete(weights - base, list(certain), axis=1)
    if isinstance(rule, LeastLoss):
        return changed_answers(logits, own, chance, rule)
    logits = logits if rule is None else logits + rule.shift
    lost = lead_over_others(own, np.argmax(logits, axis=1))
    return loss_probability(logits, lost, chance)


def lead_over_others(contributions: FloatArray, chosen: Any) -> FloatArray:
    """Return how much more each component gives the chosen class than each class, (n, G, K)."""
    own = np.take_along_axis(contributions, np.asarray(chosen)[:, None, None], axis=2)
    return np.asarray(own - contributions)


def loss_probability(logits: FloatArray, lost: FloatArray, chance: float) -> FloatArray:
    """Return the chance to fall, (n,), given what the lead loses with each component (n, G, K).

    A factor on all weights of a row changes nothing, so none is too large for squares.
    """
    size = np.maximum(np.abs(logits).max(axis=1), np.abs(lost).max(axis=(1, 2), initial=0.0))
    size = np.where(size > 0.0, size, 1.0)
    margins, chosen = leads(logits / size[:, None])
    own = np.arange(logits.shape[1]) == chosen[:, None]
    others = np.argsort(own, axis=1, kind="stable")[:, :-1]
    margins = np.take_along_axis(margins, others, axis=1)
    lost = np.take_along_axis(lost / size[:, None, None], others[:, None, :], axis=2)
    n_drawn = min(lost.shape[1], MOST_DRAWN)
    n_normal = 0 if lost.shape[1] == n_drawn else min(margins.shape[1], _MOST_ENDANGERED)
    patterns = _loss_patterns(n_drawn, n_normal, chance)
    step = max(1, _BLOCK // len(patterns.share))
    parts = [slice(start, start + step) for start in range(0, len(margins), step)]
    found = [_share_of_falls(margins[part], lost[part], chance, patterns) for part in parts]
    return np.concatenate([np.zeros(0), *found])


def changed_answers(
    logits: FloatArray, lost: FloatArray, chance: float, rule: LeastLoss
) -> FloatArray:
    """Return the chance of another answer, (n,), given what each component adds (n, G, K)."""
    patterns = _lost_of_many(lost.shape[1], chance)
    now, result = rule.positions(logits), np.empty(len(logits))
    step = max(1, _BLOCK // (len(patterns.share) * logits.shape[1]))
    for start in range(0, len(logits), step):
        part = slice(start, start + step)
        left = logits[part, None, :] - patterns.gone @ lost[part]
        changed = rule.positions(left) != now[part, None]
        result[part] = product(changed.astype(np.float64), patterns.share[:, None])[:, 0]
    return result


def _lost_of_many(n_components: int, chance: float) -> _Patterns:
    """Return patterns of losses of all components, also of very many."""
    if n_components <= _MOST_DIMENSIONS:
        return _loss_patterns(n_components, 0, chance)
    random = np.random.default_rng(0)
    gone = np.asarray(random.random((2**MOST_COMBINED, n_components)) < chance, dtype=np.float64)
    return _Patterns(gone, np.full(len(gone), 1.0 / len(gone)), np.zeros((len(gone), 0)))


class _Patterns(NamedTuple):
    """Which components are lost, (P, G), what each pattern counts (P,), normal draws (P, M)."""

    gone: FloatArray
    share: FloatArray
    normal: FloatArray


@lru_cache(maxsize=4)
def _loss_patterns(n_components: int, n_normal: int, chance: float) -> _Patterns:
    """Return all combinations of losses with their chances, or evenly spread draws of losses."""
    if n_components <= MOST_COMBINED:
        gone = (np.arange(2**n_components)[:, None] >> np.arange(n_components)) & 1
        count = gone.sum(axis=1)
        share = np.asarray(chance**count * (1.0 - chance) ** (n_components - count), np.float64)
        return _Patterns(gone.astype(np.float64), share, np.zeros((len(gone), 0)))
    points = sobol_points(n_components + n_normal, 2**MOST_COMBINED)
    drawn = np.asarray(points[:, :n_components] < chance, dtype=np.float64)
    even = np.full(len(points), 1.0 / len(points))
    return _Patterns(drawn, even, ndtri(points[:, n_components:]))


def _share_of_falls(
    margins: FloatArray, lost: FloatArray, chance: float, patterns: _Patterns
) -> FloatArray:
    """Return the share of the patterns under which some lead turns negative, (n,). A tie stands.

    ``margins`` are the leads over the other classes, (n, K − 1), and ``lost`` is (n, G, K − 1).
    """
    root = None
    if lost.shape[1] > MOST_DRAWN:
        margins, lost = _in_danger(margins, lost, chance)
        lost, rest = lost[:, :MOST_DRAWN], lost[:, MOST_DRAWN:]
        margins = margins - chance * rest.sum(axis=1)
        root = _root(chance * (1.0 - chance) * np.swapaxes(rest, 1, 2) @ rest)
    rounding = 1e-12 * (np.abs(margins) + np.abs(lost).sum(axis=1))
    falls = np.zeros((len(margins), len(patterns.share)), dtype=bool)
    for k in range(margins.shape[1]):
        lead = margins[:, [k]] - lost[:, :, k] @ patterns.gone.T
        if root is not None:
            lead += root[:, k, : k + 1] @ patterns.normal[:, : k + 1].T
        falls |= lead < -rounding[:, [k]]
    return np.asarray(product(falls.astype(np.float64), patterns.share[:, None])[:, 0])


_MOST_ENDANGERED = 1000
_SAFE = 6.0  # standard deviations of a lead that is not lost


def _in_danger(
    margins: FloatArray, lost: FloatArray, chance: float
) -> tuple[FloatArray, FloatArray]:
    """Keep the leads that may turn, the most endangered first: thousands of others never do.

    The components come in the order of what they can change of these leads, the largest first.
    """
    spread = np.sqrt(chance * (1.0 - chance) * np.einsum("ngk,ngk->nk", lost, lost))
    mean = margins - chance * lost.sum(axis=1)
    certain = np.where(mean < 0.0, -np.inf, np.inf)
    ratio = np.divide(mean, spread, out=certain, where=spread > 0.0)
    open_ = ratio < _SAFE
    size = np.where(open_[:, None, :], np.abs(lost), 0.0).max(axis=2, initial=0.0)
    most = min(int(open_.sum(axis=1).max(initial=0)), _MOST_ENDANGERED)
    leads_first = np.argsort(ratio, axis=1, kind="stable")[:, :most]
    largest_first = np.argsort(-size, axis=1, kind="stable")
    margins = np.take_along_axis(margins, leads_first, axis=1)
    lost = np.take_along_axis(lost, leads_first[:, None, :], axis=2)
    return margins, np.take_along_axis(lost, largest_first[:, :, None], axis=1)


def _root(covariance: FloatArray) -> FloatArray:
    """Return a triangular root of covariances (n, K, K), which may be singular."""
    variance = np.trace(covariance, axis1=1, axis2=2)[:, None, None]
    jitter = 1e-12 * np.maximum(variance, 1e-280) * np.eye(covariance.shape[1])
    return np.asarray(np.linalg.cholesky(covariance + jitter))


def sobol_points(n_dimensions: int, n_points: int) -> FloatArray:
    """Return points that fill the unit cube evenly, (n_points, n_dimensions); always the same."""
    return np.asarray(qmc.Sobol(n_dimensions, scramble=True, seed=0).random(n_points))


def check_chance(q: Any) -> float:
    """Return the chance of a loss as a float after checking its range."""
    if not is_number(q) or not 0.0 <= q <= 1.0:
        raise ValueError(
            f"q must be a number from 0 (nothing is lost) to 1 (everything is lost); got {q!r}."
        )
    return float(q)


def leads(logits: FloatArray) -> tuple[FloatArray, NDArray[np.intp]]:
    """Return the lead of the class of the largest logit over each class (n, K), and that class."""
    chosen = np.argmax(logits, axis=1)
    return logits[np.arange(len(logits)), chosen][:, None] - logits, chosen


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
