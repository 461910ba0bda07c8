"""Models that only hold another: searches, frozen estimators, and our own classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sklearn.utils.validation import check_is_fitted

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


def adapt(model: Any, **options: Any) -> ReadModel:
    """Read the model inside; our own classifier's tempering and moderation are kept."""
    adapted = registry.adapt(held(model), **options).watching(_live(model))
    if any(base.__name__ == "EvidentialClassifier" for base in type(model).__mro__):
        own = model.explainer_.calibration
        return replace(adapted, calibration=None if own.is_plain else own)
    return adapted


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
    check_is_fitted(model)
    attribute = _attribute(model)
    inside = getattr(model, attribute, None)
    if inside is None:
        raise UnsupportedModelError(
            f"{type(model).__name__} has no trained model: {attribute} is missing. "
            "Fit it with refit=True, or pass the trained model itself."
        )
    return inside


def _attribute(model: Any) -> str:
    return next(
        _HELD_AS[base.__name__] for base in type(model).__mro__ if base.__name__ in _HELD_AS
    )


def _live(model: Any) -> LiveParameters:
    return LiveParameters.attributes(model, _attribute(model))
