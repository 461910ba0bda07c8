r"""``KnownCells``: each known input of a row against its expectation given the other known ones.

With P the inverse correlation of the known features, :math:`r_B = P_{BB}^{-1} (P x)_B` is the
distance of a block B from its expectation given all others, with covariance
:math:`P_{BB}^{-1}`. A value that is wrong is assumed to have :math:`1 + \tau^2` times this
covariance, so that the data favour "wrong" by the factor

.. math:: (1 + \tau^2)^{-d/2} \exp\Bigl(\tfrac12 c^2 \frac{\tau^2}{1 + \tau^2}\Bigr), \qquad
          c^2 = r_B^T P_{BB} r_B,

where d is the number of directions in which the block varies. The surprise of an input is its c;
if it has several features, it is the c of a single feature with the same factor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, starmap
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from shafer._kernels.products import product
from shafer._typing import BoolArray, FloatArray
from shafer.explain.missing import ConditionalGaussian

if TYPE_CHECKING:
    from shafer.asking.inputs import LinearInputs


ERROR_SPREAD = 5.0  # τ: wrong values lie so many spreads away
_SHARE = ERROR_SPREAD**2 / (1.0 + ERROR_SPREAD**2)
_LOG_WIDTH = float(np.log1p(ERROR_SPREAD**2))
_FARTHEST = 1e150  # spreads from the mean; squares of more overflow
_LEAST_SPREAD = 1e-6  # of a constant: any other value is a surprise
_BLOCK = 2**20  # elements of (rows, inputs, K) in memory at a time


@final
@dataclass(frozen=True, eq=False)
class KnownCells:
    """One pattern of gaps: what the known features tell about each other and about the logits.

    Attributes
    ----------
    which : array of int
        The inputs that are known.
    features : array of int
        The known features, input by input; those of no input come last.
    starts : array of int
        Where the features of each input begin among them.
    precision : array of shape (F, F)
        Inverse correlation of the known features.
    solved : array of shape (F, F)
        The inverse of each input's block of the precision, zero elsewhere.
    slopes : array of shape (F, K)
        What each known feature adds to the expected logits, also through the missing ones.
    variance : array of shape (K,)
        Of the logits, given all that is known.
    ranks : array
        The number of directions in which each known input varies.
    gaussian : ConditionalGaussian
    """

    which: NDArray[np.intp]
    features: NDArray[np.intp]
    starts: NDArray[np.intp]
    precision: FloatArray
    solved: FloatArray
    slopes: FloatArray
    variance: FloatArray
    ranks: FloatArray
    gaussian: ConditionalGaussian

    @classmethod
    def of(cls, inputs: LinearInputs, gaps: BoolArray) -> KnownCells:
        """Condition on what is known in one pattern of gaps, (J,)."""
        blocks = inputs.blocks.features
        which = [i for i, block in enumerate(blocks) if not gaps[block[0]]]
        ordered = [j for i in which for j in blocks[i]]
        sizes = [len(blocks[i]) for i in which]
        rest = sorted(set(np.flatnonzero(~gaps).tolist()).difference(ordered))
        there, out = np.array(ordered + rest, dtype=np.intp), np.flatnonzero(gaps)
        gain, left = inputs.gaussian.given(there, out)
        slope = inputs.beta * constant_safe_spread(inputs.gaussian)[:, None]
        precision = _inverse(inputs.gaussian.correlation[np.ix_(there, there)])
        starts = np.cumsum([0, *sizes])[: len(sizes)].astype(np.intp)
        open_slope = inputs.beta[out] * inputs.gaussian.spread[out][:, None]
        return cls(
            np.array(which, dtype=np.intp),
            there,
            starts,
            precision,
            _block_inverses(precision, starts, sizes),
            slope[there] + gain.T @ open_slope,
            np.maximum(((left @ open_slope) * open_slope).sum(axis=0), 0.0),
            np.array([inputs.ranks[i] for i in which], dtype=np.float64),
            inputs.gaussian,
        )

    @property
    def n_cells(self) -> int:
        """The number of features that belong to known inputs."""
        return int(self.solved.shape[0])

    @cached_property
    def more_variance(self) -> FloatArray:
        """The variance of the logits that is added if an input is missing too, (inputs, K)."""
        own = self.slopes[: self.n_cells]
        return self._by_input(((self.solved @ own) * own), axis=0)

    def measured(self, features: FloatArray) -> CellDistances:
        """Compare rows with these known features, (n, J), with what is expected."""
        x = standard_units(features, self.gaussian)[:, self.features]
        # Not as the difference of two values, which has no correct digit if one is very large.
        usual = self._inside_inputs(-product(x, self._across), self.solved)
        residual = x[:, : self.n_cells] - usual
        within = self._inside_inputs(residual, self.precision)
        square = self._by_input(within * residual, axis=1)
        return CellDistances(self, x, usual, residual, np.maximum(square, 0.0))

    @cached_property
    def _across(self) -> FloatArray:
        """The precision between inputs, (F, cells): without that between features of one."""
        part = self.precision[:, : self.n_cells].copy()
        for inside in self._inputs:
            part[inside, inside] = 0.0
        return part

    @property
    def _inputs(self) -> list[slice]:
        """Where the features of each known input are."""
        return list(starmap(slice, pairwise([*self.starts.tolist(), self.n_cells])))

    def _inside_inputs(self, rows: FloatArray, matrix: FloatArray) -> FloatArray:
        """Return rows (n, cells) times the blocks of a matrix that belong to one input each."""
        n = self.n_cells
        result = rows * np.diagonal(matrix)[:n]
        for inside in self._inputs:
            if inside.stop - inside.start > 1:
                result[:, inside] = product(rows[:, inside], matrix[inside, inside])
        return result

    def _by_input(self, array: FloatArray, axis: int) -> FloatArray:
        """Sum over the features of each input."""
        if not len(self.starts):
            return np.zeros([0 if a == axis else n for a, n in enumerate(array.shape)])
        return np.asarray(np.add.reduceat(array, self.starts, axis=axis))


@final
@dataclass(frozen=True, eq=False)
class CellDistances:
    """Rows of one pattern of gaps: how far each known input is from its expectation.

    Attributes
    ----------
    cells : KnownCells
    x : array of shape (n, F)
        The known features, standardised.
    usual : array of shape (n, F)
        The expectation of each feature given the other inputs, standardised.
    residual : array of shape (n, F)
        r, the distance of each feature from its expectation given the other inputs.
    square : array of shape (n, inputs)
        c² of each known input.
    """

    cells: KnownCells
    x: FloatArray
    usual: FloatArray
    residual: FloatArray
    square: FloatArray

    @cached_property
    def log_factor(self) -> FloatArray:
        """The logarithm of the factor by which the data favour "wrong", (n, inputs)."""
        return 0.5 * (_SHARE * self.square - self.cells.ranks * _LOG_WIDTH)

    @property
    def surprise(self) -> FloatArray:
        """The surprise c of each known input, (n, inputs)."""
        more = (self.cells.ranks - 1.0) * _LOG_WIDTH / _SHARE
        return np.sqrt(np.maximum(self.square - more, 0.0))

    def logits(self, level: FloatArray) -> FloatArray:
        """Return the expected logits (n, K), given those at the means."""
        return np.asarray(product(self.x, self.cells.slopes) + level)

    def expected(self) -> FloatArray:
        """Return the expectation of each feature given the other inputs, (n, J).

        NaN for features that are missing or belong to no input.
        """
        cells = self.cells
        own = cells.features[: cells.n_cells]
        spread = constant_safe_spread(cells.gaussian)[own]
        result = np.full((len(self.x), len(cells.gaussian.mean)), np.nan)
        result[:, own] = cells.gaussian.mean[own] + spread * self.usual
        return result

    def repaired(self, level: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """Yield rows, and their logits with the expectation of each known input in its place.

        The logits have the shape (rows, inputs, K), as in :meth:`shifts`. The input is left out of
        their sum: taking a very large value out again would leave no correct digit.
        """
        cells, n = self.cells, self.cells.n_cells
        own, rest = cells.slopes[:n], level + product(self.x[:, n:], cells.slopes[n:])
        step = max(1, _BLOCK // max(1, own.size))
        for start in range(0, len(self.x), step):
            rows = slice(start, start + step)
            given = cells._by_input(self.x[rows, :n, None] * own, axis=1)
            usual = cells._by_input(self.usual[rows, :, None] * own, axis=1)
            yield rows, rest[rows, None, :] + _sums_of_others(given) + usual

    def shifts(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield rows, and what each known input adds to their logits beyond expectation.

        The shifts have the shape (rows, inputs, K); few of them are in memory at a time.
        """
        own = self.cells.slopes[: self.cells.n_cells]
        step = max(1, _BLOCK // max(1, own.size))
        for start in range(0, len(self.x), step):
            rows = slice(start, start + step)
            yield rows, self.cells._by_input(self.residual[rows, :, None] * own, axis=1)


def _sums_of_others(terms: FloatArray) -> FloatArray:
    """Return the sum over the second axis without each term, without subtracting any."""
    result = np.zeros_like(terms)
    result[:, 1:] = np.cumsum(terms[:, :-1], axis=1)
    result[:, :-1] += np.cumsum(terms[:, :0:-1], axis=1)[:, ::-1]
    return result


def standard_units(features: FloatArray, gaussian: ConditionalGaussian) -> FloatArray:
    """Return features (n, J) in spreads from their means."""
    with np.errstate(over="ignore"):
        x = (features - gaussian.mean) / constant_safe_spread(gaussian)
    return np.clip(x, -_FARTHEST, _FARTHEST)


def constant_safe_spread(gaussian: ConditionalGaussian) -> FloatArray:
    """Return the spread of each feature; that of a constant is small, so that changes show."""
    least = _LEAST_SPREAD * np.maximum(np.abs(gaussian.mean), 1.0)
    return np.where(gaussian.spread > 0.0, gaussian.spread, least)


def _inverse(matrix: FloatArray) -> FloatArray:
    if not len(matrix):
        return matrix
    return np.asarray(cho_solve(cho_factor(matrix, lower=True), np.eye(len(matrix))))


def _block_inverses(
    precision: FloatArray, starts: NDArray[np.intp], sizes: list[int]
) -> FloatArray:
    n = sum(sizes)
    solved = np.zeros((n, n))
    for start, size in zip(starts, sizes, strict=True):
        inside = slice(start, start + size)
        solved[inside, inside] = _inverse(precision[inside, inside])
    return solved
