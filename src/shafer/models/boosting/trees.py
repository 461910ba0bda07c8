"""The trees of a boosted model as arrays, and the contributions of features from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from shafer._kernels.dispatch import looked_up, tree_shap
from shafer._kernels.tree_tables import (
    TreeTables,
    background_tables,
    pair_tables,
    path_tables,
    table_size,
)
from shafer._kernels.trees import Forest, ForestPaths, Index, forest_paths, goes_left
from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError


@final
@dataclass(frozen=True, eq=False)
class TreeTable:
    """One tree as arrays over its nodes, the root first; children of a leaf are negative.

    ``categories`` has, for each split on categories, the node, and the categories of its set.
    """

    output: int
    feature: Index
    threshold: FloatArray
    left: Index
    right: Index
    missing: NDArray[np.uint8]
    missing_left: NDArray[np.bool_]
    value: FloatArray
    cover: FloatArray
    categories: Sequence[tuple[int, Index]] = ()


def joined_trees(trees: Sequence[TreeTable], *, set_goes_right: bool) -> Forest:
    """Join trees; nodes that no row can reach are dropped, and children come after parents."""
    orders = [_parents_first(tree) for tree in trees]
    starts = np.concatenate([[0], np.cumsum([len(order) for order in orders])]).astype(np.int64)
    first_word = np.zeros(starts[-1], dtype=np.int64)
    n_words = np.zeros_like(first_word)
    words: list[NDArray[np.uint32]] = []
    n_before = 0
    for tree, order, start in zip(trees, orders, starts, strict=False):
        place = _places(order, len(tree.feature))
        for node, categories in tree.categories:
            bits = _bits(categories)
            first_word[start + place[node]], n_words[start + place[node]] = n_before, len(bits)
            words.append(bits)
            n_before += len(bits)

    def column(name: str) -> NDArray[Any]:
        return np.concatenate(
            [getattr(tree, name)[order] for tree, order in zip(trees, orders, strict=True)]
        )

    leaf = column("left") < 0
    return Forest(
        starts,
        np.array([tree.output for tree in trees], dtype=np.int64),
        np.where(leaf, -1, column("feature")).astype(np.int64),
        column("threshold").astype(np.float64),
        _children(trees, orders, starts, "left"),
        _children(trees, orders, starts, "right"),
        column("missing").astype(np.uint8),
        column("missing_left").astype(bool),
        first_word,
        n_words,
        np.full(starts[-1], set_goes_right),
        np.concatenate([np.zeros(0, dtype=np.uint32), *words]),
        np.where(leaf, column("value"), 0.0).astype(np.float64),
        column("cover").astype(np.float64),
    )


def _parents_first(tree: TreeTable) -> Index:
    """Return the nodes that can be reached from the root, level by level."""
    levels = [np.zeros(1, dtype=np.int64)]
    while True:
        inner = levels[-1][tree.left[levels[-1]] >= 0]
        if not len(inner):
            return np.concatenate(levels)
        levels.append(np.concatenate([tree.left[inner], tree.right[inner]]).astype(np.int64))


def _places(order: Index, n_nodes: int) -> Index:
    """Return the place of each node in an order of nodes; −1 if it is not there."""
    place = np.full(n_nodes, -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    return place


def _children(
    trees: Sequence[TreeTable], orders: Sequence[Index], starts: Index, side: str
) -> Index:
    """Return the children of all nodes as positions among all nodes; −1 for leaves."""
    parts = []
    for tree, order, start in zip(trees, orders, starts, strict=False):
        child = getattr(tree, side)[order]
        inner = child >= 0
        found = np.full(len(order), -1, dtype=np.int64)
        found[inner] = start + _places(order, len(tree.feature))[child[inner]]
        parts.append(found)
    return np.concatenate(parts)


def _bits(categories: Index) -> NDArray[np.uint32]:
    """Return a set of categories as bits, 32 to a word."""
    bits = np.zeros(1 + int(np.max(categories, initial=0)) // 32, dtype=np.uint32)
    np.bitwise_or.at(bits, categories // 32, np.uint32(1) << (categories % 32).astype(np.uint32))
    return bits


# Exact contributions of features to a boosted model, faster than its library's.

# Relative to the largest score. Libraries add up scores in single precision; another leaf in any
# tree changes a score by more.
_TOLERANCE = 1e-5
# Elements of tables; more take longer to make than they save.
_MOST_OF_PATHS = 2**26
_MOST_OF_BACKGROUND = 2**27


@final
@dataclass(frozen=True, eq=False)
class TreeBackground:
    """Rows that the values of trees are compared with.

    Attributes
    ----------
    rows : array of shape (m, features)
        As the trees compare them; no two are equal.
    weight : array of shape (m,)
    """

    rows: FloatArray
    weight: FloatArray

    @classmethod
    def of(cls, rows: FloatArray, weight: FloatArray | None, most: int) -> Self:
        """Join equal rows, and take some at even distances if there are too many."""
        weight = np.ones(len(rows)) if weight is None else weight
        rows, weight = np.ascontiguousarray(rows[weight > 0.0]), weight[weight > 0.0]
        bits = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
        _, first, place = np.unique(bits, return_index=True, return_inverse=True)
        joint = np.bincount(place.ravel(), weight).astype(np.float64)
        order = np.argsort(first)
        if len(order) > most:
            order = order[np.linspace(0, len(order) - 1, most).round().astype(np.int64)]
        return cls(rows[first[order]], joint[order])

    def plain(self) -> dict[str, Any]:
        """Return plain arrays for a file, in single precision where that loses nothing."""
        with np.errstate(over="ignore"):
            single = self.rows.astype(np.float32)
        same = np.array_equal(single.astype(np.float64), self.rows, equal_nan=True)
        return {"rows": single if same else self.rows, "weight": self.weight}

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Self:
        """Read what :meth:`plain` gave."""
        rows, weight = (np.asarray(given[name], np.float64) for name in ("rows", "weight"))
        if rows.ndim != 2 or weight.shape != rows.shape[:1] or not np.all(weight > 0.0):
            raise ValueError("the rows that trees are compared with need one weight > 0 each.")
        return cls(rows, weight)


@final
@dataclass(frozen=True, eq=False)
class ShapleyTrees:
    """The trees of a model, read on first use.

    Attributes
    ----------
    n_features : int
    read : callable
        Returns the trees, or None if they cannot be read.
    score : callable
        The library's own scores of rows, (n, outputs).
    symmetric : bool
        All nodes of a level ask the same: then a tree is one table.
    background : TreeBackground or None
        What rows are compared with; None for path-dependent values.
    """

    n_features: int
    read: Callable[[], Forest | None]
    score: Callable[[FloatArray], FloatArray]
    symmetric: bool = False
    background: TreeBackground | None = None

    def compared(self, background: TreeBackground) -> ShapleyTrees:
        """Return the same trees with values relative to some rows."""
        if background.rows.shape[1] != self.n_features:
            raise ValueError(
                f"the rows that trees are compared with have {background.rows.shape[1]} columns; "
                f"the model takes {self.n_features}."
            )
        return replace(self, background=background)

    def refuse_library(self) -> None:
        """Raise an error before values of the library are used, which know no background."""
        if self.background is not None:
            raise UnsupportedModelError(
                "tree_values='background' is not possible here: the trees of this model, or these "
                "rows, could not be read so that the scores are those of the library. Use "
                "tree_values='path', the default."
            )

    def contributions(self, rows: FloatArray, scores: FloatArray) -> FloatArray | None:
        """Return contributions with the bias as last column, (n, outputs, features + 1).

        They add up to the library's own scores. The result is None if they do not: then the
        library reads the rows in another way than we do.

        Parameters
        ----------
        rows : array of shape (n, features)
            In the precision that the trees compare in.
        scores : array of shape (n, outputs)
        """
        if self._read is None or rows.shape[1:] != (self.n_features,):
            return None
        values = self._values(rows)
        if values.shape[:2] != scores.shape:
            return None
        bias = np.broadcast_to(self._bias[:, None], (*scores.shape, 1))
        gap = np.abs(values.sum(axis=2) + bias[..., 0] - scores)
        if not np.all(gap <= _TOLERANCE * np.max(np.abs(scores), initial=1.0)):
            return None
        return np.concatenate([values, bias], axis=2)

    def pairs(self, rows: FloatArray) -> FloatArray | None:
        """Return the Shapley interactions of rows, (n, outputs, features, features).

        Both halves of a pair have the same number; the diagonal is 0. The result is None if the
        trees cannot be read.
        """
        if self._read is None or rows.shape[1:] != (self.n_features,):
            return None
        width = self.n_features
        found = looked_up(self._read[0], self._pair_tables, rows, width**2)
        square = found.reshape(len(rows), -1, width, width)
        return square + square.transpose(0, 1, 3, 2)

    @cached_property
    def _pair_tables(self) -> TreeTables:
        assert self._read is not None  # ``pairs`` has asked before
        _refuse_large(table_size(*self._read, pairs=True), "interactions", "")
        own = self.background
        given = (None, None) if own is None else (own.rows, own.weight)
        return pair_tables(*self._read, self.n_features, *given)

    @cached_property
    def _read(self) -> tuple[Forest, ForestPaths] | None:
        forest = self.read()
        return None if forest is None else (forest, forest_paths(forest))

    def _values(self, rows: FloatArray) -> FloatArray:
        assert self._read is not None  # ``contributions`` has asked before
        if self._tables is not None:
            return looked_up(self._read[0], self._tables, rows)
        return tree_shap(*self._read, rows)

    @cached_property
    def _tables(self) -> TreeTables | None:
        """The values of all patterns; None where a quadrature for each row is better."""
        if self._read is None or (self.background is None and not self.symmetric):
            return None
        size = table_size(*self._read)
        if self.background is None:
            return path_tables(*self._read) if size <= _MOST_OF_PATHS else None
        _refuse_large(size, "tree_values='background'", ", or use tree_values='path'")
        return background_tables(*self._read, self.background.rows, self.background.weight)

    @cached_property
    def _bias(self) -> FloatArray:
        """The scores of a row of zeros, less its contributions: the same for every row."""
        zeros = np.zeros((1, self.n_features))
        bias: FloatArray = (self.score(zeros) - self._values(zeros).sum(axis=2))[0]
        return bias


def _refuse_large(size: int, what: str, other: str) -> None:
    """Raise an error for tables of more elements than are made."""
    if size > _MOST_OF_BACKGROUND:
        raise UnsupportedModelError(
            f"{what} would need tables of {8 * size / 2**30:.1f} GiB for these trees; at most "
            f"{8 * _MOST_OF_BACKGROUND / 2**30:.0f} GiB are used. The tables of a leaf double with "
            f"each feature on its path. Train shallower trees, such as max_depth=8{other}."
        )


def scores_of_trees(forest: Forest, rows: FloatArray) -> FloatArray:
    """Return the sums of the leaves that rows reach, (n, outputs)."""
    node = np.repeat(forest.starts[:-1, None], len(rows), axis=1)
    row = np.broadcast_to(np.arange(len(rows)), node.shape)
    while (inner := forest.feature[node] >= 0).any():
        at, here = node[inner][:, None], row[inner]
        column = rows[here, forest.feature[at[:, 0]]][:, None]
        left = goes_left(forest, at, column)[:, 0]
        node[inner] = np.where(left, forest.left[at[:, 0]], forest.right[at[:, 0]])
    scores = np.zeros((len(rows), forest.n_outputs))
    for t in range(len(forest.output)):
        scores[:, forest.output[t]] += forest.value[node[t]]
    return scores


# Path contributions of a tree: what each feature changes on the way from the root to a leaf.


class Tree(NamedTuple):
    """A binary tree as arrays over its nodes; children of a leaf are negative."""

    left: NDArray[np.intp]
    right: NDArray[np.intp]
    feature: NDArray[np.intp]
    leaf_value: FloatArray
    cover: FloatArray


def path_contributions(tree: Tree, n_features: int) -> FloatArray:
    """Return what each feature has changed between the root and each node, (nodes, n_features)."""
    order = _path_parents_first(tree)
    value = tree.leaf_value.astype(np.float64).copy()
    for node in reversed(order):
        left, right = tree.left[node], tree.right[node]
        if left >= 0:
            total = tree.cover[left] + tree.cover[right]
            share = tree.cover[left] / total if total > 0 else 0.5
            value[node] = share * value[left] + (1 - share) * value[right]
    paths = np.zeros((len(value), n_features))
    for node in order:
        if tree.left[node] >= 0:
            for child in (tree.left[node], tree.right[node]):
                paths[child] = paths[node]
                paths[child, tree.feature[node]] += value[child] - value[node]
    return paths


def _path_parents_first(tree: Tree) -> list[int]:
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if tree.left[node] >= 0:
            waiting += [int(tree.left[node]), int(tree.right[node])]
    return order


# Contributions as boosting libraries give them: one column for each feature, the bias last.


def contributions_with_bias(given: Any) -> FloatArray:
    """Bring (n, J + 1) or (n, K, J + 1) to contributions (n, J) or (n, J, K), in float64.

    The bias is the same for every row. It is added to the first feature. This changes nothing, as
    weights of evidence are relative to the background mean of each component.
    """
    array = np.asarray(given, dtype=np.float64)
    by_feature = array if array.ndim == 2 else array.transpose(0, 2, 1)
    contributions = by_feature[:, :-1].copy()
    contributions[:, 0] += by_feature[:, -1]
    return contributions
