r"""The chance that a decision falls, once missing inputs are known or known ones are lost.

Given the known inputs, the lead of the chosen class a over k is normal with mean
:math:`z_a - z_k` and variance :math:`V_{ak} = (\beta_a - \beta_k)^T S (\beta_a - \beta_k)`. The
leads are correlated; ``fall_probability`` has the chance that all stay positive, which is exact for
two classes. A factor on the weights, such as tempering, does not change the class of the largest
logit, so it plays no part.

A threshold shifts the log-odds, so that two classes stay exact. The answer that may fall is that of
the probabilities as they are now, and these are nearer to one half than they will be. With a
threshold far from one half the answer may be one that the expected logits do not have. Losses of
more classes have regions without a closed form: the answers at 4096 evenly spread points are
compared, with an error below 0.01.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky
from scipy.special import erfc, gamma, ndtri

from shafer._checks.labels import is_one_label
from shafer._text import listed
from shafer._typing import FloatArray
from shafer.asking.information import unit_roots
from shafer.asking.inputs import AskedModel, AskedRows, LinearInputs, open_covariance
from shafer.asking.known_cells import CellDistances, KnownCells
from shafer.decision.policy import AnswerRule, Cutoff, LeastLoss
from shafer.evidence.robustness import (
    changed_answers,
    check_chance,
    lead_over_others,
    leads,
    loss_probability,
    sobol_points,
)
from shafer.explain.calibration import moderating_factor
from shafer.explain.missing import patterns


def overturn(asked: AskedModel, X: Any, inputs: Any = None) -> FloatArray:
    """Return the chance for each row of X, (n,); with ``inputs``, if only these become known."""
    if inputs is not None:
        chosen = _features_of(inputs, asked.inputs)
        return np.concatenate(
            [_overturn_by(rows, asked.inputs, chosen) for rows in asked.chunks(X)]
        )
    return np.concatenate([overturn_rows(rows, asked.inputs) for rows in asked.chunks(X)])


def overturn_rows(rows: AskedRows, inputs: LinearInputs) -> FloatArray:
    """Return the chance for each row, (n,); 0 where nothing is missing."""
    result = np.zeros(len(rows))
    for where, gaps in patterns(rows.gaps):
        _, covariance, slopes = open_covariance(inputs, gaps)
        # Differences of a root of the covariance of the logits lose fewer digits than its entries.
        root = cholesky(covariance + 1e-14 * np.eye(len(covariance)), lower=False) @ slopes
        factor, answers = rows.own_factor[where], rows.answers[where]
        result[where] = change_probability(rows.logits[where], root, answers, factor, rows.rule)
    return result


def _features_of(inputs: Any, known: LinearInputs) -> list[int]:
    """Return the features of inputs that are named."""
    names = [inputs] if is_one_label(inputs) else list(inputs)
    unknown = [name for name in names if name not in known.blocks.names]
    if unknown or not names:
        raise ValueError(
            "inputs must name inputs of the model, such as "
            f"[{known.blocks.names[0]!r}]; got {listed(unknown) if unknown else 'none'}. The "
            f"inputs are {listed(known.blocks.names)}."
        )
    return [j for i in map(known.blocks.names.index, names) for j in known.blocks.features[i]]


def _overturn_by(rows: AskedRows, inputs: LinearInputs, chosen: list[int]) -> FloatArray:
    """Return the chance that measuring some features changes the answer, (n,)."""
    result = np.zeros(len(rows))
    for where, gaps in patterns(rows.gaps):
        missing = sorted({j for j in chosen if gaps[j]})
        if missing:
            [root] = unit_roots(inputs, gaps, [missing])
            result[where] = unit_overturn(rows, where, root)
    return result


def unit_overturn(rows: AskedRows, where: NDArray[np.intp], root: FloatArray) -> FloatArray:
    """Return the chance for some rows that measuring one unit of inputs changes the answer, (n,).

    Parameters
    ----------
    rows : AskedRows
    where : array of n positions
        The rows.
    root : array of shape (M, K)
        What each standard normal variable of the unit adds to each logit.
    """
    found = 2.0 / (root.shape[1] - 1) * (root - root.mean(axis=1, keepdims=True)) ** 2
    left = np.maximum(rows.open_variance[where] - found.sum(), 0.0)
    factor = rows.own_factor[where] * moderating_factor(left)
    return change_probability(rows.logits[where], root, rows.answers[where], factor, rows.rule)


def overturn_probability(
    logits: FloatArray, covariance: FloatArray, slopes: FloatArray
) -> FloatArray:
    """Return the chance that the missing features change the largest logit, (n,).

    Parameters
    ----------
    logits : array of shape (n, K)
        Expected logits.
    covariance : array of shape (M, M)
        Of the missing features given the known ones.
    slopes : array of shape (M, K)
        Their coefficients.
    """
    root = cholesky(covariance + 1e-14 * np.eye(len(covariance)), lower=False) @ slopes
    return change_probability(logits, root, leads(logits)[1], np.ones(len(logits)), None)


def change_probability(
    logits: FloatArray,
    root: FloatArray,
    chosen: NDArray[np.intp],
    factor: FloatArray,
    rule: AnswerRule | None,
) -> FloatArray:
    """Return the chance that the answer is another one once logits have moved, (n,).

    Parameters
    ----------
    logits : array of shape (n, K)
        Expected logits.
    root : array of shape (M, K)
        What each standard normal variable adds to each of them.
    chosen : array of n positions
        The present answers.
    factor : array of shape (n,)
        On the logits, once they have moved.
    rule : Cutoff or LeastLoss, optional
        What answers.
    """
    result = np.empty(len(logits))
    for a in np.unique(chosen):
        where, others = np.flatnonzero(chosen == a), np.arange(logits.shape[1]) != a
        if isinstance(rule, LeastLoss):
            result[where] = _share_of_changes(logits[where], root, int(a), factor[where], rule)
            continue
        moved = logits[where]
        if isinstance(rule, Cutoff):
            moved = moved + rule.shift / factor[where, None]
        lead = moved[:, [a]] - moved[:, others]
        apart = (root[:, [a]] - root)[:, others]  # (M, K − 1)
        falls = fall_probability(np.abs(lead) if rule is not None else lead, apart.T)
        behind = lead[:, 0] < 0.0 if rule is not None else False
        result[where] = np.where(behind, 1.0 - falls, falls)
    return result


_POINTS = 4096  # at which answers by losses are compared
_FEW_ROWS = 2**20  # points × classes × rows at a time


def _share_of_changes(
    logits: FloatArray, root: FloatArray, answer: int, factor: FloatArray, rule: LeastLoss
) -> FloatArray:
    """Return the share of evenly spread normal points at which there is another answer, (n,)."""
    centred = root - root.mean(axis=1, keepdims=True)
    _, spread, right = np.linalg.svd(centred, full_matrices=False)
    rank = int((spread > 1e-12 * max(spread[0], 1e-300)).sum())
    moves = _normal_points(rank) @ (spread[:rank, None] * right[:rank])  # (P, K)
    result = np.empty(len(logits))
    step = max(1, _FEW_ROWS // moves.size)
    for start in range(0, len(logits), step):
        part = slice(start, start + step)
        points = factor[part, None, None] * (logits[part, None, :] + moves)
        result[part] = (rule.positions(points) != answer).mean(axis=1)
    return result


@cache
def _normal_points(rank: int) -> FloatArray:
    """Return points of the standard normal distribution that are spread evenly, (P, rank)."""
    if rank == 0:
        return np.zeros((1, 0))
    if rank == 1:
        return np.asarray(ndtri((np.arange(_POINTS) + 0.5) / _POINTS))[:, None]
    points: FloatArray = sobol_points(rank, _POINTS)
    return np.asarray(ndtri(np.clip(points, 1e-12, 1.0 - 1e-12)))


_LINES = 2048  # through the expectation
_ANGLES = 256  # of lines in a plane
_BLOCK = 2**16  # rows × lines at a time: they stay in the cache


def fall_probability(mean: FloatArray, root: FloatArray) -> FloatArray:
    r"""Return the chance that some lead :math:`m_k + r_k^T x` turns negative, (n,).

    Here x is standard normal. On a line through the origin, all leads stay positive between the
    nearest crossings on both sides, and the distance from the origin has a chi distribution, so
    the chance on the line is known exactly (Deák 1980). Its mean over evenly spread lines is the
    result; with one dimension, as for two classes, there is one line.

    Parameters
    ----------
    mean : array of shape (n, K − 1)
        Of the leads, zero or more.
    root : array of shape (K − 1, M)
        What each standard normal variable adds to each lead.
    """
    left, spread, _ = np.linalg.svd(root, full_matrices=False)
    rank = int((spread > 1e-12 * max(spread[0], 1e-300)).sum())
    if rank == 0:
        return np.zeros(len(mean))
    slopes = (left[:, :rank] * spread[:rank]) @ _lines(rank).T  # (K − 1, L)
    with np.errstate(divide="ignore", over="ignore"):
        reach = np.minimum(1.0 / np.abs(slopes), 1e300)
    both_ways = np.where(slopes < 0.0, reach, np.inf), np.where(slopes < 0.0, np.inf, reach)
    mean = np.maximum(mean, 1e-300)
    step = max(1, _BLOCK // slopes.shape[1])
    result = np.empty(len(mean))
    for start in range(0, len(mean), step):
        part = mean[start : start + step]
        beyond = [_chi_beyond(_nearest(part, reach), rank) for reach in both_ways]
        result[start : start + step] = 0.5 * (beyond[0] + beyond[1]).mean(axis=1)
    return result


def _nearest(mean: FloatArray, reach: FloatArray) -> FloatArray:
    """Return how far along each line the first lead turns, (n, L); +∞ if none does."""
    found = np.full((len(mean), reach.shape[1]), np.inf)
    distance = np.empty_like(found)
    for k in range(mean.shape[1]):
        np.multiply(mean[:, [k]], reach[k], out=distance)
        np.minimum(found, distance, out=found)
    return found


def _chi_beyond(distance: FloatArray, rank: int) -> FloatArray:
    """Return the chance that the root of the sum of squared normals is larger: a finite sum."""
    half = 0.5 * np.minimum(distance, 1e150) ** 2
    term, odd = np.exp(-half), rank % 2
    total = erfc(np.sqrt(half)) if odd else term.copy()
    if odd:
        term *= np.sqrt(half) / gamma(1.5)
    for i in range(1, (rank + 1) // 2):
        if odd:
            total += term
            term *= half / (i + 0.5)
        else:
            term *= half / i
            total += term
    return np.asarray(total)


@cache
def _lines(rank: int) -> FloatArray:
    """Return evenly spread directions, (L, rank); a direction stands for its opposite as well."""
    if rank == 1:
        return np.ones((1, 1))
    if rank == 2:
        angle = np.pi * (np.arange(_ANGLES) + 0.5) / _ANGLES
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    normal = ndtri(sobol_points(rank, _LINES))
    return np.asarray(normal / np.linalg.norm(normal, axis=1, keepdims=True))


# How easily a decision falls if known inputs are lost, and their expectations take their place.


def conditional_fragility(asked: AskedModel, X: Any, q: Any) -> FloatArray:
    """Return the chance for each row of X, (n,). Inputs that are missing cannot be lost."""
    chance = check_chance(q)
    found = []
    for rows in asked.chunks(X):
        result = np.zeros(len(rows))
        for where, gaps in patterns(rows.gaps, complete=True):
            far = KnownCells.of(asked.inputs, gaps).measured(rows.features[where])
            result[where] = pattern_fragility(rows, where, far, chance)
        found.append(result)
    return np.concatenate(found)


def pattern_fragility(
    rows: AskedRows, where: NDArray[np.intp], far: CellDistances, chance: float
) -> FloatArray:
    """Return the chance for rows of one pattern of gaps, (n,)."""
    result, factor = np.zeros(len(where)), rows.factor[where, None]
    logits, rule = rows.logits[where], rows.rule
    if isinstance(rule, Cutoff):
        logits = logits + rule.shift / factor
    for part, shift in far.shifts():
        if isinstance(rule, LeastLoss):
            scaled = factor[part] * logits[part], factor[part, :, None] * shift
            result[part] = changed_answers(*scaled, chance, rule)
            continue
        lost = lead_over_others(shift, np.argmax(logits[part], axis=1))
        result[part] = loss_probability(logits[part], lost, chance)
    return result
