"""skorch's classifiers: the torch module inside, whose components they have."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer.decision.policy import Cutoff
from shafer.errors import UnsupportedModelError
from shafer.models import registry
from shafer.models.live_parameters import LiveParameters
from shafer.models.read_model import ReadModel


def adapt(
    model: Any, background: Any = None, *, columns: tuple[str, ...] | None = None, **options: Any
) -> ReadModel:
    """Read a trained ``NeuralNetClassifier`` or ``NeuralNetBinaryClassifier``.

    ``options`` are those of torch modules. Whether the net's own nonlinearity gives the softmax or
    sigmoid of the last layer is checked by the explainer.
    """
    if not getattr(model, "initialized_", False):
        raise UnsupportedModelError(f"{type(model).__name__} is not trained. Call fit(X, y) first.")
    inside = registry.adapt(model.module_, background, columns=columns, **options)
    named = replace(inside, head=replace(inside.head, classes=np.asarray(model.classes_)))
    return replace(named, cutoff=_threshold(model)).watching(
        LiveParameters.of(partial(_net, model))
    )


def predictions(model: Any, X: Any) -> NDArray[Any]:
    """Return the labels that the net predicts, (n,); its own answer are positions."""
    return np.asarray(model.classes_)[np.asarray(model.predict(X)).astype(np.intp)]


def probabilities(model: Any, X: Any) -> NDArray[Any]:
    """Return the probabilities that the net itself computes, (n, K)."""
    return np.asarray(model.predict_proba(X))


def _net(model: Any) -> tuple[Any, ...]:
    return (model.module_, getattr(model, "threshold", None))


def _threshold(model: Any) -> Cutoff | None:
    """Return the threshold of a binary classifier; None where the most probable class answers."""
    threshold = float(getattr(model, "threshold", 0.5))
    return None if threshold == 0.5 else Cutoff(threshold, 1)
