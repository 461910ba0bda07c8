"""The class prior that is part of a trained classifier's logits.

By default it is the class frequencies of the training rows. Sample weights and class weights
change it, and some models are given their prior.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from shafer._typing import FloatArray
from shafer.models.ensemble.neighbour_evidence import NeighbourEvidence
from shafer.models.fitting.unwrapping import innermost


def training_prior(fitted: Any, y: NDArray[Any], weight: FloatArray | None) -> FloatArray | None:
    """Return the prior in the logits of a fitted classifier, (K,), or None if there is none.

    Parameters
    ----------
    fitted : fitted estimator
    y : array of shape (n,)
        The labels it was trained on.
    weight : array of shape (n,), optional
        The sample weights it was trained with.
    """
    model = innermost(fitted)
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


def class_frequencies(
    classes: NDArray[Any], codes: NDArray[np.intp], weight: FloatArray | None
) -> FloatArray:
    """Return the (weighted) share of each class among rows with positions ``codes``, (K,)."""
    counts = np.bincount(codes, weights=weight)
    if len(counts) < 2:
        raise ValueError(f"Evidence needs at least two classes; y has one class, {classes[0]}.")
    if not (counts > 0).all():
        empty = classes[counts == 0].tolist()
        raise ValueError(
            f"sample_weight is zero for all rows of the classes {empty}. Give them a positive "
            "weight, or remove these rows."
        )
    return np.asarray(counts / counts.sum())
