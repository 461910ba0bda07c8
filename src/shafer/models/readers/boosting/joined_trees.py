"""``joined_trees``: the trees of a boosted model as one set of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer.kernels.tree_shap import Forest, Index


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
