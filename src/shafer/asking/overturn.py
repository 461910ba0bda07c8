r"""Would the missing inputs overturn the decision? The chance, without random numbers.

Given the known inputs, the lead of the chosen class a over k is normal with mean
:math:`z_a - z_k` and variance :math:`V_{ak} = (\beta_a - \beta_k)^T S (\beta_a - \beta_k)`. The
leads are correlated; ``fall_probability`` has the chance that all stay positive, which is exact for
two classes. A factor on the weights, such as tempering, does not change the class of the largest
logit, so it plays no part.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import cholesky
from scipy.special import gammaincc, ndtri

from shafer._typing import FloatArray
from shafer.asking.inputs import AskedModel, AskedRows, LinearInputs
from shafer.asking.known_cells import CellDistances, KnownCells
from shafer.asking.next_inputs import open_covariance
from shafer.evidence.robustness import (
    check_chance,
    lead_over_others,
    leads,
    loss_probability,
    sobol_points,
)
from shafer.explain.missing import patterns


def overturn(asked: AskedModel, X: Any) -> FloatArray:
    """Return the chance for each row of X, (n,)."""
    return np.concatenate([overturn_rows(rows, asked.inputs) for rows in asked.chunks(X)])


def overturn_rows(rows: AskedRows, inputs: LinearInputs) -> FloatArray:
    """Return the chance for each row, (n,); 0 where nothing is missing."""
    result = np.zeros(len(rows))
    for where, gaps in patterns(rows.gaps):
        _, covariance, slopes = open_covariance(inputs, gaps)
        result[where] = overturn_probability(rows.logits[where], covariance, slopes)
    return result


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
    # Differences of a root of the covariance of the logits lose fewer digits than its entries.
    root = cholesky(covariance + 1e-14 * np.eye(len(covariance)), lower=False) @ slopes
    margins, chosen = leads(logits)
    result = np.empty(len(logits))
    for a in np.unique(chosen):
        where, others = np.flatnonzero(chosen == a), np.arange(logits.shape[1]) != a
        apart = (root[:, [a]] - root)[:, others]  # (M, K − 1)
        result[where] = fall_probability(margins[where][:, others], apart.T)
    return result


_LINES = 2048  # through the expectation
_BLOCK = 2**20  # rows × lines in memory at a time


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
    slopes = _lines(rank) @ (left[:, :rank] * spread[:rank]).T  # (L, K − 1)
    with np.errstate(divide="ignore", over="ignore"):
        reach = np.minimum(1.0 / np.abs(slopes), 1e300)
    step = max(1, _BLOCK // len(slopes))
    result = np.empty(len(mean))
    for start in range(0, len(mean), step):
        ends = _crossings(mean[start : start + step], slopes, reach)
        beyond = [gammaincc(0.5 * rank, 0.5 * np.minimum(end, 1e150) ** 2) for end in ends]
        result[start : start + step] = 0.5 * (beyond[0] + beyond[1]).mean(axis=1)
    return result


def _crossings(
    mean: FloatArray, slopes: FloatArray, reach: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return how far each line stays where all leads are positive, both ways, (n, L) each."""
    there, back = np.full((2, len(mean), len(slopes)), np.inf)
    for k in range(mean.shape[1]):
        falling = slopes[:, k] < 0.0
        distance = mean[:, [k]] * reach[:, k]
        np.minimum(there, np.where(falling, distance, np.inf), out=there)
        np.minimum(back, np.where(falling, np.inf, distance), out=back)
    return there, back


@cache
def _lines(rank: int) -> FloatArray:
    """Return evenly spread directions, (L, rank); a direction stands for its opposite as well."""
    if rank == 1:
        return np.ones((1, 1))
    if rank == 2:
        angle = np.pi * (np.arange(_LINES) + 0.5) / _LINES
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
            result[where] = pattern_fragility(rows.logits[where], far, chance)
        found.append(result)
    return np.concatenate(found)


def pattern_fragility(logits: FloatArray, far: CellDistances, chance: float) -> FloatArray:
    """Return the chance for rows of one pattern of gaps, given their logits (n, K)."""
    result = np.zeros(len(logits))
    for part, shift in far.shifts():
        lost = lead_over_others(shift, np.argmax(logits[part], axis=1))
        result[part] = loss_probability(logits[part], lost, chance)
    return result
