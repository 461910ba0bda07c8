"""scikit-learn's support vector machines: a component is a support vector, or a feature.

An SVM has a decision function but no probabilities; ``calibrated.py`` adds them.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.validation import check_is_fitted

from shafer._typing import Array
from shafer.errors import UnsupportedModelError
from shafer.models.heads import LinearHead
from shafer.models.live_parameters import LiveParameters
from shafer.models.read_model import LinearModel
from shafer.models.registry import check_option
from shafer.models.sklearn.linear import feature_names
from shafer.rows.checks import checked


def decision(model: Any, components: str | None = None) -> LinearModel:
    """Read the decision function of a fitted binary ``SVC`` or ``NuSVC``.

    Parameters
    ----------
    model : SVC or NuSVC
    components : {"vector", "feature"}, optional
        A support vector, or, for a linear kernel and then by default, a feature.
    """
    check_is_fitted(model)
    if len(model.classes_) > 2:
        raise UnsupportedModelError(
            f"{type(model).__name__} with {len(model.classes_)} classes combines votes of pairs of "
            "classes, so its probabilities are not a softmax of additive terms. Use "
            "make_pipeline(Nystroem(), LogisticRegression())."
        )
    linear = model.kernel == "linear"
    check_option("components", components, ("vector", "feature") if linear else ("vector",))
    if linear and components != "vector":
        return _by_feature(model)
    return _by_vector(model)


def _by_feature(model: Any) -> LinearModel:
    names = feature_names(model)
    head = LinearHead(_dense(model.coef_), model.intercept_, model.classes_, names)
    features = partial(checked, model, accept_sparse="csr")
    return LinearModel(head, features=features, live=(_live(model),))


def _by_vector(model: Any) -> LinearModel:
    if callable(model.kernel):
        raise UnsupportedModelError(
            f"{type(model).__name__} with a function as its kernel does not store its support "
            "vectors. Use kernel='precomputed', and pass kernel values instead of rows."
        )
    names = [f"support vector {row}" for row in model.support_]
    head = LinearHead(_dense(model.dual_coef_), model.intercept_, model.classes_, names)
    features = partial(_kernel_values, model)
    return LinearModel(head, by_column=False, features=features, live=(_live(model),))


def _live(model: Any) -> LiveParameters:
    return LiveParameters.attributes(model, "dual_coef_", "intercept_")


def _dense(array: Any) -> Array:
    """Return coefficients as a dense array; training on sparse rows makes them sparse."""
    return array.toarray() if sparse.issparse(array) else np.asarray(array)


def _kernel_values(model: Any, X: Any) -> Array:
    """Return the kernel between each row and each support vector."""
    values = checked(model, X, accept_sparse="csr", dtype=np.float64)
    if model.kernel == "precomputed":
        return values[:, model.support_]
    # Only the private attribute knows what gamma="scale" came to on the training data.
    parameters = {"gamma": model._gamma, "degree": model.degree, "coef0": model.coef0}
    return pairwise_kernels(
        values, model.support_vectors_, metric=model.kernel, filter_params=True, **parameters
    )
