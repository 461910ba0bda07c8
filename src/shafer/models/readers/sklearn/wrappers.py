"""Models that only hold another: searches, frozen estimators, and our own classifier."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.utils.validation import check_is_fitted

from shafer._errors import UnsupportedModelError
from shafer.models.readers import registry
from shafer.models.readers.adapted_model import AdaptedModel

_HELD_AS = {
    "BaseSearchCV": "best_estimator_",
    "EvidentialClassifier": "estimator_",
    "FrozenEstimator": "estimator",
    "SelfTrainingClassifier": "estimator_",
    "TunedThresholdClassifierCV": "estimator_",
    "FixedThresholdClassifier": "estimator_",
}


def adapt(model: Any, **options: Any) -> AdaptedModel:
    """Read the model inside; our own classifier's tempering and moderation are kept."""
    adapted = registry.adapt(_held(model), **options)
    if any(base.__name__ == "EvidentialClassifier" for base in type(model).__mro__):
        return replace(adapted, calibration=model.explainer_.own_calibration)
    return adapted


def decision(model: Any, **options: Any) -> AdaptedModel:
    """Read the decision function of the model inside."""
    return registry.adapt_decision(_held(model), **options)


def _held(model: Any) -> Any:
    check_is_fitted(model)
    attribute = next(
        _HELD_AS[base.__name__] for base in type(model).__mro__ if base.__name__ in _HELD_AS
    )
    held = getattr(model, attribute, None)
    if held is None:
        raise UnsupportedModelError(
            f"{type(model).__name__} holds no trained model ({attribute}). "
            "Fit it with refit=True, or give the trained model itself."
        )
    return held
