"""The terms of a model as data, so that another program can compute what the model adds.

A formula has two parts: the numbers that the terms read off the rows, and the terms themselves, of
three kinds: pieces of polynomials of one number, tables over one or several numbers, and trees.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._kernels.dispatch import tree_shap
from shafer._kernels.trees import Forest, ForestPaths, Index, forest_paths, goes_left
from shafer._typing import FloatArray


class Terms(ABC):
    """What the components of a model add to its logits, from numbers."""

    @property
    @abstractmethod
    def reads(self) -> list[tuple[int, ...]]:
        """The columns of the numbers that each component reads."""

    @abstractmethod
    def contributions(self, numbers: FloatArray) -> FloatArray:
        """Return what numbers (n, C) add to the logits, (n, G, K), or (n, G, 1) for log-odds."""


@final
@dataclass(frozen=True, eq=False)
class Formula:
    """A model as data.

    Attributes
    ----------
    numbers : callable
        From (encoded) rows to the numbers that the terms read, (n, C); NaN is a missing value.
    terms : Terms
    """

    numbers: Callable[[Any], FloatArray]
    terms: Terms


@final
@dataclass(frozen=True, eq=False)
class Pieces(Terms):
    r"""A component adds a polynomial of one number, another one in each interval.

    In interval i the component adds :math:`\sum_d c_{id} (x - m_i)^d`. A number that equals an
    edge belongs to the interval above it.

    Attributes
    ----------
    columns : sequence of int
        The column of each component.
    edges : sequence of arrays of shape (intervals - 1,)
    centres : sequence of arrays of shape (intervals,)
    coefficients : sequence of arrays of shape (intervals, degree + 1, K)
    """

    columns: Sequence[int]
    edges: Sequence[FloatArray]
    centres: Sequence[FloatArray]
    coefficients: Sequence[FloatArray]

    @property
    def reads(self) -> list[tuple[int, ...]]:
        """The columns of the numbers that each component reads."""
        return [(column,) for column in self.columns]

    def contributions(self, numbers: FloatArray) -> FloatArray:
        """Return what numbers (n, C) add to the logits, (n, G, K), or (n, G, 1)."""
        parts = zip(self.columns, self.edges, self.centres, self.coefficients, strict=True)
        return np.stack([_of_piece(numbers[:, j], *rest) for j, *rest in parts], axis=1)


def _of_piece(
    x: FloatArray, edges: FloatArray, centres: FloatArray, coefficients: FloatArray
) -> FloatArray:
    place = np.searchsorted(edges, x, side="right")  # NaN comes last, and stays NaN below
    from_centre = (x - centres[place])[:, None]
    total = np.zeros((len(x), coefficients.shape[2]))
    for degree in reversed(range(coefficients.shape[1])):
        total = total * from_centre + coefficients[place, degree]
    return total


@final
@dataclass(frozen=True, eq=False)
class Tables(Terms):
    """A component adds the entry of a table over the bins of one or several numbers.

    Bin 0 is a missing number; the others are one more than the number of edges that are not above.

    Attributes
    ----------
    columns : sequence of tuples of int
        The columns of each component, one for each axis of its table.
    edges : sequence of arrays
        The edges of each column.
    scores : sequence of arrays of shape (bins, ..., K)
        The table of each component.
    """

    columns: Sequence[tuple[int, ...]]
    edges: Sequence[FloatArray]
    scores: Sequence[FloatArray]

    @property
    def reads(self) -> list[tuple[int, ...]]:
        """The columns of the numbers that each component reads."""
        return list(self.columns)

    def contributions(self, numbers: FloatArray) -> FloatArray:
        """Return what numbers (n, C) add to the logits, (n, G, K), or (n, G, 1)."""
        bins = [
            np.where(np.isnan(x), 0, 1 + np.searchsorted(edges, x, side="right"))
            for x, edges in zip(numbers.T, self.edges, strict=True)
        ]
        parts = zip(self.columns, self.scores, strict=True)
        return np.stack([scores[tuple(bins[j] for j in own)] for own, scores in parts], axis=1)


# Trees: a component is a feature, through one of two ways to share out the leaves, or a round.

SHAPLEY, PATH, ROUND = "shapley", "path", "round"


@final
@dataclass(frozen=True, eq=False)
class Trees(Terms):
    """Components of a sum of trees.

    Attributes
    ----------
    forest : Forest
    n_features : int
        Columns of the numbers.
    how : {"shapley", "path", "round"}
        A component is a feature, with its Shapley value or the sum of the changes along the path
        at its splits; or the trees of one round, one for each output.
    single : bool
        The numbers are compared in single precision.
    missing : float, optional
        A number that the model takes as missing.
    shared : tuple of tuples of int
        The features that share what the last columns of the numbers receive: these are made of
        several features, and come behind them.
    """

    forest: Forest
    n_features: int
    how: str = SHAPLEY
    single: bool = False
    missing: float | None = None
    shared: tuple[tuple[int, ...], ...] = ()

    @property
    def reads(self) -> list[tuple[int, ...]]:
        """The columns of the numbers that each component reads."""
        if self.how != ROUND:
            own = self.n_features - len(self.shared)
            return [
                (j, *(own + c for c, members in enumerate(self.shared) if j in members))
                for j in range(own)
            ]
        asked = [set[int]() for _ in range(self._n_rounds)]
        for node, tree in enumerate(self._tree):
            if self.forest.feature[node] >= 0:
                asked[tree // self.forest.n_outputs].add(int(self.forest.feature[node]))
        return [tuple(sorted(own)) for own in asked]

    def contributions(self, numbers: FloatArray) -> FloatArray:
        """Return what numbers (n, C) add to the logits, (n, G, K), or (n, G, 1)."""
        rows = numbers.astype(np.float32).astype(np.float64) if self.single else numbers
        if self.missing is not None:
            rows = np.where(rows == self.missing, np.nan, rows)
        if self.how == SHAPLEY:
            return self._of_features(tree_shap(self.forest, self._paths, rows).transpose(0, 2, 1))
        shape = (len(rows), self._n_rounds if self.how == ROUND else self.n_features)
        total = np.zeros((*shape, self.forest.n_outputs))
        for node, child in self._steps(rows):
            row, tree = np.nonzero(child >= 0)
            before, after = node[row, tree], child[row, tree]
            place = tree // self.forest.n_outputs
            change = self.forest.value[after]
            if self.how == PATH:
                place = self.forest.feature[before]
                change = self.means[after] - self.means[before]
            np.add.at(total, (row, place, self.forest.output[tree]), change)
        return total

    def _of_features(self, values: FloatArray) -> FloatArray:
        n_own = self.n_features - len(self.shared)
        total = values[:, :n_own]
        for column, members in enumerate(self.shared, n_own):
            for j in members:
                total[:, j] += values[:, column] / len(members)
        return total

    def _steps(self, rows: FloatArray) -> Any:
        """Yield where rows stand in the trees, (n, trees), and where they go, −1 at a leaf."""
        forest = self.forest
        node = np.broadcast_to(forest.starts[:-1], (len(rows), len(forest.output))).copy()
        if self.how == ROUND:  # a tree of one leaf adds too
            yield node, np.where(forest.feature[node] < 0, node, -1)
        while True:
            inner = forest.feature[node] >= 0
            if not inner.any():
                return
            row, _ = np.nonzero(inner)
            at = node[inner]
            goes = goes_left(forest, at, rows[row, forest.feature[at]])
            child = np.full(node.shape, -1)
            child[inner] = np.where(goes, forest.left[at], forest.right[at])
            yield node, child
            node = np.where(inner, child, node)

    @property
    def _n_rounds(self) -> int:
        return len(self.forest.output) // self.forest.n_outputs

    @cached_property
    def _tree(self) -> Index:
        return np.repeat(np.arange(len(self.forest.output)), np.diff(self.forest.starts))

    @cached_property
    def _paths(self) -> ForestPaths:
        return forest_paths(self.forest)

    @cached_property
    def means(self) -> FloatArray:
        """The mean of the leaves below each node, by the training rows that reach them."""
        forest = self.forest
        means = forest.value.copy()
        for node in reversed(np.flatnonzero(forest.feature >= 0)):
            left, right = forest.left[node], forest.right[node]
            total = forest.cover[left] + forest.cover[right]
            share = forest.cover[left] / total if total > 0 else 0.5
            means[node] = share * means[left] + (1 - share) * means[right]
        return means


def gaussian_pieces(mean: FloatArray, variance: FloatArray) -> Pieces:
    """Return the log-densities of Gaussian numbers, given arrays of shape (J, K)."""
    centres = mean.mean(axis=1)
    away = centres[:, None] - mean
    constant = -0.5 * (away**2 / variance + np.log(2 * np.pi * variance))
    coefficients = np.stack([constant, -away / variance, -0.5 / variance], axis=1)
    n = len(mean)
    none: list[NDArray[np.float64]] = [np.zeros(0)] * n
    return Pieces(range(n), none, list(centres[:, None]), list(coefficients[:, None]))
