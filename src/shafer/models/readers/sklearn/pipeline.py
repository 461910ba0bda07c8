"""scikit-learn's ``Pipeline``: the model of its last step, behind the transformers before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shafer._errors import UnsupportedModelError
from shafer.models.readers import registry
from shafer.models.readers.adapted_model import AdaptedModel


def adapt(model: Any, **options: Any) -> AdaptedModel:
    """Read a fitted pipeline that ends in a supported model; a component is as in that model."""
    return _behind_steps(model, registry.adapt, options)


def decision(model: Any, **options: Any) -> AdaptedModel:
    """Read the decision function of a fitted pipeline."""
    return _behind_steps(model, registry.adapt_decision, options)


def _behind_steps(
    model: Any, read: Callable[..., AdaptedModel], options: dict[str, Any]
) -> AdaptedModel:
    last = model.steps[-1][1]
    if last is None or last == "passthrough":
        raise UnsupportedModelError(
            "A Pipeline that ends in 'passthrough' has no classifier. Give the whole pipeline, "
            "with the classifier as its last step."
        )
    adapted = read(last, **options)
    return adapted.behind(model[:-1]) if len(model.steps) > 1 else adapted
