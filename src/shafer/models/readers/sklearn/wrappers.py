"""Models that only hold another: searches, frozen estimators, and our own classifier."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from shafer._errors import UnsupportedModelError
from shafer.models.readers import registry
from shafer.models.readers.adapted_model import AdaptedModel
from shafer.models.readers.live_parameters import LiveParameters

_HELD_AS = {
    "BaseSearchCV": "best_estimator_",
    "EvidentialClassifier": "estimator_",
    "FrozenEstimator": "estimator",
    "SelfTrainingClassifier": "estimator_",
    "TunedThresholdClassifierCV": "estimator_",
    "FixedThresholdClassifier": "estimator_",
}


def adapt(model: Any, **options: Any) -> AdaptedModel:
    """Read the model inside."""
    return registry.adapt(_held(model), **options).watching(_live(model))


def decision(model: Any, **options: Any) -> AdaptedModel:
    """Read the decision function of the model inside."""
    return registry.adapt_decision(_held(model), **options).watching(_live(model))


def _attribute(model: Any) -> str:
    return next(
        _HELD_AS[base.__name__] for base in type(model).__mro__ if base.__name__ in _HELD_AS
    )


def _live(model: Any) -> LiveParameters:
    return LiveParameters.attributes(model, _attribute(model))


def _held(model: Any) -> Any:
    check_is_fitted(model)
    attribute = _attribute(model)
    held = getattr(model, attribute, None)
    if held is None:
        raise UnsupportedModelError(
            f"{type(model).__name__} has no trained model: {attribute} is missing. "
            "Fit it with refit=True, or pass the trained model itself."
        )
    return held
