"""Path contributions of a tree: what each feature changes on the way from the root to a leaf.

The value of an inner node is the mean of the leaves below it, weighted by the training rows they
hold. A step from a node to its child changes the value, and the change belongs to the feature the
node asks about (Saabas 2014). Summed over the path and added to the root, the changes are exactly
the leaf; unlike Shapley values they depend on the order of the questions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray


class Tree(NamedTuple):
    """A binary tree as arrays over its nodes; children of a leaf are negative."""

    left: NDArray[np.intp]
    right: NDArray[np.intp]
    feature: NDArray[np.intp]
    leaf_value: FloatArray
    cover: FloatArray


def path_contributions(tree: Tree, n_features: int) -> FloatArray:
    """Return what each feature has changed between the root and each node, (nodes, n_features)."""
    order = _parents_first(tree)
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


def _parents_first(tree: Tree) -> list[int]:
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if tree.left[node] >= 0:
            waiting += [int(tree.left[node]), int(tree.right[node])]
    return order
