"""Look-up of Shapley values, compiled by numba: the twin of ``tree_tables.looked_up``."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, misc"
# The compiler infers types from the arguments; annotations inside compiled code have no effect.

from __future__ import annotations

import numba
import numpy as np

from shafer._kernels.compiled.kernel import kernel
from shafer._kernels.compiled.numba_trees import _split
from shafer._kernels.tree_tables import TreeTables
from shafer._kernels.trees import Forest
from shafer._typing import FloatArray

_BLOCK = 512  # rows that are worked on together: each table is read once for all of them
_FEW = 64


@kernel()
def _fail(goes, left, bit, pattern):
    """Set a bit of the patterns where rows fail a condition."""
    for b in range(pattern.shape[0]):
        pattern[b] |= (goes[b] ^ left) << bit


@kernel()
def _whole(goes, found):
    for b in range(found.shape[0]):
        found[b] = np.int32(goes[b])


@kernel()
def _look_up(table, pattern, values):
    for b in range(pattern.shape[0]):
        values[b] += table[pattern[b]]


@kernel()
def _one_block(forest, tables, most_nodes, rows, out):
    """Fill the values of a few rows, in one thread."""
    size, n_features = rows.shape
    n_outputs, width = out.shape[1], out.shape[2]
    x = np.empty((n_features, size))
    for b in range(size):
        for j in range(n_features):
            x[j, b] = rows[b, j]
    values = np.zeros((n_outputs, width, size))
    answers = np.empty(size)
    goes = np.empty((most_nodes, size), dtype=np.int32)
    pattern = np.empty(size, dtype=np.int32)
    is_asked = np.empty(most_nodes, dtype=np.bool_)
    for tree in range(forest.output.shape[0]):
        first_node = forest.starts[tree]
        is_asked[:] = False
        for group in range(tables.first_group[tree], tables.first_group[tree + 1]):
            pattern[:] = 0
            for c in range(tables.first_condition[group], tables.first_condition[group + 1]):
                node = tables.split[c]
                here = node - first_node
                if not is_asked[here]:
                    is_asked[here] = True
                    words = forest.words[
                        forest.first_word[node] : forest.first_word[node] + forest.n_words[node]
                    ]
                    _split(
                        x[forest.feature[node]],
                        forest.missing[node],
                        forest.missing_left[node],
                        forest.threshold[node],
                        words,
                        forest.set_goes_right[node],
                        answers,
                    )
                    _whole(answers, goes[here])
                _fail(goes[here], np.int32(tables.left[c]), np.int32(tables.bit[c]), pattern)
            for c in range(tables.first_column[group], tables.first_column[group + 1]):
                _look_up(
                    tables.values[tables.start[c] :],
                    pattern,
                    values[tables.output[c], tables.feature[c]],
                )
    for b in range(size):
        for k in range(n_outputs):
            for j in range(width):
                out[b, k, j] = values[k, j, b]


@kernel(parallel=True)
def _all_rows(forest, tables, most_nodes, rows, out):
    n = rows.shape[0]
    for block in numba.prange((n + _BLOCK - 1) // _BLOCK):
        part = slice(block * _BLOCK, min(n, (block + 1) * _BLOCK))
        _one_block(forest, tables, most_nodes, rows[part], out[part])


def looked_up(
    forest: Forest, tables: TreeTables, rows: FloatArray, width: int | None = None
) -> FloatArray:
    """Return the Shapley values of every feature, (n, outputs, features)."""
    n_columns = rows.shape[1] if width is None else width
    out = np.zeros((rows.shape[0], forest.n_outputs, n_columns))
    most_nodes = int(np.diff(forest.starts).max(initial=1))
    # For few rows, waking other threads would take longer than the work.
    fill = _one_block if len(rows) <= _FEW else _all_rows
    fill(forest, tables, most_nodes, np.ascontiguousarray(rows, np.float64), out)
    return out
