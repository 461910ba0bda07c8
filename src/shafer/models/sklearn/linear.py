"""scikit-learn's linear classifiers: a component is a feature."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from shafer._checks.frames import numbered
from shafer.errors import UnsupportedModelError
from shafer.models.heads import LinearHead
from shafer.models.live_parameters import LiveParameters
from shafer.models.read_model import LinearModel, PenalisedLoss
from shafer.rows.checks import checked


def adapt(model: Any) -> LinearModel:
    """Read a linear classifier whose probabilities are a logistic or softmax.

    ``LogisticRegression``, ``LogisticRegressionCV``, ``LinearDiscriminantAnalysis``, and a binary
    ``SGDClassifier(loss="log_loss")``.
    """
    check_is_fitted(model)
    if any(base.__name__ == "SGDClassifier" for base in type(model).__mro__):
        _check_stochastic(model)
    return replace(_linear(model, _log_odds_factor(model)), loss=_penalised_loss(model))


def decision(model: Any) -> LinearModel:
    """Read the decision function of any linear classifier, such as ``LinearSVC``."""
    check_is_fitted(model)
    return _linear(model, 1.0)


def _linear(model: Any, factor: float) -> LinearModel:
    head = LinearHead(
        model.coef_ * factor,
        model.intercept_ * factor,
        model.classes_,
        feature_names(model),
    )
    accepted = "csr" if get_tags(model).input_tags.sparse else False
    features = partial(checked, model, accept_sparse=accepted)
    gaps = partial(checked, model, ensure_all_finite="allow-nan")
    live = LiveParameters.attributes(model, "coef_", "intercept_")
    return LinearModel(head, features=features, gaps=gaps, finite=True, live=(live,))


def _penalised_loss(model: Any) -> PenalisedLoss | None:
    """Return the loss of a logistic regression, whose prior precision is 1/C.

    None if the coefficients do not minimise a penalised log loss over the rows as given.
    """
    if not any(base.__name__ == "LogisticRegression" for base in type(model).__mro__):
        return None
    precision, share = _penalty(model)
    if share is None or share >= 1.0:
        return None  # the prior of an L1 penalty has a corner, and no curvature there
    # liblinear treats the intercept as the coefficient of one more feature, a constant.
    scale = model.intercept_scaling if model.solver == "liblinear" else np.inf
    return PenalisedLoss(
        precision * (1.0 - share),
        precision / float(scale) ** 2 if model.fit_intercept else None,
        model.class_weight,
        has_corner=share > 0.0,
    )


def _penalty(model: Any) -> tuple[float, float | None]:
    """Return 1/C and the share of the L1 penalty; None if classes have penalties of their own."""
    named = getattr(model, "penalty", "l2")
    if named is None:
        return 0.0, 0.0
    cross_validated = hasattr(model, "C_")
    strengths = set(np.ravel(model.C_ if cross_validated else model.C).tolist())
    # Without an elastic net the share of the L1 penalty is None.
    mixing = np.ravel(model.l1_ratio_ if cross_validated else model.l1_ratio).tolist()
    shares = {0.0 if share is None else float(share) for share in mixing}
    if len(strengths) > 1 or len(shares) > 1:
        return 0.0, None  # one-vs-rest fits, each with a penalty of its own
    return 1.0 / float(strengths.pop()), 1.0 if named == "l1" else shares.pop()


def _check_stochastic(model: Any) -> None:
    if model.loss != "log_loss":
        raise UnsupportedModelError(
            f"SGDClassifier(loss={model.loss!r}) has no logistic probabilities. For two classes "
            "use loss='log_loss', or CalibratedClassifierCV(model, method='sigmoid', "
            "ensemble=False). For more classes use LogisticRegression(solver='saga')."
        )
    if len(model.classes_) > 2:
        raise UnsupportedModelError(
            f"SGDClassifier with {len(model.classes_)} classes normalises separate sigmoids, so "
            "its probabilities are not a softmax of additive terms. Use "
            "LogisticRegression(solver='saga')."
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
            "sigmoids, so its probabilities are not a softmax of additive terms. Use a multinomial "
            "model: LogisticRegression with its default solver, 'lbfgs'."
        )
    return 2.0 if n_classes == 2 and multi_class == "multinomial" else 1.0


# Column names that a scikit-learn model was trained with.


def feature_names(model: Any) -> list[str] | None:
    """Return the column names that a model was trained with, equal ones numbered; else None."""
    known = getattr(model, "feature_names_in_", None)
    return None if known is None else numbered([str(name) for name in known])
