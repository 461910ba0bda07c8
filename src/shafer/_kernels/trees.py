r"""Shapley values of trees from a quadrature: the reference, and the arrays that it reads.

A leaf with value :math:`v` lies behind the features of its path. Feature :math:`i` of the path
agrees with the row (:math:`o_i = 1`) or not (:math:`o_i = 0`); of the training rows that reach its
splits, the share :math:`r_i` goes on to the leaf. The path-dependent Shapley value of the feature
(Lundberg et al. 2020) averages over all orders in which features become known. As an integral over
the share :math:`t` of features that are known, it is

.. math:: \varphi_i = v \, (o_i - r_i) \int_0^1 \prod_{j \ne i}
          \bigl(t \, o_j + (1 - t) \, r_j\bigr) \, dt .

The integrand is a polynomial whose degree is one less than the number of features on the path, so a
Gauss-Legendre rule with half as many nodes is exact. The products are shared by all leaves below a
node, so the work is the number of nodes times half the depth. Every factor is nonnegative, and
nothing cancels. That one pass over the tree suffices was shown by Yu, Xu, Zhang and Bie (2022).
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shafer._typing import FloatArray

Index = NDArray[np.int64]

NAN_IS_ZERO, ZERO_IS_MISSING, NAN_IS_MISSING = 0, 1, 2
"""What a split does with NaN: reads it as 0; sends it and 0 to one side; sends it to one side."""

_ZERO = 1e-35  # LightGBM takes smaller numbers for 0
_SMALLEST_SHARE = 1e-30


class Forest(NamedTuple):
    """Trees as arrays over all nodes of all trees; a child comes after its parent.

    A row goes left where ``x <= threshold``. At a split on categories (``n_words > 0``) it goes
    left where the category is among those whose bits are set in ``words``, or where it is not if
    ``set_goes_right``.
    """

    starts: Index  # (trees + 1,): the root of each tree, and the number of nodes
    output: Index  # (trees,): the logit that a tree adds to
    feature: Index  # (nodes,): −1 for a leaf
    threshold: FloatArray
    left: Index
    right: Index
    missing: NDArray[np.uint8]  # one of the three constants above
    missing_left: NDArray[np.bool_]
    first_word: Index
    n_words: Index
    set_goes_right: NDArray[np.bool_]
    words: NDArray[np.uint32]
    value: FloatArray  # of a leaf
    cover: FloatArray  # training rows that reach a node, by their weight

    @property
    def n_outputs(self) -> int:
        """The number of logits."""
        return int(self.output.max()) + 1 if len(self.output) else 1


class ForestPaths(NamedTuple):
    """What the paths to the nodes of a forest have in common for all rows."""

    parent: Index  # −1 for a root
    asked: Index  # the feature of the parent
    is_left: NDArray[np.bool_]
    share: FloatArray  # of training rows, over all splits of the path on the same feature
    earlier: Index  # the last node above whose parent asks about the same feature; −1 if none
    n_points: Index  # (trees,): quadrature nodes
    expected: FloatArray  # (outputs,): mean of the leaves


def forest_paths(forest: Forest) -> ForestPaths:
    """Follow the paths of every tree once."""
    n_nodes = len(forest.feature)
    inner = np.flatnonzero(forest.feature >= 0)
    parent = np.full(n_nodes, -1)
    parent[forest.left[inner]] = parent[forest.right[inner]] = inner
    below = np.flatnonzero(parent >= 0)
    asked = np.full(n_nodes, -1)
    asked[below] = forest.feature[parent[below]]
    is_left = np.zeros(n_nodes, dtype=bool)
    is_left[forest.left[inner]] = True
    earlier = _earlier(parent, asked)
    share = np.ones(n_nodes)
    share[below] = _shares(forest, parent, below)
    reach, n_features = share.copy(), np.zeros(n_nodes, dtype=np.int64)
    for nodes in levels(parent):
        before = earlier[nodes]
        reach[nodes] *= reach[parent[nodes]]
        share[nodes] *= np.where(before >= 0, share[before], 1.0)
        n_features[nodes] = n_features[parent[nodes]] + (before < 0)
    share = np.maximum(share, _SMALLEST_SHARE)
    deepest = np.maximum.reduceat(n_features, forest.starts[:-1])
    tree = np.repeat(np.arange(len(forest.output)), np.diff(forest.starts))
    leaves = forest.feature < 0
    expected = np.zeros(forest.n_outputs)
    np.add.at(expected, forest.output[tree[leaves]], (reach * forest.value)[leaves])
    return ForestPaths(
        parent, asked, is_left, share, earlier, np.maximum(1, -(-deepest // 2)), expected
    )


def _earlier(parent: Index, asked: Index) -> Index:
    """Return the last node above each one whose parent asks about the same feature, or −1."""
    above = parent.copy()
    while True:
        wrong = (above >= 0) & (asked[above] != asked)
        if not wrong.any():
            return above
        above[wrong] = parent[above[wrong]]


def _shares(forest: Forest, parent: Index, below: Index) -> FloatArray:
    """Return each node's share of the training rows of its parent; halves if it has none."""
    up = parent[below]
    total = forest.cover[forest.left[up]] + forest.cover[forest.right[up]]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0.0, forest.cover[below] / total, 0.5)


