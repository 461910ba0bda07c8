r"""Shapley values of trees from tables: the reference, and how the tables are made.

A row meets the conditions of a path on feature :math:`j` (:math:`a_j = 1`) or not
(:math:`a_j = 0`); so does a row it is compared with (:math:`b_j`). In a leaf with value :math:`v`
the Shapley value of feature :math:`i` is

.. math:: \varphi_i = v \, \mathrm{E}_b \, (a_i - b_i) \int_0^1 \prod_{j \ne i}
          \bigl(t \, a_j + (1 - t) \, b_j\bigr) \, dt .

With the rows of a background as :math:`b` it is the interventional value. With independent
:math:`b_j`, each 1 with the share of training rows that go that way, it is the path-dependent one
of ``trees.py``. Either way it depends on the row through the bits :math:`a_j` only. So a leaf of
:math:`d` features has a table of :math:`2^d` patterns, and the background enters through the share
of its rows with each pattern. The integral is the quadrature of ``trees.py``; for each node the
products over all patterns are made one feature at a time, and nothing cancels. To count the
patterns of the background once was shown by Nadel and Wettenstein (2025).

Leaves below one node are joined into one table while it stays small. The pattern then has a bit for
each feature above the node, and one for each split below it. A symmetric tree is one table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shafer._kernels.trees import Forest, ForestPaths, Index, goes_left, levels, quadrature
from shafer._typing import FloatArray

# A joint table may have as many times the elements of the tables that it replaces.
_JOIN = 2.0
_MOST_BITS = 10
# Elements of intermediate arrays.
_BLOCK = 2**20


class TreeTables(NamedTuple):
    """What each group of leaves adds to each feature, for every pattern of a row.

    A bit of the pattern is set where a row fails one of the conditions of this bit.
    """

    first_group: Index  # (trees + 1,)
    first_condition: Index  # (groups + 1,)
    split: Index  # (conditions,): the node that asks
    left: NDArray[np.bool_]  # (conditions,): the row meets it by going left
    bit: Index  # (conditions,)
    first_column: Index  # (groups + 1,)
    output: Index  # (columns,): the logit that a column adds to
    feature: Index  # (columns,)
    start: Index  # (columns,): the first element in ``values``; the pattern is added
    values: FloatArray


class _Leaves(NamedTuple):
    """Leaves and what their paths ask; a column is a feature of a path."""

    node: Index  # (leaves,)
    n_features: Index  # (leaves,)
    first: Index  # (leaves + 1,): columns
    feature: Index  # (columns,)
    share: FloatArray  # (columns,): of the training rows that meet the conditions
    leaf: Index  # (conditions,)
    split: Index  # (conditions,): the node that asks
    left: NDArray[np.bool_]  # (conditions,)
    column: Index  # (conditions,)

    @property
    def bit(self) -> Index:
        """The bit of each condition: the position of its column in its leaf."""
        return self.column - self.first[self.leaf]


def _leaves_of(forest: Forest, paths: ForestPaths, first: int, end: int) -> _Leaves:
    """Follow the paths of the leaves among some nodes, without trees that do not split."""
    nodes = np.arange(first, end)
    nodes = nodes[(forest.feature[first:end] < 0) & (paths.parent[first:end] >= 0)]
    leaf, below = _upwards(paths.parent, nodes)
    asked = paths.asked[below]
    width = int(asked.max(initial=0)) + 1
    # The last node of a feature, the first on the way up, has the share of all its conditions.
    keys, at, column = np.unique(leaf * width + asked, return_index=True, return_inverse=True)
    owner = keys // width
    n_features = np.bincount(owner, minlength=len(nodes))
    return _Leaves(
        nodes,
        n_features,
        _starts(n_features),
        keys % width,
        paths.share[below[at]],
        leaf,
        paths.parent[below],
        paths.is_left[below],
        column,
    )


def _upwards(parent: Index, nodes: Index) -> tuple[Index, Index]:
    """Return pairs of a position in ``nodes`` and a node between it and the root, without roots.

    They are ordered by the first; the way goes upwards.
    """
    at, here = np.arange(len(nodes)), nodes
    found_at, found = [], []
    while len(here):
        kept = parent[here] >= 0
        at, here = at[kept], here[kept]
        found_at.append(at)
        found.append(here)
        here = parent[here]
    every = np.concatenate([np.zeros(0, dtype=np.int64), *found_at])
    order = np.argsort(every, kind="stable")
    return every[order], np.concatenate([np.zeros(0, dtype=np.int64), *found])[order]


def _starts(sizes: Index) -> Index:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def table_size(forest: Forest, paths: ForestPaths, *, pairs: bool = False) -> int:
    """Return the number of elements of the tables of all leaves, before they are joined."""
    d = _leaves_of(forest, paths, 0, len(forest.feature)).n_features.astype(np.float64)
    return int(np.sum((d * (d - 1.0) / 2.0 if pairs else d) * np.exp2(d)))


def background_tables(
    forest: Forest, paths: ForestPaths, rows: FloatArray, weight: FloatArray | None = None
) -> TreeTables:
    """Return the tables of interventional values.

    Parameters
    ----------
    forest, paths : the trees
    rows : array of shape (m, features)
        The background, in the precision that the trees compare in.
    weight : array of shape (m,), optional
    """
    return _tables(forest, paths, rows, weight)


def path_tables(forest: Forest, paths: ForestPaths) -> TreeTables:
    """Return the tables of path-dependent values."""
    return _tables(forest, paths, None, None)


def pair_tables(
    forest: Forest,
    paths: ForestPaths,
    n_features: int,
    rows: FloatArray | None = None,
    weight: FloatArray | None = None,
) -> TreeTables:
    r"""Return the tables of interactions: what two features add only together, half for each.

    With :func:`looked_up` they give :math:`\varphi_{ij}` for :math:`i < j` as column
    :math:`i J + j` of :math:`J^2`; the integrand is that of the values, with the difference
    :math:`a - b` for both features.

    Parameters
    ----------
    forest, paths : the trees
    n_features : int
    rows, weight : the background, optional
        Without it the interactions are path-dependent.
    """
    return _tables(forest, paths, rows, weight, n_features)


def _tables(
    forest: Forest,
    paths: ForestPaths,
    rows: FloatArray | None,
    weight: FloatArray | None,
    n_features: int | None = None,
) -> TreeTables:
    """Make the tables, some trees at a time; of pairs if the number of features is given."""
    groups = _joined(forest, paths)
    parts, first_group = [], [np.zeros(1, dtype=np.int64)]
    for first, end in _parts(forest, paths):
        nodes = int(forest.starts[first]), int(forest.starts[end])
        leaves = _leaves_of(forest, paths, *nodes)
        if rows is None:
            shares = _shares_of_paths(leaves)
        else:
            equal = np.ones(len(rows)) if weight is None else weight
            shares = _shares_of_rows(forest, leaves, rows, equal / np.sum(equal))
        if n_features is None:
            part, root = _grouped(forest, leaves, groups, _leaf_tables(leaves, shares))
        else:
            part, root = _pairs_of_leaves(forest, leaves, shares, n_features), leaves.node
        tree = np.searchsorted(forest.starts, root, side="right")
        parts.append(part)
        first_group.append(np.bincount(tree, minlength=end + 1)[first + 1 : end + 1])
    return _concatenated(parts, np.cumsum(np.concatenate(first_group)))


def _parts(forest: Forest, paths: ForestPaths) -> list[tuple[int, int]]:
    """Return ranges of trees whose tables are small together."""
    leaves = _leaves_of(forest, paths, 0, len(forest.feature))
    tree = np.searchsorted(forest.starts, leaves.node, side="right") - 1
    size = np.bincount(tree, leaves.n_features * np.exp2(leaves.n_features), len(forest.output))
    part = np.cumsum(size) // _BLOCK
    ends = [*(np.flatnonzero(np.diff(part)) + 1).tolist(), len(forest.output)]
    return list(zip([0, *ends[:-1]], ends, strict=True))


# The share of rows with each pattern, for each leaf.


def _shares_of_paths(leaves: _Leaves) -> FloatArray:
    """Return the shares of patterns if features were independent, one leaf after the other."""
    size = 1 << leaves.n_features
    owner, pattern = _patterns(size)
    shares = np.ones(len(owner))
    for bit in range(int(leaves.n_features.max(initial=0))):
        has = leaves.n_features[owner] > bit
        met = leaves.share[leaves.first[owner[has]] + bit]
        shares[has] *= np.where(pattern[has] >> bit & 1, 1.0 - met, met)
    return shares


def _shares_of_rows(
    forest: Forest, leaves: _Leaves, rows: FloatArray, weight: FloatArray
) -> FloatArray:
    """Return the shares of background rows with each pattern, one leaf after the other."""
    first = _starts(1 << leaves.n_features)
    shares = np.zeros(first[-1])
    conditions = leaves.split, leaves.left, leaves.bit, _starts(np.bincount(leaves.leaf))
    step = max(1, _BLOCK // max(1, len(leaves.leaf)))
    for begin in range(0, len(rows) if len(leaves.node) else 0, step):
        some = patterns_of(forest, *conditions, rows[begin : begin + step])
        place = (first[:-1, None] + some).ravel()
        every = np.tile(weight[begin : begin + step], len(leaves.node))
        shares += np.bincount(place, every, len(shares))
    return shares


def _patterns(sizes: Index) -> tuple[Index, Index]:
    """Return the owner and the number of each pattern, 0, 1, … for each owner."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    return owner, np.arange(len(owner)) - _starts(sizes)[owner]


