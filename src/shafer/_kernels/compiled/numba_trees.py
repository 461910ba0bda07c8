"""Shapley values of trees, compiled by numba: the twin of ``trees.tree_shap``, in equal bits.

Rows are taken in small blocks. Each step of the recursion is a loop over the rows of a block, which
the compiler turns into vector instructions; blocks are spread over threads.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, misc"
# The compiler infers types from the arguments; annotations inside compiled code have no effect.

from __future__ import annotations

import numba
import numpy as np

from shafer._kernels.compiled.kernel import kernel
from shafer._kernels.trees import Forest, ForestPaths, quadrature
from shafer._typing import FloatArray

_BLOCK = 128  # rows that are worked on together
_ZERO = 1e-35


@kernel()
def _split(x, missing, missing_left, threshold, words, set_goes_right, goes):
    """Write for each row of a block whether it goes left; see ``goes_left`` of the reference."""
    if words.shape[0] == 0 and missing != 1:
        lost_left = missing_left if missing == 2 else threshold >= 0.0
        for b in range(x.shape[0]):
            value = x[b]
            left = (value <= threshold) | ((value != value) & lost_left)
            goes[b] = 1.0 if left else 0.0
        return
    for b in range(x.shape[0]):
        value = x[b]
        lost = value != value
        if lost:
            value = 0.0
        if (lost and missing != 0) or (missing == 1 and abs(value) <= _ZERO):
            left = missing_left
        elif words.shape[0]:
            left = set_goes_right
            if -1.0 < value < 32.0 * words.shape[0]:
                category = np.int64(value)
                inside = (np.int64(words[category // 32]) >> (category % 32)) & 1 == 1
                left = inside != set_goes_right
        else:
            left = value <= threshold
        goes[b] = 1.0 if left else 0.0


@kernel()
def _agreement(goes, is_left, agrees):
    if is_left:
        for b in range(goes.shape[0]):
            agrees[b] = goes[b]
    else:
        for b in range(goes.shape[0]):
            agrees[b] = 1.0 - goes[b]


@kernel()
def _step(known, unknown, agrees, above, here):
    """Multiply the products of the parent by the factor of a node: known · o + unknown."""
    for b in range(agrees.shape[0]):
        here[b] = above[b] * (unknown + known * agrees[b])


@kernel()
def _step_again(known, unknown, agrees, met, missed, before, above, here):
    """Do the same at a feature that was met before, whose earlier factor is divided out."""
    for b in range(agrees.shape[0]):
        here[b] = above[b] * (unknown + known * agrees[b]) * (met if before[b] > 0.5 else missed)


@kernel()
def _attribute(met, missed, agrees, below, values):
    """Add the part of one quadrature node in what a feature receives for the leaves below."""
    for b in range(agrees.shape[0]):
        values[b] += below[b] * (met if agrees[b] > 0.5 else missed)


@kernel()
def _add(first, second, total):
    for b in range(total.shape[0]):
        total[b] = first[b] + second[b]


@kernel()
def _down(
    feature,
    parent,
    earlier,
    is_left,
    share,
    value,
    first,
    end,
    points,
    goes,
    agrees,
    product,
    threshold,
    missing,
    missing_left,
    first_word,
    n_words,
    set_goes_right,
    words,
    x,
):
    """Fill ``agrees`` and ``product`` for the nodes of one tree, parents first."""
    n_points = points.shape[0]
    product[:n_points] = 1.0
    for node in range(first, end):
        here = node - first
        if node > first:
            up, before = parent[node] - first, earlier[node]
            mine = agrees[here]
            _agreement(goes[up], is_left[node], mine)
            if before >= 0:
                old = agrees[before - first]
                for b in range(mine.shape[0]):
                    mine[b] *= old[b]
            for q in range(n_points):
                known, unknown = points[q], 1.0 - points[q]
                above, below = product[up * n_points + q], product[here * n_points + q]
                if before >= 0:
                    part = unknown * share[before]
                    met, missed = 1.0 / (part + known), 1.0 / part
                    _step_again(known, unknown * share[node], mine, met, missed, old, above, below)
                else:
                    _step(known, unknown * share[node], mine, above, below)
        if feature[node] >= 0:
            some = words[first_word[node] : first_word[node] + n_words[node]]
            _split(
                x[feature[node]],
                missing[node],
                missing_left[node],
                threshold[node],
                some,
                set_goes_right[node],
                goes[here],
            )
        else:
            for q in range(n_points):
                leaf = product[here * n_points + q]
                for b in range(leaf.shape[0]):
                    leaf[b] *= value[node]


@kernel()
def _up(
    feature,
    left,
    right,
    asked,
    earlier,
    share,
    first,
    end,
    points,
    weights,
    agrees,
    product,
    values,
):
    """Sum the products from the leaves upwards, and give every feature its part."""
    n_points = points.shape[0]
    for node in range(end - 1, first, -1):
        here, before = node - first, earlier[node]
        column = values[asked[node]]
        for q in range(n_points):
            below = product[here * n_points + q]
            if feature[node] >= 0:
                one = product[(left[node] - first) * n_points + q]
                other = product[(right[node] - first) * n_points + q]
                _add(one, other, below)
            unknown, r = 1.0 - points[q], share[node]
            met, missed = (1.0 - r) * weights[q] / (unknown * r + points[q]), -weights[q] / unknown
            _attribute(met, missed, agrees[here], below, column)
            if before >= 0:
                r = share[before]
                met = (1.0 - r) * weights[q] / (unknown * r + points[q])
                _attribute(-met, -missed, agrees[before - first], below, column)


@kernel()
def _one_block(forest, paths, most_nodes, points, weights, rows, out):
    """Fill the values of a few rows, in one thread."""
    size, n_features = rows.shape
    n_outputs = out.shape[1]
    x = np.empty((n_features, size))
    for b in range(size):
        for j in range(n_features):
            x[j, b] = rows[b, j]
    values = np.zeros((n_outputs, n_features, size))
    goes = np.empty((most_nodes, size))
    agrees = np.empty((most_nodes, size))
    product = np.empty((most_nodes * points.shape[1], size))
    for tree in range(forest.output.shape[0]):
        first, end = forest.starts[tree], forest.starts[tree + 1]
        q = paths.n_points[tree]
        _down(
            forest.feature,
            paths.parent,
            paths.earlier,
            paths.is_left,
            paths.share,
            forest.value,
            first,
            end,
            points[q, :q],
            goes,
            agrees,
            product,
            forest.threshold,
            forest.missing,
            forest.missing_left,
            forest.first_word,
            forest.n_words,
            forest.set_goes_right,
            forest.words,
            x,
        )
        _up(
            forest.feature,
            forest.left,
            forest.right,
            paths.asked,
            paths.earlier,
            paths.share,
            first,
            end,
            points[q, :q],
            weights[q, :q],
            agrees,
            product,
            values[forest.output[tree]],
        )
    for b in range(size):
        for k in range(n_outputs):
            for j in range(n_features):
                out[b, k, j] = values[k, j, b]


@kernel(parallel=True)
def _all_rows(forest, paths, most_nodes, points, weights, rows, out):
    n = rows.shape[0]
    for block in numba.prange((n + _BLOCK - 1) // _BLOCK):
        part = slice(block * _BLOCK, min(n, (block + 1) * _BLOCK))
        _one_block(forest, paths, most_nodes, points, weights, rows[part], out[part])


def tree_shap(forest: Forest, paths: ForestPaths, rows: FloatArray) -> FloatArray:
    """Return the Shapley values of every feature, (n, outputs, features)."""
    out = np.zeros((rows.shape[0], forest.n_outputs, rows.shape[1]))
    most = int(paths.n_points.max(initial=1))
    points, weights = np.zeros((most + 1, most)), np.zeros((most + 1, most))
    for q in set(paths.n_points.tolist()):
        points[q, :q], weights[q, :q] = quadrature(q)
    most_nodes = int(np.diff(forest.starts).max(initial=1))
    # For few rows, waking other threads would take longer than the work.
    fill = _one_block if len(rows) <= _BLOCK else _all_rows
    fill(forest, paths, most_nodes, points, weights, np.ascontiguousarray(rows, np.float64), out)
    return out