def levels(parent: Index) -> list[Index]:
    """Return the nodes by depth, without the roots."""
    depth = np.zeros(len(parent), dtype=np.int64)
    above = parent
    while (above >= 0).any():
        depth += above >= 0
        above = np.where(above >= 0, parent[above], -1)
    order = np.argsort(depth, kind="stable")
    ends = np.searchsorted(depth[order], np.arange(1, depth.max(initial=0) + 2))
    return [order[a:b] for a, b in pairwise(ends)]


@cache
def quadrature(n_points: int) -> tuple[FloatArray, FloatArray]:
    """Return the nodes and weights of the Gauss-Legendre rule on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(n_points)
    return (nodes + 1.0) / 2.0, weights / 2.0


# Elements of a block of rows: (nodes, points, rows).
_BLOCK = 2**20


def tree_shap(forest: Forest, paths: ForestPaths, rows: FloatArray) -> FloatArray:
    """Return the Shapley values of every feature, (n, outputs, features).

    Together with ``paths.expected`` they add up to the outputs. The compiled kernel does the same
    operations in the same order: equal bits.

    Parameters
    ----------
    forest, paths : the trees
    rows : array of shape (n, features)
        In the precision that the trees compare in.
    """
    n, n_features = rows.shape
    plan = _plan_of(forest, paths, n_features)
    shape = (forest.n_outputs, n_features)
    values = np.zeros((n, *shape))
    step = max(1, _BLOCK // max(1, plan.points.size))
    for start in range(0, n, step):
        part = plan.attributed(forest, paths, np.asarray(rows[start : start + step], np.float64))
        values[start : start + step] = (plan.sums @ part).T.reshape(-1, *shape)
    return values


def _plan_of(forest: Forest, paths: ForestPaths, n_features: int) -> _Plan:
    """Return the plan of a forest; that of the last one is kept, for services of single rows."""
    global _last
    if _last is not None and _last[0] is paths and _last[1] == n_features:
        return _last[2]
    tree = np.repeat(np.arange(len(forest.output)), np.diff(forest.starts))
    plan = _Plan.of(forest, paths, tree, n_features)
    _last = (paths, n_features, plan) if plan.points.size <= _BLOCK else None
    return plan


_last: tuple[ForestPaths, int, _Plan] | None = None


class _Plan(NamedTuple):
    """What the steps over a forest have in common for all rows.

    A step is a node and a quadrature point, or the last node above that asks about the same
    feature and the point: it adds to the feature of the node's parent.
    """

    points: FloatArray  # (nodes, points); 0.5 where a tree has fewer
    levels: list[Index]
    node: Index  # (steps,): whose products are added
    seen: Index  # (steps,): the node whose agreement decides what they are multiplied by
    point: Index
    met: FloatArray  # (steps,): the factor if the row agrees
    missed: FloatArray
    sums: sparse.csr_array  # (outputs × features, steps): ones, in the order of summation

    @classmethod
    def of(cls, forest: Forest, paths: ForestPaths, tree: Index, n_features: int) -> _Plan:
        """List the steps in the order of the compiled kernel: by tree, the last node first."""
        most = int(paths.n_points.max(initial=1))
        points, weights = np.full((most + 1, most), 0.5), np.zeros((most + 1, most))
        for q in set(paths.n_points.tolist()):
            points[q, :q], weights[q, :q] = quadrature(q)
        below = np.flatnonzero(paths.parent >= 0)
        below = below[np.lexsort((-below, tree[below]))]
        node, point, again = _steps(below, most)
        seen = np.where(again > 0, paths.earlier[node], node)
        kept = (point < paths.n_points[tree[node]]) & (seen >= 0)
        node, point, again, seen = (x[kept] for x in (node, point, again, seen))
        q = paths.n_points[tree[node]]
        weight, known, share = weights[q, point], points[q, point], paths.share[seen]
        unknown = 1.0 - known
        sign = 1.0 - 2.0 * again
        place = forest.output[tree[node]] * n_features + paths.asked[node]
        order = np.argsort(place, kind="stable")
        size = forest.n_outputs * n_features
        ends = np.concatenate([[0], np.cumsum(np.bincount(place, minlength=size))])
        return cls(
            points[paths.n_points[tree]],
            levels(paths.parent),
            node,
            seen,
            point,
            sign * ((1.0 - share) * weight / (unknown * share + known)),
            sign * (-weight / unknown),
            sparse.csr_array((np.ones(len(order)), order, ends), shape=(size, len(order))),
        )

    def attributed(self, forest: Forest, paths: ForestPaths, rows: FloatArray) -> FloatArray:
        """Return what each step adds, (steps, n)."""
        columns = np.ascontiguousarray(rows.T)
        agrees, product = self._downwards(forest, paths, columns)
        inner = forest.feature >= 0
        for nodes in [*reversed(self.levels)]:
            some = nodes[inner[nodes]]
            product[some] = product[forest.left[some]] + product[forest.right[some]]
        factor = np.where(agrees[self.seen] > 0.5, self.met[:, None], self.missed[:, None])
        added: FloatArray = product[self.node, self.point] * factor
        return added

    def _downwards(
        self, forest: Forest, paths: ForestPaths, columns: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return whether rows agree with the splits above on the same feature, and the products.

        The first is (nodes, n), the second (nodes, points, n), times the value at a leaf.
        """
        agrees = np.ones((len(forest.feature), columns.shape[1]))
        product = np.ones((*self.points.shape, columns.shape[1]))
        for nodes in self.levels:
            up, before = paths.parent[nodes], paths.earlier[nodes]
            goes = goes_left(forest, up[:, None], columns[forest.feature[up]])
            agrees[nodes] = goes == paths.is_left[nodes, None]
            again = before >= 0
            agrees[nodes[again]] *= agrees[before[again]]
            known = self.points[nodes][:, :, None]
            unknown = (1.0 - known) * paths.share[nodes, None, None]
            product[nodes] = product[up] * (unknown + known * agrees[nodes, None])
            some, first = nodes[again], before[again]
            known = self.points[some][:, :, None]
            part = (1.0 - known) * paths.share[first, None, None]
            met = agrees[first, None] > 0.5
            product[some] *= np.where(met, 1.0 / (part + known), 1.0 / part)
        leaves = forest.feature < 0
        product[leaves] *= forest.value[leaves, None, None]
        return agrees, product


