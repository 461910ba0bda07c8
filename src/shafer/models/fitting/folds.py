"""Cross-validation folds, and models that were trained without one of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing, indexable

from shafer._validation import row_weights
from shafer.models.explainer import Explainer

Split: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]


def check_fold_count(cv: Any) -> None:
    """Raise an error if ``cv`` is not a whole number of folds ≥ 2."""
    if isinstance(cv, bool) or not isinstance(cv, int | np.integer) or cv < 2:
        raise ValueError(f"cv must be a whole number of folds ≥ 2; got {cv!r}.")


def stratified_folds(
    y: Any, n_folds: int, what: str, instead: str, random_state: int | None = 0
) -> NDArray[np.intp]:
    """Return the fold 0..F−1 of each row, every class spread evenly over the folds.

    Two rows of a class are enough. They are in different folds, so that every model is trained on
    every class. There are fewer folds than asked for if no class has that many rows.

    Parameters
    ----------
    y : array of shape (n,)
    n_folds : int
    what, instead : str
        For the error message: what needs the folds, and what the user can do instead.
    random_state : int, optional
        Seed of the shuffling.
    """
    labels, codes, counts = np.unique(np.asarray(y), return_inverse=True, return_counts=True)
    if counts.min() < 2:
        raise ValueError(
            f"{what} needs at least 2 rows of every class; class "
            f"{labels.tolist()[counts.argmin()]!r} has 1 (n_samples={len(codes)}). Give more rows, "
            f"or {instead}."
        )
    folds = StratifiedKFold(
        min(n_folds, int(counts.max())), shuffle=True, random_state=random_state
    )
    where = np.empty(len(codes), dtype=np.intp)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        for fold, (_, held_out) in enumerate(folds.split(np.zeros(len(codes)), codes)):
            where[held_out] = fold
    return where


def read_splits(cv: Any, y: Any, what: str, instead: str, random_state: int | None) -> list[Split]:
    """Return (training rows, held-out rows) of each fold.

    Parameters
    ----------
    cv : int, splitter or iterable of splits
        A number of stratified and shuffled folds, or splits as scikit-learn takes them.
    y, what, instead, random_state
        As in :func:`stratified_folds`.
    """
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        check_fold_count(cv)
        where = stratified_folds(y, int(cv), what, instead, random_state)
        return [
            (np.flatnonzero(where != fold), np.flatnonzero(where == fold))
            for fold in range(int(where.max()) + 1)
        ]
    if isinstance(cv, bool | str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise ValueError(
            "cv must be a whole number of folds ≥ 2, a splitter or an iterable of splits; got "
            f"{cv!r}."
        )
    splits = check_cv(cv, y, classifier=True).split(np.zeros(len(y)), y)
    return [(np.asarray(train), np.asarray(held_out)) for train, held_out in splits]


def fold_explainers(
    train: Callable[[Any, Any, Any], Explainer],
    X: Any,
    y: Any,
    folds: NDArray[np.intp],
    sample_weight: Any = None,
) -> Iterator[tuple[Explainer, Any]]:
    """Yield, for each fold, the explainer trained on the other folds, and the held-out rows."""
    weight = row_weights(sample_weight, len(folds))
    X, y = indexable(X, y)
    for fold in range(int(folds.max()) + 1):
        kept, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        part = None if weight is None else weight[kept]
        explainer = train(_safe_indexing(X, kept), _safe_indexing(y, kept), part)
        yield explainer, _safe_indexing(X, held_out)
