"""Compile the kernels of numba for the types of input that the tests use; the code stays on disk.

Part of ``make test``. Without it, the two workers of pytest would both compile them, while coverage
traces the compiler.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from shafer._kernels.compiled import numba_kernels, numba_trees
from shafer._kernels.trees import Forest, forest_paths

# Rows, features and classes. The last three are for several threads.
SMALL = [(1, 1, 2), (20, 2, 2), (1, 2, 9), (20, 2, 9), (20, 2, 2500)]
LARGE = [(500, 3000, 3), (1, 2000, 600)]


def compile_linear(dtype: str) -> None:
    """Compile what pools weights and what turns them into masses."""
    for n, n_features, n_classes in SMALL + LARGE * (dtype == "float64"):
        shapes = (n, n_features), (n_features,), (n_features, n_classes), (n_classes,)
        pooled = numba_kernels.pool_linear(*(np.ones(shape, dtype) for shape in shapes))
        numba_kernels.closed_forms(pooled)
    opposite = np.array([[[1.0, -1.0]]], dtype)
    numba_kernels.closed_forms(numba_kernels.pool(opposite))
    for n in (2, 2**19):
        weights = np.ones((n, 1, 2), dtype)
        numba_kernels.additive_weights(weights, weights[0])
        pooled = numba_kernels.pool(weights)
    if dtype == "float64":
        numba_kernels.closed_forms(pooled)
    features = sparse.csr_array(np.eye(3, dtype=dtype))
    head = np.ones(3, dtype), np.ones((3, 4), dtype), np.ones(4, dtype)
    numba_kernels.pool_linear_sparse(features, *head)


def compile_trees() -> None:
    """Compile the Shapley values, with a tree of one question."""
    of_nodes = {
        "feature": np.array([0, -1, -1]),
        "threshold": np.zeros(3),
        "left": np.array([1, -1, -1]),
        "right": np.array([2, -1, -1]),
        "missing": np.zeros(3, np.uint8),
        "missing_left": np.zeros(3, bool),
        "first_word": np.zeros(3, int),
        "n_words": np.zeros(3, int),
        "set_goes_right": np.zeros(3, bool),
        "value": np.array([0.0, 1.0, 2.0]),
        "cover": np.array([2.0, 1.0, 1.0]),
    }
    forest = Forest(
        starts=np.array([0, 3]), output=np.array([0]), words=np.zeros(0, np.uint32), **of_nodes
    )
    for n in (1, 1000):
        numba_trees.tree_shap(forest, forest_paths(forest), np.ones((n, 1)))


if __name__ == "__main__":
    for dtype in ("float32", "float64"):
        compile_linear(dtype)
    compile_trees()
