"""scikit-learn's ``CalibratedClassifierCV``: components as in the calibrated model.

Platt scaling makes the log-odds −(a f + b) of the decision function f; temperature scaling
multiplies it. So if f is a sum of contributions, the log-odds are one too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sklearn.utils.validation import check_is_fitted

from shafer.errors import UnsupportedModelError
from shafer.models import registry
from shafer.models.live_parameters import LiveParameters
from shafer.models.read_model import ReadModel
from shafer.models.registry import adapt_decision
from shafer.rows.schema import ColumnSchema


def adapt(model: Any, **options: Any) -> ReadModel:
    """Read a fitted calibrated classifier with ``ensemble=False`` and a parametric method."""
    check_is_fitted(model)
    if len(model.calibrated_classifiers_) > 1:
        raise UnsupportedModelError(
            f"CalibratedClassifierCV averages the probabilities of "
            f"{len(model.calibrated_classifiers_)} models. A mean of probabilities is not a "
            "softmax of additive terms. Use ensemble=False."
        )
    calibrated = model.calibrated_classifiers_[0]
    if calibrated.method == "isotonic":
        raise UnsupportedModelError(
            "CalibratedClassifierCV(method='isotonic') cannot be read: isotonic calibration is "
            "piecewise constant, so its probabilities are not a softmax of additive terms. Use "
            "method='sigmoid' for two classes, method='temperature' for more."
        )
    adapted = adapt_decision(calibrated.estimator, **options).watching(
        LiveParameters.attributes(model, "calibrated_classifiers_")
    )
    # The model inside may have been trained on encoded labels.
    adapted = replace(adapted, head=replace(adapted.head, classes=model.classes_))
    calibrator = calibrated.calibrators[0]
    if calibrated.method == "temperature":
        # scikit-learn takes a binary decision f as the logits (−f, f), not (−f/2, f/2).
        return adapted.rescaled(
            float(calibrator.beta_) * (2.0 if len(model.classes_) == 2 else 1.0)
        )
    if len(model.classes_) > 2:
        raise UnsupportedModelError(
            f"CalibratedClassifierCV(method='sigmoid') with {len(model.classes_)} classes "
            "normalises separate sigmoids, so its probabilities are not a softmax of additive "
            "terms. Use method='temperature', or LogisticRegression."
        )
    return adapted.rescaled(-float(calibrator.a_), -float(calibrator.b_))


def known_columns(model: Any, columns: Sequence[str] | None) -> dict[int, ColumnSchema]:
    """Return what the calibrated model knows of the columns of the training data."""
    return registry.known_columns(model.calibrated_classifiers_[0].estimator, columns)
