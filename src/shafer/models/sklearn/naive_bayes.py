r"""scikit-learn's naive Bayes classifiers: a component is a feature.

Their logits are the log prior plus one log-likelihood for each feature. For counts and indicators
the log-likelihood is linear; for Gaussian and categorical features it is not.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.preprocessing import binarize
from sklearn.utils.validation import check_is_fitted

from shafer._typing import Array, FloatArray
from shafer.errors import UnsupportedModelError
from shafer.models.formula import Formula, Tables, gaussian_pieces
from shafer.models.heads import Contributions, LinearHead
from shafer.models.live_parameters import LiveParameters
from shafer.models.read_model import AdditiveModel, LinearModel, ReadModel
from shafer.models.sklearn.linear import feature_names
from shafer.rows.bins import ColumnBin, category_bins, threshold_bins
from shafer.rows.checks import checked


def adapt(model: Any) -> ReadModel:
    """Read a fitted naive Bayes classifier."""
    check_is_fitted(model)
    return next(
        _READERS[base.__name__] for base in type(model).__mro__ if base.__name__ in _READERS
    )(model)


def _gaussian(model: Any) -> AdditiveModel:
    never = model.classes_[model.class_prior_ == 0.0].tolist()
    if never:
        raise UnsupportedModelError(
            f"GaussianNB has a prior of 0 for the classes {never}, which is infinite evidence "
            "against them. Train it without these classes, or with priors above 0."
        )
    function = partial(_gaussian_contributions, model)
    prior = np.log(model.class_prior_.astype(np.float64))
    head = Contributions(function, prior, model.classes_, feature_names(model))
    live = LiveParameters.attributes(model, "theta_", "var_", "class_prior_")
    return AdditiveModel(head, live=(live,), formula=partial(_gaussian_formula, model))


def _gaussian_formula(model: Any, _: Any) -> Formula:
    """Return the log-densities as data."""
    mean, variance = (array.T.astype(np.float64) for array in (model.theta_, model.var_))
    return Formula(partial(_numbers, model), gaussian_pieces(mean, variance))


def _numbers(model: Any, X: Any) -> FloatArray:
    return np.asarray(checked(model, X, dtype="numeric"), dtype=np.float64)


def _gaussian_contributions(model: Any, X: Any) -> FloatArray:
    """Return log-densities (n, J, K) that add up to the model's own log-likelihoods.

    A model trained in half or single precision also predicts in it. What its arithmetic rounds
    is shared among the features.
    """
    given = checked(model, X, dtype="numeric")
    mean, variance = (array.T.astype(np.float64) for array in (model.theta_, model.var_))  # (J, K)
    with np.errstate(over="ignore"):  # checked below
        density: FloatArray = given.astype(np.float64, copy=False)[:, :, None] - mean
        density *= density
        density *= -0.5 / variance
        density += -0.5 * np.log(2 * np.pi * variance)
    if model.theta_.dtype == np.float64:
        _check_finite(model, density.sum())
        return density
    return _with_rounding(model, X, density)


def _check_finite(model: Any, values: Any) -> None:
    if not np.isfinite(values).all():
        raise ValueError(
            f"GaussianNB computes infinite log-likelihoods for X in {model.theta_.dtype}. Train it "
            "on float64, and scale the inputs."
        )


def _with_rounding(model: Any, X: Any, density: FloatArray) -> FloatArray:
    """Share among the features what the model's own arithmetic rounds."""
    likelihood = model.predict_joint_log_proba(X).astype(np.float64)
    _check_finite(model, likelihood)
    rounded = likelihood - np.log(model.class_prior_.astype(np.float64)) - density.sum(axis=1)
    # Only rounding may be shared among the features: anything more would hide a wrong reading.
    size = np.abs(density).sum(axis=1) + 1.0
    if np.any(np.abs(rounded) > 64 * np.finfo(model.theta_.dtype).eps * size):
        raise UnsupportedModelError(
            "GaussianNB computes log-likelihoods that are not the sum of its features' "
            "log-densities. Use a GaussianNB of scikit-learn as it is."
        )
    total: FloatArray = density + rounded[:, None, :] / density.shape[1]
    return total


def _categorical(model: Any) -> AdditiveModel:
    function = partial(_categorical_contributions, model)
    head = Contributions(function, model.class_log_prior_, model.classes_, feature_names(model))
    return AdditiveModel(
        head,
        live=(_live(model),),
        column_bins=partial(_category_codes, model),
        formula=partial(_categorical_formula, model),
    )


def _categorical_formula(model: Any, _: Any) -> Formula:
    tables = [table.T for table in model.feature_log_prob_]  # (categories, K)
    scores = [np.concatenate([np.full_like(table[:1], np.nan), table]) for table in tables]
    edges = [np.arange(1.0, len(table)) for table in tables]
    columns = [(j,) for j in range(len(tables))]
    return Formula(partial(_numbers, model), Tables(columns, edges, scores))


def _category_codes(model: Any, j: int) -> list[ColumnBin]:
    return category_bins([code] for code in range(int(model.n_categories_[j])))


def _categorical_contributions(model: Any, X: Any) -> FloatArray:
    values = checked(model, X, dtype="int", ensure_non_negative=True)
    tables = model.feature_log_prob_  # for each feature (K, categories)
    return np.stack([table.T[values[:, j]] for j, table in enumerate(tables)], axis=1)


def _bernoulli(model: Any) -> LinearModel:
    absent = np.log1p(-np.exp(model.feature_log_prob_))
    intercept = model.class_log_prior_ + absent.sum(axis=1)
    head = LinearHead(
        model.feature_log_prob_ - absent, intercept, model.classes_, feature_names(model)
    )
    return LinearModel(
        head,
        features=partial(_indicators, model),
        live=(_live(model),),
        column_bins=partial(_two_bins, model),
        edges=None if model.binarize is None else _edges(model),
    )


def _edges(model: Any) -> list[FloatArray]:
    """Return the smallest number above the threshold, for each column."""
    return [np.nextafter([float(model.binarize)], np.inf)] * int(model.n_features_in_)


def _two_bins(model: Any, _: int) -> list[ColumnBin]:
    if model.binarize is None:
        return category_bins([[0], [1]])
    return threshold_bins(float(model.binarize))


def _indicators(model: Any, X: Any) -> Array:
    values = checked(model, X, accept_sparse="csr")
    return values if model.binarize is None else binarize(values, threshold=model.binarize)


def _multinomial(model: Any) -> LinearModel:
    return _counts(model, model.class_log_prior_)


def _complement(model: Any) -> LinearModel:
    # Its scores leave the prior out whenever there is more than one class.
    return _counts(model, np.zeros(len(model.classes_)))


def _counts(model: Any, intercept: FloatArray) -> LinearModel:
    head = LinearHead(model.feature_log_prob_, intercept, model.classes_, feature_names(model))
    features = partial(checked, model, accept_sparse="csr")
    return LinearModel(head, features=features, live=(_live(model),))


def _live(model: Any) -> LiveParameters:
    return LiveParameters.attributes(model, "feature_log_prob_", "class_log_prior_")


_READERS = {
    "GaussianNB": _gaussian,
    "CategoricalNB": _categorical,
    "BernoulliNB": _bernoulli,
    "MultinomialNB": _multinomial,
    "ComplementNB": _complement,
}
