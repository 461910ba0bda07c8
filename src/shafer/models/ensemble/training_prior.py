"""The class frequencies that a trained classifier's logits hold.

Those of its training rows, unless it was told otherwise: weights of rows or classes change what
counts as frequent, and some models are given their prior.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.class_weight import compute_sample_weight

from shafer._typing import FloatArray
from shafer.models.ensemble.neighbour_evidence import NeighbourEvidence


def training_prior(fitted: Any, y: NDArray[Any], weight: FloatArray | None) -> FloatArray | None:
    """Return the prior inside the logits of a fitted classifier, (K,), or None if it holds none.

    Parameters
    ----------
    fitted : fitted estimator
    y : array of shape (n,)
        The labels it was trained on.
    weight : array of shape (n,), optional
        The weights of the rows it was trained with.
    """
    model = _innermost(fitted)
    if isinstance(model, NeighbourEvidence):
        return None
    known = _own_prior(model)
    if known is not None:
        return known
    counts: FloatArray = np.ones(len(y)) if weight is None else weight
    classes = model.get_params(deep=False).get("class_weight") if _has_parameters(model) else None
    if classes is not None:
        named = "balanced" if classes == "balanced_subsample" else classes
        counts = counts * compute_sample_weight(named, y)
    _, codes = np.unique(y, return_inverse=True)
    totals = np.bincount(codes, weights=counts)
    return np.asarray(totals / totals.sum())


def _innermost(fitted: Any) -> Any:
    """Return the model itself: out of pipelines, searches and evidential classifiers."""
    if isinstance(fitted, Pipeline):
        return _innermost(fitted.steps[-1][1])
    for inside in ("best_estimator_", "explainer_"):
        if hasattr(fitted, inside):
            inner = fitted.best_estimator_ if inside == "best_estimator_" else fitted.estimator_
            return _innermost(inner)
    return fitted


def _own_prior(model: Any) -> FloatArray | None:
    """Return the prior that a model keeps as an attribute: naive Bayes, discriminant analysis."""
    for name in ("class_prior_", "priors_"):
        if hasattr(model, name):
            prior: FloatArray = np.asarray(getattr(model, name), dtype=np.float64)
            break
    else:
        if not hasattr(model, "class_log_prior_"):
            return None
        prior = np.exp(np.asarray(model.class_log_prior_, dtype=np.float64))
    return prior if prior.ndim == 1 and (prior > 0).all() else None


def _has_parameters(model: Any) -> bool:
    return callable(getattr(model, "get_params", None))