def _steps(nodes: Index, n_points: int) -> tuple[Index, Index, Index]:
    """Return nodes, points, and 1 where a step is about the earlier node; each point twice."""
    point = np.tile(np.repeat(np.arange(n_points), 2), len(nodes))
    return np.repeat(nodes, 2 * n_points), point, np.tile([0, 1], n_points * len(nodes))


def goes_left(forest: Forest, node: int | Index, column: FloatArray) -> NDArray[np.bool_]:
    """Tell which rows go left at a split, from the column of its feature.

    Several nodes are given as (m, 1), with their columns as (m, n).
    """
    kind, lost = forest.missing[node], np.isnan(column)
    x = np.where(lost, 0.0, column)
    missing = (lost & (kind != NAN_IS_ZERO)) | ((kind == ZERO_IS_MISSING) & (np.abs(x) <= _ZERO))
    left = x <= forest.threshold[node]
    if np.any(forest.n_words[node]):
        inside = _in_set(forest, node, x) != forest.set_goes_right[node]
        left = np.where(forest.n_words[node] > 0, inside, left)
    chosen: NDArray[np.bool_] = np.where(missing, forest.missing_left[node], left)
    return chosen


def _in_set(forest: Forest, node: int | Index, x: FloatArray) -> NDArray[np.bool_]:
    first, n_words = forest.first_word[node], forest.n_words[node]
    known = (x > -1.0) & (x < 32.0 * n_words)
    category = np.where(known, x, 0.0).astype(np.int64)
    place = np.minimum(first + category // 32, len(forest.words) - 1)
    word = forest.words[place].astype(np.int64)
    inside: NDArray[np.bool_] = known & ((word >> (category % 32)) & 1 == 1)
    return inside
