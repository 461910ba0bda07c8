"""XGBoost: a component is a feature, through the library's own exact contributions (TreeSHAP)."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

import numpy as np
import xgboost
from scipy.special import expit, softmax

from shafer._errors import UnsupportedModelError
from shafer._typing import FloatArray
from shafer._validation import frame_columns
from shafer.models.heads import Contributions
from shafer.models.inputs.rows import check_table
from shafer.models.readers.adapted_model import AdditiveModel, both_probabilities
from shafer.models.readers.boosting.bias_column import contributions_with_bias

_BINARY = ("binary:logistic", "reg:logistic")
_SOFTMAX = ("multi:softprob", "multi:softmax")
_PLACE_IN_SOURCE = re.compile(r"^\[[\d:]+\] \S+:\d+: (Check failed: )?(valid: )?")


def adapt(model: Any) -> AdditiveModel:
    """Read a fitted ``XGBClassifier`` or a ``Booster``."""
    if isinstance(model, xgboost.Booster):
        return _adapt_booster(model, {}, None)
    booster = model.get_booster()
    options = {
        "missing": model.missing,
        "enable_categorical": model.enable_categorical,
        "feature_types": model.feature_types,
    }
    return _adapt_booster(booster, options, model.classes_)


def probabilities(model: Any, X: Any) -> FloatArray:
    """Return the probabilities that the library itself computes, (n, K)."""
    if not isinstance(model, xgboost.Booster):
        return np.asarray(model.predict_proba(X))
    names = model.feature_names if frame_columns(X) is None else None
    margin = model.predict(xgboost.DMatrix(X, feature_names=names), output_margin=True)
    if margin.ndim == 1 or margin.shape[1] == 1:
        return both_probabilities(expit(np.ravel(margin).astype(np.float64)))
    return softmax(margin.astype(np.float64), axis=1)


def _adapt_booster(booster: Any, options: dict[str, Any], classes: Any) -> AdditiveModel:
    _check_objective(booster)
    function = partial(_contributions, booster, options)
    return AdditiveModel(Contributions(function, None, classes, booster.feature_names))


def _check_objective(booster: Any) -> None:
    learner = json.loads(booster.save_config())["learner"]
    objective = learner["objective"]["name"]
    if objective not in (*_BINARY, *_SOFTMAX):
        raise UnsupportedModelError(
            f"XGBoost with objective {objective!r} gives no logistic or softmax of a sum. "
            "Use objective='binary:logistic' or 'multi:softprob'."
        )
    n_targets = int(learner["learner_model_param"].get("num_target", "1"))
    if n_targets > 1:
        raise UnsupportedModelError(
            f"XGBoost with {n_targets} labels at once has a sigmoid for each label, not one set "
            "of classes. Fit one model for each label."
        )


def _contributions(booster: Any, options: dict[str, Any], X: Any) -> FloatArray:
    check_table(X, booster.num_features(), "the XGBoost model")
    if isinstance(X, np.ndarray) and X.dtype.kind not in "biufO":
        raise ValueError(f"X must hold real numbers; got an array of {X.dtype}.")
    names = booster.feature_names if frame_columns(X) is None else None  # an array has no others
    stopped_early = "best_iteration" in booster.attributes()
    rounds = (0, booster.best_iteration + 1) if stopped_early else (0, 0)
    try:
        data = xgboost.DMatrix(X, feature_names=names, **options)
        given = booster.predict(data, pred_contribs=True, iteration_range=rounds)
    except xgboost.core.XGBoostError as error:  # a line of C++, then its stack
        reason = _PLACE_IN_SOURCE.sub("", str(error).splitlines()[0])
        raise ValueError(f"XGBoost cannot take X, of type {type(X).__name__}: {reason}") from error
    return contributions_with_bias(given)
