"""Models trained without a part of the rows, to see what they say of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing, indexable

from shafer._validation import row_weights
from shafer.models.explainer import Explainer


def fold_positions(y: Any, n_folds: int) -> NDArray[np.intp]:
    """Return the fold 0..F−1 of each row, every class spread evenly; fewer folds if it must be.

    Two rows of a class are enough: they lie in different folds, so that no model misses it.
    """
    labels = np.asarray(y)
    counts = np.unique(labels, return_counts=True)[1]
    if counts.min() < 2:
        raise ValueError(
            "Cross-validation needs at least 2 rows of every class; y has a class with 1. "
            "Give more rows, or temper on rows of your own: Explainer.temper(X, y)."
        )
    folds = StratifiedKFold(min(n_folds, int(counts.max())), shuffle=True, random_state=0)
    where = np.empty(len(labels), dtype=np.intp)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        for fold, (_, held_out) in enumerate(folds.split(np.zeros(len(labels)), labels)):
            where[held_out] = fold
    return where


def fold_explainers(
    train: Callable[[Any, Any, Any], Explainer],
    X: Any,
    y: Any,
    folds: NDArray[np.intp],
    sample_weight: Any = None,
) -> Iterator[tuple[Explainer, Any]]:
    """Give, fold by fold, what ``train`` makes of the other folds' rows, and the rows held out."""
    weight = row_weights(sample_weight, len(folds))
    X, y = indexable(X, y)  # what can only become an array, or be read row by row, becomes one
    for fold in range(int(folds.max()) + 1):
        kept, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        part = None if weight is None else weight[kept]
        explainer = train(_safe_indexing(X, kept), _safe_indexing(y, kept), part)
        yield explainer, _safe_indexing(X, held_out)
