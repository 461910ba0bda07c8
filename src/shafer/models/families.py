"""The door: which file reads which model.

Models are recognised by the names of their classes, so a framework that the user has not loaded
is not loaded here either.
"""

from __future__ import annotations

import importlib
from typing import Any

from shafer._errors import UnsupportedModelError
from shafer.models.heads import AdaptedModel, LinearHead, as_given

# (package, class name, also of a base class) -> file in this folder with a function ``adapt``.
_FAMILIES = {
    ("sklearn", "LogisticRegression"): "logistic",
}


def _check_not_overridden(model: Any, base: type) -> None:
    """Refuse a subclass that computes its probabilities in a way of its own."""
    for method in ("decision_function", "predict_proba"):
        if getattr(type(model), method, None) is not getattr(base, method, None):
            raise UnsupportedModelError(
                f"{type(model).__name__} overrides {method} of {base.__name__}, so its "
                "probabilities need not come from its coefficients. "
                "Give them as shafer.LinearHead(coef, intercept)."
            )


def adapt(model: Any) -> AdaptedModel:
    """Read a trained model as components.

    Raises
    ------
    UnsupportedModelError
        If no family knows the model.
    """
    if isinstance(model, LinearHead):
        return AdaptedModel(model, as_given)
    if isinstance(model, tuple) and len(model) == 2:
        return AdaptedModel(LinearHead(*model), as_given)
    if isinstance(model, type):
        raise UnsupportedModelError(
            f"model must be a trained model, not a class; got {model.__name__}. "
            f"Give {model.__name__}(...).fit(X, y)."
        )
    for base in type(model).__mro__:
        family = _FAMILIES.get((base.__module__.partition(".")[0], base.__name__))
        if family is not None:
            _check_not_overridden(model, base)
            adapted: AdaptedModel = importlib.import_module(f"shafer.models.{family}").adapt(model)
            return adapted
    raise UnsupportedModelError(
        f"model of type {type(model).__name__} is not supported. Accepted are scikit-learn's "
        "LogisticRegression and LogisticRegressionCV, and any linear head given as arrays: "
        "shafer.LinearHead(coef, intercept)."
    )
