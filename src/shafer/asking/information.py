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
from scipy.special import ndtri

from shafer._typing import FloatArray
from shafer.asking.inputs import AskedRows, LinearInputs, open_covariance
from shafer.evidence.robustness import sobol_points
from shafer.explain.calibration import moderating_factor

_REACH = 8.5  # standard deviations; beyond lies 10⁻¹⁷
_STEP = 0.5  # of the grid where the logits move slowly
_STEEPEST = 1.0  # by which a difference of logits may move in a step
_MOST_ON_A_LINE = 8192
_MOST_ON_A_SIDE = 64
_LEAST_REACH = 1e-8  # of the logits; the information of less is below rounding
_POINTS = 4096  # beyond a plane
_BLOCK = 2**18  # numbers in memory at a time


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
    reach : float
        The most that one of the variables adds to a difference of two logits.
    """

    axes: FloatArray
    variance: float
    reach: float


def read_moves(roots: Sequence[FloatArray]) -> list[Move]:
    """Return how each root (B, K) moves the logits: what each standard normal variable adds."""
    found: list[Move | None] = [None] * len(roots)
    alone = [u for u, root in enumerate(roots) if len(root) == 1]
    if alone:  # all at once, as there are many
        axes, variance, reach = _of_lines(np.stack([roots[u] for u in alone]))
        for place, u in enumerate(alone):
            found[u] = Move(axes[place], float(variance[place]), float(reach[place]))
    return [
        _of_block(root) if move is None else move for move, root in zip(found, roots, strict=True)
    ]


def _of_lines(roots: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return axes, lost variances and reaches of roots (U, 1, K)."""
    centred = roots - roots.mean(axis=2, keepdims=True)
    variance = 2.0 / (roots.shape[2] - 1) * (centred**2).sum(axis=(1, 2))
    return centred, variance, np.ptp(centred, axis=2).max(axis=1, initial=0.0)


def _of_block(root: FloatArray) -> Move:
    centred, variance, _ = _of_lines(root[None, :, :])
    _, spread, right = np.linalg.svd(centred[0], full_matrices=False)
    rank = int((spread > 1e-9 * max(spread[0], 1e-300)).sum())
    axes = np.asarray(spread[:rank, None] * right[:rank])
    return Move(axes, float(variance[0]), float(np.ptp(axes, axis=1).max(initial=0.0)))


def _factors(
    rows: AskedRows, where: NDArray[np.intp], variances: Sequence[float] | FloatArray
) -> FloatArray:
    """Return κ', the factor on the weights of n rows once each of U things is known, (U, n).

    ``variances`` (U,) are what the logits lose of their open variance.
    """
    open_ = rows.open_variance[where]
    left = np.maximum(open_ - np.asarray(variances)[:, None], 0.0)
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
    logits, before = rows.logits[where], rows.log_probability[where]
    factor = _factors(rows, where, [move.variance for move in moves])
    alike: dict[tuple[int, int], list[int]] = {}
    for u, (move, largest) in enumerate(zip(moves, factor.max(axis=1).tolist(), strict=True)):
        if move.reach > _LEAST_REACH:
            alike.setdefault((len(move.axes), _sides(largest * move.reach)), []).append(u)
    result = np.zeros((len(where), len(moves)))
    for grid, units in alike.items():
        points, weights = _points(*grid)
        step = max(1, _BLOCK // (points.shape[0] * logits.size or 1))
        for start in range(0, len(units), step):
            part = units[start : start + step]
            moved = np.stack([points @ moves[u].axes for u in part])
            result[:, part] = _divergence(logits, before, factor[part], moved, weights).T
    return result


def _divergence(
    logits: FloatArray,
    before: FloatArray,
    factor: FloatArray,
    moves: FloatArray,
    weights: FloatArray,
) -> FloatArray:
    """Return the mean divergence of softmax(κ' (z + δ)) from the probabilities before, (U, n).

    ``logits`` and ``before`` are (n, K), ``factor`` is (U, n), ``moves`` (U, P, K) are the δ of U
    measurements, ``weights`` (P,) those of the mean.
    """
    result = np.empty(factor.shape)
    # Classes first: sums over them are then sums of long arrays.
    z, old, delta = logits.T, before.T, np.moveaxis(moves, 2, 0)
    step = max(1, _BLOCK // moves.size)
    for start in range(0, len(logits), step):
        part = slice(start, start + step)
        new = z[:, None, part, None] + delta[:, :, None, :]  # (K, U, n, P)
        new *= factor[:, part, None]
        new -= new.max(axis=0)
        p = np.exp(new)
        total = p.sum(axis=0)
        new -= old[:, None, part, None]
        new *= p
        each = new.sum(axis=0) / total - np.log(total)
        result[:, part] = (each * weights).sum(axis=-1)
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
