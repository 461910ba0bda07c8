r"""How much a missing input would tell: the expected divergence of the new from the old answer.

A measurement moves the expected logits z by a normal δ. With κ the factor on the weights now, and
κ' the factor once the measurement is known (less is missing, so it is larger), the information is

.. math:: I = E\, \mathrm{KL}\bigl(\operatorname{softmax}(\kappa' (z + \delta)) \,\|\,
          \operatorname{softmax}(\kappa z)\bigr).

For two classes, and for one feature of any number of classes, δ lies on a line, and the mean is
one integral over a normal variable. In a plane it is two. These are summed on an even grid: for a
smooth integrand with normal weight the error falls faster than any power of the step, and the step
follows the steepest line. Gauss and Hermite's nodes would miss a steep line. Beyond a plane, and
for very steep planes, evenly spread points are used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.special import log_softmax, ndtri

from shafer._typing import FloatArray
from shafer.asking.inputs import AskedRows, LinearInputs, open_covariance
from shafer.evidence.robustness import sobol_points
from shafer.explain.calibration import moderating_factor

_REACH = 8.5  # standard deviations; beyond lies 10⁻¹⁷
_STEP = 0.5  # of the grid where the logits move slowly
_STEEPEST = 1.0  # by which a difference of logits may move in a step
_MOST_ON_A_LINE = 8192
_MOST_ON_A_SIDE = 64
_POINTS = 4096  # beyond a plane
_BLOCK = 2**20  # numbers in memory at a time


@final
@dataclass(frozen=True, eq=False)
class Move:
    """How the logits move once something is measured.

    Attributes
    ----------
    axes : array of shape (r, K)
        What each of r standard normal variables adds to the logits, relative to each other.
    variance : float
        What the logits lose of their open variance.
    """

    axes: FloatArray
    variance: float

    @classmethod
    def of(cls, root: FloatArray) -> Move:
        """Read a root (B, K): what each standard normal variable adds to each logit."""
        centred = root - root.mean(axis=1, keepdims=True)
        variance = 2.0 / (root.shape[1] - 1) * float((centred**2).sum())
        _, spread, right = np.linalg.svd(centred, full_matrices=False)
        rank = int((spread > 1e-9 * max(spread[0], 1e-300)).sum())
        return cls(np.asarray(spread[:rank, None] * right[:rank]), variance)

    def factor(self, rows: AskedRows, where: NDArray[np.intp]) -> FloatArray:
        """Return κ', the factor on the weights of some rows once it is known."""
        open_ = rows.open_variance[where]
        left = np.maximum(open_ - self.variance, 0.0)
        # Rounding must not leave a variance where everything is known.
        left = np.where(left < 1e-9 * open_, 0.0, left)
        return np.asarray(rows.own_factor[where] * moderating_factor(left))


def information(rows: AskedRows, where: NDArray[np.intp], moves: Sequence[Move]) -> FloatArray:
    """Return the information of each measurement for some rows, (n, number of moves), in nats.

    Parameters
    ----------
    rows : AskedRows
    where : array of n positions
        The rows.
    moves : sequence of Move
    """
    result = np.empty((len(where), len(moves)))
    logits, before = rows.logits[where], rows.log_probability[where]
    for u, move in enumerate(moves):
        result[:, u] = _divergence(logits, before, move.factor(rows, where), move.axes)
    return result


def _divergence(
    logits: FloatArray, before: FloatArray, factor: FloatArray, axes: FloatArray
) -> FloatArray:
    """Return the mean divergence of softmax(κ' (z + δ)) from the probabilities before, (n,)."""
    slope = float(factor.max(initial=0.0)) * float(np.ptp(axes, axis=1).max(initial=0.0))
    points, weights = _points(len(axes), _sides(slope))
    moves = points @ axes  # (P, K)
    result = np.empty(len(factor))
    step = max(1, _BLOCK // moves.size)
    for start in range(0, len(factor), step):
        part = slice(start, start + step)
        moved = factor[part, None, None] * (logits[part, None, :] + moves)
        new = log_softmax(moved, axis=2)
        each = (np.exp(new) * (new - before[part, None, :])).sum(axis=2)
        result[part] = each @ weights
    return np.maximum(result, 0.0)


def _sides(slope: float) -> int:
    """Return how many points a line needs; rounded up, so that few grids are made."""
    needed = 2.0 * _REACH * max(1.0 / _STEP, slope / _STEEPEST)
    rounded = math.ceil(math.exp2(math.ceil(2.0 * math.log2(needed)) / 2.0))
    return min(rounded, _MOST_ON_A_LINE)


@lru_cache(maxsize=64)
def _points(rank: int, sides: int) -> tuple[FloatArray, FloatArray]:
    """Return points (P, rank) and weights (P,) for a mean over standard normal variables."""
    if rank == 0:
        return np.zeros((1, 0)), np.ones(1)
    line = np.linspace(-_REACH, _REACH, sides)
    weight = np.exp(-0.5 * line**2)
    weight /= weight.sum()
    if rank == 1:
        return line[:, None], weight
    if rank == 2 and sides <= _MOST_ON_A_SIDE:
        grid = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
        product = np.outer(weight, weight).reshape(-1)
        kept = product > 1e-18  # the corners
        return grid[kept], product[kept]
    points: FloatArray = sobol_points(rank, _POINTS)
    return ndtri(np.clip(points, 1e-12, 1.0 - 1e-12)), np.full(_POINTS, 1.0 / _POINTS)


# How the logits move with each measurement: roots of their covariance.

_LEAST_VARIANCE = 1e-12  # of a standardised feature, given the others


def unit_roots(
    inputs: LinearInputs, gaps: NDArray[np.bool_], blocks: list[list[int]]
) -> list[FloatArray]:
    """Return the roots of the missing features of each unit, for one pattern of gaps."""
    out, covariance, slopes = open_covariance(inputs, gaps)
    place = {int(j): m for m, j in enumerate(out)}
    return block_roots(covariance, slopes, [[place[j] for j in block] for block in blocks])


def block_roots(
    covariance: FloatArray, slopes: FloatArray, blocks: Sequence[Sequence[int]]
) -> list[FloatArray]:
    """Return the root Y (B, K) of how each block would move the logits.

    Parameters
    ----------
    covariance : array of shape (M, M)
        S, of the missing features given the known ones, standardised.
    slopes : array of shape (M, K)
        Their coefficients β*.
    blocks : sequence of positions among the missing features
    """
    moved = covariance @ slopes  # C
    variance = np.maximum(np.diag(covariance), _LEAST_VARIANCE)
    scaled = moved / np.sqrt(variance)[:, None]
    roots: list[FloatArray] = []
    for block in blocks:
        if len(block) == 1:
            roots.append(scaled[list(block)])
            continue
        inner = covariance[np.ix_(block, block)]
        factor, lower = cho_factor(_lifted(inner), lower=True)
        roots.append(solve_triangular(factor, moved[list(block)], lower=lower))
    return roots


def covariance_given(covariance: FloatArray, known: Sequence[int]) -> FloatArray:
    """Return the covariance of all features once some are known: zero for these."""
    if not len(known):
        return covariance
    across = covariance[:, list(known)]
    inner = _lifted(covariance[np.ix_(known, known)])
    left = covariance - across @ cho_solve(cho_factor(inner, lower=True), across.T)
    left[list(known)] = 0.0
    left[:, list(known)] = 0.0
    return np.asarray(left)


def _lifted(covariance: FloatArray) -> FloatArray:
    """Raise a diagonal that rounding has brought to zero, so that a root exists."""
    return covariance + _LEAST_VARIANCE * np.eye(len(covariance))
