r"""Matrix products that give a row the same bits alone, in any batch and on any processor.

BLAS adds up in an order that depends on the number of rows, the threads and the processor. Here
both matrices are split into parts with few digits. Products of parts are then exact whatever the
order, and their sum is as accurate as that of BLAS.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shafer._typing import Array, BoolArray, FloatArray

_PARTS = 3
_DIGITS = 53
_MOST_TERMS = 2**12  # summed at a time: more would leave too few digits for a part
_LARGEST_EXPONENT = 1000  # of two, so that the inverse is a number too
_FEW_TERMS = 8  # up to here adding them up one after the other is faster
# Elements of a block of rows, which fit in the cache; and rows of one at least.
_BLOCK = 2**13
_FEWEST_ROWS = 64


def product(rows: Array, matrix: Array) -> Array:
    """Return ``rows @ matrix``, each row by itself; arrays that are not NumPy's are left to ``@``.

    Parameters
    ----------
    rows : array of shape (..., J)
    matrix : array of shape (J, K)

    Returns
    -------
    array of shape (..., K)
    """
    if not isinstance(rows, np.ndarray):
        return rows @ matrix
    flat = rows.reshape(math.prod(rows.shape[:-1]), rows.shape[-1])
    if len(matrix) <= _FEW_TERMS:
        found = np.zeros((len(flat), matrix.shape[1]))
        for j in range(len(matrix)):
            found += flat[:, j, None] * matrix[j].astype(np.float64)
    else:
        found = Factor(matrix).times(flat)
    dtype = np.result_type(rows, matrix)
    return found.reshape(*rows.shape[:-1], matrix.shape[1]).astype(dtype, copy=False)


def grouped_products(
    rows: FloatArray, matrix: FloatArray, groups: Sequence[Sequence[int] | NDArray[np.intp]]
) -> FloatArray:
    """Return ``rows[:, group] @ matrix[group]`` for each group, (n, H, K).

    Parameters
    ----------
    rows : array of shape (n, J)
    matrix : array of shape (J, K)
    groups : sequence of sequences of int

    Returns
    -------
    array of shape (n, H, K)
    """
    result = np.zeros((len(rows), len(groups), matrix.shape[1]))
    for h, group in enumerate(groups):
        result[:, h] = product(rows[:, group], matrix[group])
    return result


class Factor:
    """A matrix (J, K), ready to be multiplied by rows.

    Parameters
    ----------
    matrix : array of shape (J, K)
    """

    def __init__(self, matrix: FloatArray) -> None:
        self._n_columns = matrix.shape[1]
        self._parts = [
            _Part(matrix[start : start + _MOST_TERMS].astype(np.float64, copy=False))
            for start in range(0, len(matrix), _MOST_TERMS)
        ]

    def times(self, rows: FloatArray) -> FloatArray:
        """Return rows (n, J) times the matrix, (n, K)."""
        result = np.zeros((len(rows), self._n_columns))
        start = 0
        for part in self._parts:
            end = start + len(part.matrix)
            step = max(_FEWEST_ROWS, _BLOCK // max(len(part.matrix), self._n_columns))
            for first in range(0, len(rows), step):
                some = rows[first : first + step, start:end].astype(np.float64, copy=False)
                result[first : first + step] += part.times(some)
            start = end
        return result


class _Part:
    """A matrix of not too many rows, in parts of few digits."""

    def __init__(self, matrix: FloatArray) -> None:
        columns = _power_of_largest(matrix, 0)
        scaled = matrix * _inverse(columns)
        across = _power_of_largest(scaled, 1)
        self.matrix = np.ascontiguousarray(matrix)  # sums depend on the layout
        self.columns = columns
        self.scale = across[:, 0]
        n_terms = max(2, len(matrix))
        self.digits = (_DIGITS - int(np.ceil(np.log2(n_terms)))) // 2
        self.parts = _parts(scaled * _inverse(across), self.digits)

    def times(self, rows: FloatArray) -> FloatArray:
        """Return rows times the matrix."""
        with np.errstate(over="ignore", invalid="ignore"):  # found below
            scaled = rows * self.scale
        largest = _power_of_largest(scaled, 1)  # infinite also where something is NaN
        fits = largest < 2.0**_LARGEST_EXPONENT
        largest = np.where(fits, largest, 1.0)
        parts = _parts(np.where(fits, scaled * _inverse(largest), 0.0), self.digits)
        total = np.zeros((len(rows), self.matrix.shape[1]))
        for order in reversed(range(_PARTS)):  # the smallest first
            for i in range(order + 1):
                total += parts[i] @ self.parts[order - i]
        with np.errstate(over="ignore", invalid="ignore"):
            total *= largest
            total *= self.columns
        # Where all large numbers meet zeros, too few digits of the others are in the parts.
        few = np.abs(parts[0]) @ np.abs(self.parts[0]) < 3.0 * 2.0 ** (_DIGITS - 3 * self.digits)
        for row in np.flatnonzero(self._meet(rows, few) | ~fits[:, 0]):
            with np.errstate(over="ignore", invalid="ignore"):
                total[row] = np.add.reduce(rows[row, :, None] * self.matrix, axis=0)
        return total

    def _meet(self, rows: FloatArray, some: BoolArray) -> BoolArray:
        """Tell of each row whether some of its results, (n, K), are more than sums of zeros."""
        found: BoolArray = np.asarray(some.any(axis=1))
        terms = (rows[found] != 0.0).astype(np.float64) @ self.filled  # how many, exactly
        found[found] = (some[found] & (terms > 0.0)).any(axis=1)
        return found

    @cached_property
    def filled(self) -> FloatArray:
        """One where the matrix is not zero."""
        return np.asarray(self.matrix != 0.0, dtype=np.float64)


def _power_of_largest(array: FloatArray, axis: int) -> FloatArray:
    """Return the power of two above the largest number along an axis, which is kept."""
    largest = np.abs(array).max(axis=axis, keepdims=True, initial=0.0)
    finite = largest < np.inf  # neither infinite nor NaN
    exponent = np.frexp(np.where(finite, largest, 1.0))[1]
    exponent = np.clip(exponent, -_LARGEST_EXPONENT, _LARGEST_EXPONENT)
    power: FloatArray = np.where(finite, np.ldexp(1.0, exponent), np.inf)
    return np.where(largest > 0.0, power, 1.0)


def _inverse(power: FloatArray) -> FloatArray:
    return 1.0 / power


def _parts(array: FloatArray, digits: int) -> list[FloatArray]:
    """Split numbers of at most 1 into parts: whole multiples of 2^−d, 2^−2d and 2^−3d."""
    found = []
    for place in range(1, _PARTS + 1):
        rounds = 1.5 * 2.0 ** (_DIGITS - 1 - place * digits)
        part = (array + rounds) - rounds
        found.append(part)
        array = array - part
    return found


__all__ = ["Factor", "grouped_products", "product"]
