"""Models that only hold another: searches, frozen estimators, and our own classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from shafer.decision.policy import AnswerRule, Cutoff
from shafer.errors import UnsupportedModelError
from shafer.models import registry
from shafer.models.live_parameters import LiveParameters
from shafer.models.read_model import ReadModel
from shafer.rows.schema import ColumnSchema

_HELD_AS = {
    "BaseSearchCV": "best_estimator_",
    "EvidentialClassifier": "estimator_",
    "FrozenEstimator": "estimator",
    "SelfTrainingClassifier": "estimator_",
    "TunedThresholdClassifierCV": "estimator_",
    "FixedThresholdClassifier": "estimator_",
}


def adapt(model: Any, background: Any = None, **options: Any) -> ReadModel:
    """Read the model inside; our own classifier's tempering and moderation are kept."""
    adapted = registry.adapt(held(model), background, **options).watching(_live(model))
    if any(base.__name__ == "EvidentialClassifier" for base in type(model).__mro__):
        own = model.explainer_.calibration
        return replace(adapted, calibration=None if own.is_plain else own, cutoff=own_cutoff(model))
    if hasattr(model, "response_method"):
        return replace(adapted, cutoff=_threshold(model))
    return adapted


def own_cutoff(model: Any) -> AnswerRule | None:
    """Return the threshold, or the losses, of one of our own classifiers."""
    cutoff: AnswerRule | None = model.policy.cutoff
    return cutoff


def _threshold(model: Any) -> Cutoff:
    """Return the threshold of a ``FixedThresholdClassifier`` or ``TunedThresholdClassifierCV``.

    A threshold on the decision function of a logistic model is one on its log-odds. Whether the
    predictions then are those of the model is checked on rows of the background.
    """
    member, method = held(model), model.response_method
    if method == "auto":
        method = "predict_proba" if hasattr(member, "predict_proba") else "decision_function"
    given = model.best_threshold_ if hasattr(model, "best_threshold_") else model.threshold
    if isinstance(given, str):  # "auto"
        given = 0.5 if method == "predict_proba" else 0.0
    threshold = float(given) if method == "predict_proba" else float(expit(given))
    if not 0.0 < threshold < 1.0:
        raise UnsupportedModelError(
            f"{type(model).__name__} has the threshold {given!r}, so it gives all rows one answer. "
            "Pass the model inside it, and state a threshold: shafer.Explainer(model, X, "
            "threshold=0.2)."
        )
    position = 1 if _pos_label(model) is None else list(member.classes_).index(_pos_label(model))
    return Cutoff(threshold, position)


def without_search(model: Any) -> Any:
    """Return a ``FixedThresholdClassifier`` with the threshold that a search has found.

    It gives the same answers, and holds no function of a score.
    """
    from sklearn.model_selection import FixedThresholdClassifier

    fixed = FixedThresholdClassifier(
        model.estimator,
        threshold=model.best_threshold_,
        pos_label=_pos_label(model),
        response_method=model.response_method,
    )
    fixed.estimator_ = model.estimator_
    return fixed


def _pos_label(model: Any) -> Any:
    scorer = getattr(model, "_curve_scorer", None)  # of TunedThresholdClassifierCV
    return scorer._get_pos_label() if scorer is not None else model.pos_label


def decision(model: Any, **options: Any) -> ReadModel:
    """Read the decision function of the model inside."""
    return registry.adapt_decision(held(model), **options).watching(_live(model))


def known_columns(model: Any, columns: Sequence[str] | None) -> dict[int, ColumnSchema]:
    """Return what the model inside knows of the columns of the training data."""
    return registry.known_columns(held(model), columns)


def is_wrapper(model: Any) -> bool:
    """Say whether a model only holds another one, as a search does."""
    return any(base.__name__ in _HELD_AS for base in type(model).__mro__)


def held(model: Any) -> Any:
    """Return the trained model inside a wrapper."""
    attribute = _attribute(model)
    found = getattr(model, attribute, None)
    check_is_fitted(found if hasattr(model, "pos_label") and attribute == "estimator" else model)
    if found is None:
        raise UnsupportedModelError(
            f"{type(model).__name__} has no trained model: {attribute} is missing. "
            "Fit it with refit=True, or pass the trained model itself."
        )
    return found


def _attribute(model: Any) -> str:
    name = next(base.__name__ for base in type(model).__mro__ if base.__name__ in _HELD_AS)
    if name == "FixedThresholdClassifier" and not hasattr(model, "estimator_"):
        return "estimator"  # scikit-learn lets it predict with a trained model inside
    return _HELD_AS[name]


def _live(model: Any) -> LiveParameters:
    return LiveParameters.attributes(model, _attribute(model))
