"""scikit-learn's ``MLPClassifier``: a component is a unit of the last hidden layer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from shafer._typing import Array
from shafer.errors import UnsupportedModelError
from shafer.models.heads import LinearHead
from shafer.models.live_parameters import LiveParameters
from shafer.models.read_model import LinearModel, PenalisedLoss
from shafer.models.sklearn.linear import feature_names
from shafer.rows.checks import checked

_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "identity": np.positive,
    "logistic": expit,
    "relu": partial(np.maximum, 0.0),
    "tanh": np.tanh,
}


def adapt(model: Any) -> LinearModel:
    """Read a fitted network of any depth and activation; without hidden layers, its features."""
    check_is_fitted(model)
    if model.out_activation_ == "logistic" and model.n_outputs_ > 1:
        raise UnsupportedModelError(
            f"MLPClassifier was trained with {model.n_outputs_} labels per row. It has a sigmoid "
            "for each label, not one set of classes. Train one network for each label."
        )
    hidden = len(model.coefs_) > 1
    names = [f"unit {j}" for j in range(model.coefs_[-1].shape[0])] if hidden else None
    if not hidden:
        names = feature_names(model)
    head = LinearHead(model.coefs_[-1].T, model.intercepts_[-1], model.classes_, names)
    # The penalty alpha/2n on the mean loss is alpha/2 on the sum over the rows.
    return LinearModel(
        head,
        by_column=not hidden,
        features=partial(_last_hidden, model),
        loss=PenalisedLoss(float(model.alpha)),
        live=(LiveParameters.attributes(model, "coefs_", "intercepts_"),),
    )


def _last_hidden(model: Any, X: Any) -> Array:
    values = checked(model, X, accept_sparse=["csr", "csc"])
    for weights, bias in zip(model.coefs_[:-1], model.intercepts_[:-1], strict=True):
        values = _ACTIVATIONS[model.activation](np.asarray(values @ weights) + bias)
    return values
