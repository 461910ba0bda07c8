r"""scikit-learn's classifiers by the distance to each class: a component is a feature.

The logits of quadratic discriminant analysis are, up to constants of the classes, squared distances
:math:`-\tfrac12 (x - \mu_k)^\top \Sigma_k^{-1} (x - \mu_k)`. Such a form is a sum over the features
:math:`j` of

.. math:: -\tfrac12 \, (x - \mu_k)_j \, \bigl[\Sigma_k^{-1} (x - \mu_k)\bigr]_j .

Each product of two features is shared by halves, so this is the Shapley value of the form with the
class mean as baseline. The nearest centroid has one scale for each feature in all classes, so the
squares of the inputs cancel in the softmax, and the logits are linear.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError
from shafer.models.heads import Contributions, LinearHead
from shafer.models.live_parameters import LiveParameters
from shafer.models.read_model import AdditiveModel, LinearModel, ReadModel
from shafer.models.sklearn.linear import feature_names
from shafer.rows.checks import checked


def adapt(model: Any) -> ReadModel:
    """Read a fitted ``QuadraticDiscriminantAnalysis`` or ``NearestCentroid``."""
    check_is_fitted(model)
    if any(base.__name__ == "NearestCentroid" for base in type(model).__mro__):
        return _nearest_centroid(model)
    return _quadratic(model)


def decision(model: Any) -> ReadModel:
    """Read the decision function: its logistic or softmax are the probabilities."""
    return adapt(model)


def _one_log_odds(logits: FloatArray) -> FloatArray:
    """Return the logits of K classes on the last axis, or the log-odds of two, (…, 1)."""
    return logits[..., 1:] - logits[..., :1] if logits.shape[-1] == 2 else logits


def _log_prior(model: Any, prior: Any) -> FloatArray:
    never = model.classes_[np.asarray(prior) == 0.0].tolist()
    if never:
        raise UnsupportedModelError(
            f"{type(model).__name__} has a prior of 0 for the classes {never}, which is infinite "
            "evidence against them. Train it without these classes, or with priors above 0."
        )
    return np.log(np.asarray(prior, dtype=np.float64))


def _quadratic(model: Any) -> AdditiveModel:
    spread = np.array([np.log(variances).sum() for variances in model.scalings_])
    intercept = _log_prior(model, model.priors_) - 0.5 * spread.astype(np.float64)
    head = Contributions(
        partial(_shares_of_distance, model),
        _one_log_odds(intercept),
        model.classes_,
        feature_names(model),
    )
    live = LiveParameters.attributes(model, "means_", "scalings_", "rotations_", "priors_")
    return AdditiveModel(head, live=(live,))


def precision_roots(model: Any) -> list[FloatArray]:
    """Return a matrix A of shape (J, r) for each class; A Aᵀ is its inverse covariance."""
    pairs = zip(model.rotations_, model.scalings_, strict=True)
    return [axes * variances**-0.5 for axes, variances in pairs]


def _shares_of_distance(model: Any, X: Any) -> FloatArray:
    """Return the shares of the features, (n, J, K), or (n, J) for two classes.

    Their sum is the distance as the model computes it, in its own precision. What rounding changes
    is shared among the features.
    """
    values = checked(model, X, dtype="numeric")
    shares = np.empty((*values.shape, len(model.classes_)))
    for k, root in enumerate(precision_roots(model)):
        away = values - model.means_[k]
        along = away @ root
        share = -0.5 * away * (along @ root.T).astype(np.float64)
        spread = np.log(model.scalings_[k]).sum()
        own = (-0.5 * ((along**2).sum(axis=1) + spread)).astype(np.float64) + 0.5 * float(spread)
        shares[:, :, k] = share + (own - share.sum(axis=1))[:, None] / share.shape[1]
    found = _one_log_odds(shares)
    return found[..., 0] if found.shape[-1] == 1 else found


def _nearest_centroid(model: Any) -> LinearModel:
    if model.metric != "euclidean":
        raise UnsupportedModelError(
            f"NearestCentroid(metric={model.metric!r}) has no probabilities. Use "
            "metric='euclidean', or LinearDiscriminantAnalysis."
        )
    scale = np.where(model.within_class_std_dev_ == 0.0, 1.0, model.within_class_std_dev_)
    centroids = np.asarray(model.centroids_) / scale
    intercept = 2.0 * _log_prior(model, model.class_prior_) - (centroids**2).sum(axis=1)
    coef = _one_log_odds(2.0 * (centroids / scale).T).T
    head = LinearHead(coef, _one_log_odds(intercept), model.classes_, feature_names(model))
    features = partial(checked, model, accept_sparse="csr", dtype=np.float64)
    gaps = partial(checked, model, dtype=np.float64, ensure_all_finite="allow-nan")
    live = LiveParameters.attributes(model, "centroids_", "within_class_std_dev_", "class_prior_")
    return LinearModel(head, features=features, gaps=gaps, finite=True, live=(live,))
