"""scikit-learn's ``OneVsRestClassifier`` of two classes: the one model inside."""

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


def adapt(model: Any, **options: Any) -> ReadModel:
    """Read a fitted one-vs-rest classifier of two classes."""
    return _named(model, registry.adapt(_only(model), **options))


def decision(model: Any, **options: Any) -> ReadModel:
    """Read the decision function of a fitted one-vs-rest classifier of two classes."""
    return _named(model, registry.adapt_decision(_only(model), **options))


def known_columns(model: Any, columns: Sequence[str] | None) -> dict[int, ColumnSchema]:
    """Return what the model inside knows of the columns of the training data."""
    return registry.known_columns(_only(model), columns)


def _only(model: Any) -> Any:
    """Return the one model inside, or refuse several."""
    check_is_fitted(model)
    if model.multilabel_:
        raise UnsupportedModelError(
            "OneVsRestClassifier was trained with several labels for each row, not one class. "
            "Explain the model of each label, such as LogisticRegression."
        )
    if len(model.estimators_) > 1:
        raise UnsupportedModelError(
            f"OneVsRestClassifier with {len(model.classes_)} classes normalises the probabilities "
            "of one model for each class, and the logarithm of such a probability is not a sum, "
            "even where the log-odds are one. Use a multinomial model, such as LogisticRegression."
        )
    return model.estimators_[0]


def _named(model: Any, inside: ReadModel) -> ReadModel:
    """Give the classes, which the model inside knows as 0 and 1, their labels."""
    head = replace(inside.head, classes=model.classes_)
    return replace(inside, head=head).watching(LiveParameters.attributes(model, "estimators_"))
