"""What estimators share when they train: folds, sample weights, and the model inside wrappers."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, indexable

from shafer._checks.arrays import row_weights
from shafer.evidence.mass_evidence import MassEvidence
from shafer.explain.explainer import Explainer
from shafer.models.sklearn.wrappers import held, is_wrapper

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


# The name under which ``sample_weight`` is passed to the ``fit`` of a scikit-learn estimator.


def fit_weights(inner: Any, sample_weight: Any) -> dict[str, Any]:
    """Return the keyword argument that passes sample weights to ``inner.fit``.

    In a pipeline they go to the last step, as in scikit-learn; a search passes them on. With
    scikit-learn's metadata routing the requests of the steps decide instead.
    """
    if sample_weight is None:
        return {}
    if get_config()["enable_metadata_routing"]:
        return {"sample_weight": sample_weight}
    return {_name_in(inner): sample_weight}


def _name_in(inner: Any) -> str:
    if any(base.__name__ == "BaseSearchCV" for base in type(inner).__mro__):
        return _name_in(inner.estimator)
    if isinstance(inner, Pipeline):
        step, last = inner.steps[-1]
        return f"{step}__{_name_in(last)}"
    _check_takes_weights(inner)
    return "sample_weight"


def _check_takes_weights(inner: Any) -> None:
    parameters = inspect.signature(inner.fit).parameters
    some = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    if "sample_weight" not in parameters and not some:
        raise ValueError(
            f"sample_weight was given, but {type(inner).__name__}.fit does not accept it. Fit "
            "without sample weights, or use an estimator that accepts them, such as "
            "LogisticRegression."
        )


# The classifier inside pipelines, searches and other wrappers, and the evidence that it gives.


def innermost(fitted: Any) -> Any:
    """Return the trained classifier inside pipelines, searches and evidential classifiers."""
    *_, last = _from_outside_in(fitted)
    return last


def gives_evidence(fitted: Any) -> bool:
    """Say whether a trained classifier, or the one inside it, has a method ``evidence``."""
    return any(map(_has_evidence, _from_outside_in(fitted)))


def own_evidence(fitted: Any, X: Any) -> MassEvidence:
    """Return the evidence of a classifier that gives its own, behind the steps of pipelines."""
    for part in _from_outside_in(fitted):
        if _has_evidence(part):
            break
        if isinstance(part, Pipeline):
            X = _transformed(part, X)
    evidence: MassEvidence = part.evidence(X)
    return evidence


def _transformed(pipeline: Pipeline, X: Any) -> Any:
    # Step by step: a pipeline of the first steps alone would ask the last of them whether it is
    # fitted, which transformers from outside scikit-learn may not know how to answer.
    for _, step in pipeline.steps[:-1]:
        if step is not None and step != "passthrough":
            X = step.transform(X)
    return X


def _from_outside_in(fitted: Any) -> Iterator[Any]:
    """Yield a trained classifier, then the one inside it, and so on to the innermost."""
    yield fitted
    while (is_pipeline := isinstance(fitted, Pipeline)) or is_wrapper(fitted):
        fitted = fitted.steps[-1][1] if is_pipeline else held(fitted)
        yield fitted


def _has_evidence(fitted: Any) -> bool:
    return callable(getattr(fitted, "evidence", None))