def patterns_of(
    forest: Forest,
    split: Index,
    left: NDArray[np.bool_],
    bit: Index,
    first: Index,
    rows: FloatArray,
) -> Index:
    """Return the pattern of each row in each group of conditions, (groups, n)."""
    nodes, place = np.unique(split, return_inverse=True)
    columns = np.ascontiguousarray(rows.T)
    goes = goes_left(forest, nodes[:, None], columns[forest.feature[nodes]])
    fails = (goes[place] != left[:, None]).astype(np.int64) << bit[:, None]
    found: Index = np.bitwise_or.reduceat(fails, first[:-1], axis=0)
    return found


# The tables of leaves.


def _leaf_tables(leaves: _Leaves, shares: FloatArray) -> FloatArray:
    """Return what a leaf of value 1 adds to its features: (features, patterns), leaf by leaf."""
    n_features, first = leaves.n_features, _starts(1 << leaves.n_features)
    begin = _starts(n_features << n_features)
    tables = np.zeros(begin[-1])
    for d in np.unique(n_features).tolist():
        every = np.flatnonzero(n_features == d)
        step = max(1, (_BLOCK >> 4) // (d << d))
        for at in range(0, len(every), step):
            some = every[at : at + step, None]
            found = _values_of_patterns(shares[first[some] + np.arange(1 << d)], d)
            tables[begin[some] + np.arange(d << d)] = found.reshape(len(some), -1)
    return tables


def _values_of_patterns(shares: FloatArray, d: int) -> FloatArray:
    """Return the values of each feature for each pattern, (leaves, d, patterns)."""
    values = np.zeros((len(shares), d, 1 << d))
    for t, weight in zip(*quadrature(max(1, -(-d // 2))), strict=True):
        _leave_one_out(values, shares * weight, t, 0, d)
    return values


def _leave_one_out(
    values: FloatArray, products: FloatArray, t: float, lo: int, hi: int, first: int = 0
) -> None:
    """Add the values of features lo … hi − 1, once the products have the factors of all others.

    ``first`` is the feature whose values come first.
    """
    if hi - lo == 1:
        own, out = _by_bit(products, lo), _by_bit(values[:, lo - first], lo)
        out[:, :, 0] += own[:, :, 1]  # the row meets the conditions, the others do not
        out[:, :, 1] -= own[:, :, 0]
        return
    middle = (lo + hi) // 2
    for kept, others in (((lo, middle), (middle, hi)), ((middle, hi), (lo, middle))):
        made = products
        for j in range(*others):
            made = _with_factor(made, t, j)
        _leave_one_out(values, made, t, *kept, first)


def _with_factor(products: FloatArray, t: float, j: int) -> FloatArray:
    """Multiply by the factor of a feature, t a + (1 − t) b, and sum over what b may be."""
    made = np.empty_like(products)
    old, new = _by_bit(products, j), _by_bit(made, j)
    new[:, :, 0] = t * old[:, :, 1] + old[:, :, 0]
    new[:, :, 1] = (1.0 - t) * old[:, :, 0]
    return made


def _by_bit(array: FloatArray, j: int) -> FloatArray:
    """Return a view of (leaves, patterns) in which bit j has an axis of its own, the third."""
    return array.reshape(len(array), -1, 2, 1 << j)


# The tables of pairs of features.


def _pairs_of_leaves(
    forest: Forest, leaves: _Leaves, shares: FloatArray, n_features: int
) -> TreeTables:
    """Return the tables of all pairs; each leaf is a group."""
    d, first = leaves.n_features, _starts(1 << leaves.n_features)
    n_pairs = d * (d - 1) // 2
    begin, column = _starts(n_pairs << d), _starts(n_pairs)
    values, place = np.zeros(begin[-1]), np.zeros(column[-1], dtype=np.int64)
    start = np.zeros(column[-1], dtype=np.int64)
    for own in np.unique(d[d > 1]).tolist():
        one, other = np.triu_indices(own, 1)
        every = np.flatnonzero(d == own)
        at = column[every][:, None] + np.arange(len(one))
        features = leaves.feature[leaves.first[every][:, None] + np.arange(own)]
        place[at] = features[:, one] * n_features + features[:, other]
        start[at] = begin[every][:, None] + (np.arange(len(one)) << own)
        step = max(1, (_BLOCK >> 4) // (len(one) << own))
        for begun in range(0, len(every), step):
            some = every[begun : begun + step, None]
            found = _values_of_pairs(shares[first[some] + np.arange(1 << own)], own)
            found *= 0.5 * forest.value[leaves.node[some]][:, :, None]
            values[begin[some] + np.arange(len(one) << own)] = found.reshape(len(some), -1)
    tree = np.searchsorted(forest.starts, leaves.node, side="right") - 1
    return TreeTables(
        np.zeros(0, dtype=np.int64),
        _starts(np.bincount(leaves.leaf, minlength=len(leaves.node))),
        leaves.split,
        leaves.left,
        leaves.bit,
        column,
        np.repeat(forest.output[tree], n_pairs),
        place,
        start,
        values,
    )


def _values_of_pairs(shares: FloatArray, d: int) -> FloatArray:
    """Return the interactions of a leaf of value 1, (leaves, pairs, patterns)."""
    values = np.zeros((len(shares), d * (d - 1) // 2, 1 << d))
    for t, weight in zip(*quadrature(max(1, d // 2)), strict=True):
        made, at = shares * weight, 0
        for i in range(d - 1):
            own, differs = _by_bit(made, i), np.empty_like(made)
            out = _by_bit(differs, i)
            out[:, :, 0], out[:, :, 1] = own[:, :, 1], -own[:, :, 0]
            end = at + d - 1 - i
            _leave_one_out(values[:, at:end], differs, t, i + 1, d, i + 1)
            made, at = _with_factor(made, t, i), end
    return values


# Leaves below one node as one group.


class _Groups(NamedTuple):
    """Which nodes are the roots of groups, and what their patterns hold."""

    root: Index  # (nodes,): the root of the group of each node; −1 above the groups
    same: Index  # (nodes,): the first node of the tree with the same split


def _joined(forest: Forest, paths: ForestPaths) -> _Groups:
    """Join leaves from below while the joint table is small."""
    n_nodes = len(forest.feature)
    same = _same_splits(forest)
    inner = np.flatnonzero(forest.feature >= 0)
    at, below = _upwards(paths.parent, np.arange(n_nodes))
    fresh = paths.earlier[below] < 0  # the first condition on its feature
    n_above = np.bincount(at[fresh], minlength=n_nodes)
    # Pairs of a split and itself or a node above it.
    at, above = _upwards(paths.parent, inner)
    at, above = np.concatenate([at, at]), np.concatenate([above, paths.parent[above]])
    at, above = np.concatenate([at, np.arange(len(inner))]), np.concatenate([above, inner])
    splits = np.unique(above * n_nodes + same[inner[at]]) // n_nodes
    n_bits = n_above + np.bincount(splits, minlength=n_nodes)
    up, asker = _upwards(paths.parent, np.arange(n_nodes))
    width = int(forest.feature.max(initial=0)) + 1
    asked = [up * width + paths.asked[asker], above * width + forest.feature[inner[at]]]
    features = np.unique(np.concatenate(asked)) // width
    size = np.bincount(features, minlength=n_nodes) * np.exp2(np.minimum(n_bits, 60.0))
    kept = size.copy()
    is_joint = forest.feature < 0
    for nodes in [*reversed(levels(paths.parent)), forest.starts[:-1]]:
        some = nodes[forest.feature[nodes] >= 0]
        left, right = forest.left[some], forest.right[some]
        apart = kept[left] + kept[right]
        joins = is_joint[left] & is_joint[right] & (size[some] <= _JOIN * apart)
        joins &= n_bits[some] <= _MOST_BITS
        is_joint[some] = joins
        kept[some] = np.where(joins, size[some], apart)
    root = np.full(n_nodes, -1)
    for nodes in [forest.starts[:-1], *levels(paths.parent)]:
        up = paths.parent[nodes]
        inherited = np.where(up >= 0, root[up], -1)
        root[nodes] = np.where(inherited >= 0, inherited, np.where(is_joint[nodes], nodes, -1))
    return _Groups(root, same)


def _same_splits(forest: Forest) -> Index:
    """Return for each node the first one of its tree that asks the same; leaves are themselves."""
    n_nodes = len(forest.feature)
    tree = np.repeat(np.arange(len(forest.output)), np.diff(forest.starts))
    own = np.where((forest.feature < 0) | (forest.n_words > 0), np.arange(n_nodes), -1)
    asked = (forest.threshold, forest.missing_left, forest.missing, forest.feature, own, tree)
    order = np.lexsort(asked)
    new = np.zeros(n_nodes, dtype=bool)
    new[:1] = True
    for column in asked:
        new[1:] |= column[order[1:]] != column[order[:-1]]
    same = np.empty(n_nodes, dtype=np.int64)
    same[order] = order[np.flatnonzero(new)][np.cumsum(new) - 1]  # the sort is stable
    return same


def _grouped(
    forest: Forest, leaves: _Leaves, groups: _Groups, tables: FloatArray
) -> tuple[TreeTables, Index]:
    """Return the tables of groups, and the root of each."""
    root, group = np.unique(groups.root[leaves.node], return_inverse=True)
    owner = group[leaves.leaf]
    inside = groups.root[leaves.split] >= 0
    # A bit is a feature above the group, or a split inside. Splits come after features.
    width = int(leaves.feature.max(initial=0)) + 1
    asked = np.where(inside, width + groups.same[leaves.split], leaves.feature[leaves.column])
    span = width + len(forest.feature)
    keys, key = np.unique(owner * span + asked, return_inverse=True)
    n_bits = np.bincount(keys // span, minlength=len(root))
    bit = key - _starts(n_bits)[owner]
    columns, column = np.unique(
        group[np.repeat(np.arange(len(leaves.node)), leaves.n_features)] * width + leaves.feature,
        return_inverse=True,
    )
    n_columns = np.bincount(columns // width, minlength=len(root))
    size = n_columns << n_bits
    start = (
        np.repeat(_starts(size)[:-1], n_columns)
        + _patterns(n_columns)[1] * (1 << n_bits)[columns // width]
    )
    values = np.zeros(int(size.sum()))
    _sum_leaves(values, forest, leaves, tables, n_bits[group], bit, inside, start[column])
    # A condition above a group is asked once, not for each of its leaves; a split inside once.
    side = np.where(inside, True, leaves.left)
    split = np.where(inside, groups.same[leaves.split], leaves.split)
    n_nodes, most = len(forest.feature), int(n_bits.max(initial=0)) + 1
    found = np.unique(((owner * most + bit) * n_nodes + split) * 2 + side)
    rest, side = found // 2, found % 2 == 1
    tree = np.searchsorted(forest.starts, root, side="right") - 1
    part = TreeTables(
        np.zeros(0, dtype=np.int64),
        _starts(np.bincount(rest // n_nodes // most, minlength=len(root))),
        rest % n_nodes,
        side,
        rest // n_nodes % most,
        _starts(n_columns),
        np.repeat(forest.output[tree], n_columns),
        columns % width,
        start,
        values,
    )
    return part, root


def _sum_leaves(
    values: FloatArray,
    forest: Forest,
    leaves: _Leaves,
    tables: FloatArray,
    n_bits: Index,
    bit: Index,
    inside: NDArray[np.bool_],
    start: Index,
) -> None:
    """Add the table of each leaf to that of its group, for every pattern of the group."""
    value, begin = forest.value[leaves.node], _starts(leaves.n_features << leaves.n_features)
    n_conditions = np.bincount(leaves.leaf, minlength=len(leaves.node))
    first = _starts(n_conditions)
    is_joint = np.bincount(leaves.leaf, inside, len(leaves.node)) > 0
    for apart in np.flatnonzero(~is_joint).tolist():
        table, place = tables[begin[apart] : begin[apart + 1]], int(start[leaves.first[apart]])
        np.multiply(table, value[apart], out=values[place : place + len(table)])
    owner, pattern = _patterns(np.where(is_joint, 1 << n_bits, 0))
    own = np.zeros(len(owner), dtype=np.int64)
    flips = inside & ~leaves.left
    for at in range(int(n_conditions.max(initial=0))):
        has = np.flatnonzero(n_conditions[owner] > at)
        condition = first[owner[has]] + at
        fails = (pattern[has] >> bit[condition] & 1) ^ flips[condition]
        own[has] |= fails << leaves.bit[condition]
    for at in range(int(leaves.n_features.max(initial=0))):
        has = np.flatnonzero(leaves.n_features[owner] > at)
        leaf = owner[has]
        source = begin[leaf] + (at << leaves.n_features[leaf]) + own[has]
        target = start[leaves.first[leaf] + at] + pattern[has]
        values += np.bincount(target, tables[source] * value[leaf], len(values))


def _concatenated(parts: list[TreeTables], first_group: Index) -> TreeTables:
    """Join the tables of parts of the trees."""

    def offset(name: str, sizes: list[int]) -> Index:
        """Join positions, each part after the last; the last element is the end."""
        before = _starts(np.array(sizes))
        ends = name.startswith("first")
        found = [
            getattr(p, name)[: -1 if ends else None] + b
            for p, b in zip(parts, before, strict=False)
        ]
        return np.concatenate([*found, before[-1:]] if ends else found).astype(np.int64)

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in parts])

    return TreeTables(
        first_group,
        offset("first_condition", [len(part.split) for part in parts]),
        joined("split"),
        joined("left"),
        joined("bit"),
        offset("first_column", [len(part.start) for part in parts]),
        joined("output"),
        joined("feature"),
        offset("start", [len(part.values) for part in parts]),
        joined("values"),
    )


# The values of rows.


def looked_up(
    forest: Forest, tables: TreeTables, rows: FloatArray, width: int | None = None
) -> FloatArray:
    """Return the Shapley values of every feature, (n, outputs, features).

    The compiled kernel adds in the same order: equal bits.

    Parameters
    ----------
    forest : Forest
    tables : TreeTables
        Of this forest.
    rows : array of shape (n, features)
        In the precision that the trees compare in.
    width : int, optional
        The number of columns of the result, if they are not features.
    """
    n, n_features = len(rows), rows.shape[1] if width is None else width
    size = forest.n_outputs * n_features
    values = np.zeros((n, forest.n_outputs, n_features))
    if not len(tables.split):
        return values
    place = tables.output * n_features + tables.feature
    order = np.argsort(place, kind="stable")
    ends = _starts(np.bincount(place, minlength=size))
    sums = sparse.csr_array((np.ones(len(order)), order, ends), shape=(size, len(order)))
    group = np.repeat(np.arange(len(tables.first_column) - 1), np.diff(tables.first_column))
    conditions = tables.split, tables.left, tables.bit, tables.first_condition
    step = max(1, _BLOCK // max(len(tables.split), len(place)))
    for begin in range(0, n, step):
        part = np.asarray(rows[begin : begin + step], np.float64)
        pattern = patterns_of(forest, *conditions, part)
        added = tables.values[tables.start[:, None] + pattern[group]]
        values[begin : begin + step] = (sums @ added).T.reshape(-1, *values.shape[1:])
    return values
