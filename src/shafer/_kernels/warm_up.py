"""Compile all kernels for the arrays that the library gives them, and keep them on disk."""

from __future__ import annotations

import importlib
import importlib.util
import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, final

import numpy as np
from scipy import sparse

from shafer._kernels.compilation import permission, remove_older
from shafer._kernels.dispatch import _COMPILED
from shafer._kernels.tree_tables import path_tables
from shafer._kernels.trees import Forest, forest_paths

# Rows, features and classes: those of one thread, then those of several.
_SHAPES = [(1, 1, 2), (20, 2, 2), (1, 2, 9), (20, 2, 9), (20, 2, 2500), (500, 3000, 3)]
_ONE_LARGE_ROW = (1, 2000, 600)


@final
@dataclass(frozen=True)
class WarmUp:
    """What was compiled.

    Attributes
    ----------
    compiled : int
        Kernels that were not on disk.
    stored : tuple of Path
        The files that were written; fewer if no folder takes them.
    seconds : float
    """

    compiled: int
    stored: tuple[Path, ...]
    seconds: float


def warm_up() -> WarmUp:
    """Compile what is not on disk.

    Raises
    ------
    ImportError
        If numba is not installed.
    Exception
        What numba raises where it does not compile.
    """
    start = time.perf_counter()
    if importlib.util.find_spec("numba") is None:
        raise ImportError("numba is not installed", name="numba")
    kernels = importlib.import_module(_COMPILED)
    with permission(True) as asked:
        for dtype in ("float32", "float64"):
            _sum_weights(kernels, dtype)
        _follow_trees(kernels)
    remove_older()
    seconds = time.perf_counter() - start
    return WarmUp(len(asked.compiled), tuple(asked.stored), seconds)


def _sum_weights(kernels: Any, dtype: str) -> None:
    for n, n_features, n_classes in (*_SHAPES, _ONE_LARGE_ROW):
        shapes = (n, n_features), (n_features,), (n_features, n_classes), (n_classes,)
        pooled = kernels.pool_linear(*(np.ones(shape, dtype) for shape in shapes))
        kernels.closed_forms(pooled)
    opposite = np.array([[[1.0, -1.0]]], dtype)
    kernels.closed_forms(kernels.pool(opposite))
    for n in (2, 2**19):
        weights = np.ones((n, 1, 2), dtype)
        kernels.additive_weights(weights, weights[0])
        kernels.closed_forms(kernels.pool(weights))
    head = np.ones(3, dtype), np.ones((3, 4), dtype), np.ones(4, dtype)
    kernels.pool_linear_sparse(sparse.csr_array(np.eye(3, dtype=dtype)), *head)


def _follow_trees(kernels: Any) -> None:
    """Compile the Shapley values, with a tree of one question."""
    leaves = {"left": np.array([1, -1, -1]), "right": np.array([2, -1, -1])}
    numbers = {"threshold": np.zeros(3), "value": np.arange(3.0), "cover": np.array([2.0, 1, 1])}
    flags = product(("missing_left", "set_goes_right"), (np.zeros(3, bool),))
    words = {"first_word": np.zeros(3, int), "n_words": np.zeros(3, int)}
    forest = Forest(
        starts=np.array([0, 3]),
        output=np.array([0]),
        feature=np.array([0, -1, -1]),
        missing=np.zeros(3, np.uint8),
        words=np.zeros(0, np.uint32),
        **leaves,
        **numbers,
        **dict(flags),
        **words,
    )
    paths = forest_paths(forest)
    for n in (1, 1000):
        kernels.tree_shap(forest, paths, np.ones((n, 1)))
        kernels.looked_up(forest, path_tables(forest, paths), np.ones((n, 1)))
