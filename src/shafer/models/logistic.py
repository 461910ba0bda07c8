"""scikit-learn's logistic regressions: a component is a feature."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from shafer._errors import UnsupportedModelError
from shafer._typing import Array
from shafer.models.heads import AdaptedModel, LinearHead


def adapt(model: Any) -> AdaptedModel:
    """Read a fitted ``LogisticRegression`` or ``LogisticRegressionCV``."""
    check_is_fitted(model)
    head = LinearHead(
        model.coef_ * _log_odds_factor(model),
        model.intercept_ * _log_odds_factor(model),
        model.classes_,
        getattr(model, "feature_names_in_", None),
    )
    return AdaptedModel(head, partial(_features, model))


def _features(model: Any, X: Any) -> Array:
    return validate_data(model, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])


def _log_odds_factor(model: Any) -> float:
    """Refuse one-vs-rest, and undo the doubled logits of a binary multinomial fit.

    Both belong to the ``multi_class`` parameter, gone since scikit-learn 1.8.
    """
    n_classes = len(model.classes_)
    multi_class = getattr(model, "multi_class", "auto")
    one_vs_rest = multi_class == "ovr" or (
        multi_class in ("auto", "deprecated") and getattr(model, "solver", "") == "liblinear"
    )
    if n_classes > 2 and one_vs_rest:
        raise UnsupportedModelError(
            f"{type(model).__name__} with one-vs-rest and {n_classes} classes normalises separate "
            "sigmoids, which is no softmax of a sum. Fit a multinomial model instead "
            "(the default, with a solver other than 'liblinear')."
        )
    return 2.0 if n_classes == 2 and multi_class == "multinomial" else 1.0
