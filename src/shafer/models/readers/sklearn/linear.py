"""scikit-learn's linear classifiers: a component is a feature."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from shafer._errors import UnsupportedModelError
from shafer.models.heads import LinearHead
from shafer.models.inputs.rows import checked
from shafer.models.readers.adapted_model import LinearModel
from shafer.models.readers.live_parameters import Origin


def adapt(model: Any) -> LinearModel:
    """Read a linear classifier whose probabilities are a logistic or softmax.

    ``LogisticRegression``, ``LogisticRegressionCV``, ``LinearDiscriminantAnalysis``, and a binary
    ``SGDClassifier(loss="log_loss")``.
    """
    check_is_fitted(model)
    if any(base.__name__ == "SGDClassifier" for base in type(model).__mro__):
        _check_stochastic(model)
    adapted = _linear(model, _log_odds_factor(model))
    return replace(
        adapted,
        precision=_prior_precision(model),
        free_intercept=getattr(model, "fit_intercept", True),
    )


def decision(model: Any) -> LinearModel:
    """Read the decision function of any linear classifier, such as ``LinearSVC``."""
    check_is_fitted(model)
    return _linear(model, 1.0)


def _linear(model: Any, factor: float) -> LinearModel:
    head = LinearHead(
        model.coef_ * factor,
        model.intercept_ * factor,
        model.classes_,
        getattr(model, "feature_names_in_", None),
    )
    accepted = "csr" if get_tags(model).input_tags.sparse else False
    features = partial(checked, model, accept_sparse=accepted)
    origin = Origin.attributes(model, "coef_", "intercept_")
    gaps = partial(checked, model, ensure_all_finite="allow-nan")
    return LinearModel(head, features=features, gaps=gaps, finite=True, origin=origin)


def _prior_precision(model: Any) -> float | None:
    """Return the precision of the normal prior that the penalty amounts to, 1/C.

    None where the coefficients do not minimise a penalised log loss over the rows as given.
    """
    if not any(base.__name__ == "LogisticRegression" for base in type(model).__mro__):
        return None
    if getattr(model, "penalty", "l2") is None:
        return 0.0
    cross_validated = hasattr(model, "C_")
    strength = np.unique(model.C_ if cross_validated else model.C)
    mixing = np.unique(model.l1_ratio_ if cross_validated else model.l1_ratio)
    corner = 0.0 if mixing[0] is None else float(mixing[0])
    if len(strength) > 1 or model.penalty == "l1" or corner >= 1.0:
        return None  # one-vs-rest fits, or a prior with a corner, which has no curvature
    return (1.0 - corner) / float(strength[0])


def _check_stochastic(model: Any) -> None:
    if model.loss != "log_loss":
        raise UnsupportedModelError(
            f"SGDClassifier(loss={model.loss!r}) gives no logistic probabilities. Use "
            "loss='log_loss', or calibrate: CalibratedClassifierCV(model, method='sigmoid', "
            "ensemble=False)."
        )
    if len(model.classes_) > 2:
        raise UnsupportedModelError(
            f"SGDClassifier with {len(model.classes_)} classes normalises separate sigmoids, which "
            "is no softmax of a sum. Use LogisticRegression(solver='saga') instead."
        )


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
