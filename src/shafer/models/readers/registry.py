"""The door: which file reads which model.

Models are recognised by the names of their classes, so a framework that the user has not loaded
is not loaded here either.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from shafer._errors import UnsupportedModelError
from shafer._validation import frame_columns
from shafer.models.heads import Contributions, LinearHead
from shafer.models.inputs.rows import by_hand, check_single
from shafer.models.readers.adapted_model import AdaptedModel, AdditiveModel, LinearModel
from shafer.models.readers.unsupported import REFUSED

# (package, class name, also of a base class) -> file in this folder with a function ``adapt``.
_FAMILIES = {
    ("sklearn", "LogisticRegression"): "sklearn.linear",
    ("sklearn", "SGDClassifier"): "sklearn.linear",
    ("sklearn", "LinearDiscriminantAnalysis"): "sklearn.linear",
    ("sklearn", "GaussianNB"): "sklearn.naive_bayes",
    ("sklearn", "CategoricalNB"): "sklearn.naive_bayes",
    ("sklearn", "BernoulliNB"): "sklearn.naive_bayes",
    ("sklearn", "MultinomialNB"): "sklearn.naive_bayes",
    ("sklearn", "ComplementNB"): "sklearn.naive_bayes",
    ("sklearn", "MLPClassifier"): "sklearn.mlp",
    ("sklearn", "HistGradientBoostingClassifier"): "sklearn.gradient_boosting",
    ("sklearn", "GradientBoostingClassifier"): "sklearn.gradient_boosting",
    ("sklearn", "CalibratedClassifierCV"): "sklearn.calibrated",
    ("sklearn", "Pipeline"): "sklearn.pipeline",
    ("sklearn", "BaseSearchCV"): "sklearn.wrappers",
    ("sklearn", "FrozenEstimator"): "sklearn.wrappers",
    ("sklearn", "SelfTrainingClassifier"): "sklearn.wrappers",
    ("sklearn", "TunedThresholdClassifierCV"): "sklearn.wrappers",
    ("sklearn", "FixedThresholdClassifier"): "sklearn.wrappers",
    ("shafer", "EvidentialClassifier"): "sklearn.wrappers",
    ("xgboost", "XGBClassifier"): "boosting.xgboost",
    ("xgboost", "Booster"): "boosting.xgboost",
    ("lightgbm", "LGBMClassifier"): "boosting.lightgbm",
    ("lightgbm", "Booster"): "boosting.lightgbm",
    ("catboost", "CatBoostClassifier"): "boosting.catboost",
    ("interpret", "ExplainableBoostingClassifier"): "boosting.interpret",
    ("pygam", "LogisticGAM"): "pygam",
    ("torch", "Module"): "torch.module",
}

# The same for files with a function ``decision``, which reads a decision function.
_DECISIONS = {
    ("sklearn", "LinearClassifierMixin"): "sklearn.linear",
    ("sklearn", "SVC"): "sklearn.svm",
    ("sklearn", "NuSVC"): "sklearn.svm",
    ("sklearn", "HistGradientBoostingClassifier"): "sklearn.gradient_boosting",
    ("sklearn", "GradientBoostingClassifier"): "sklearn.gradient_boosting",
    ("sklearn", "Pipeline"): "sklearn.pipeline",
    ("sklearn", "BaseSearchCV"): "sklearn.wrappers",
    ("sklearn", "FrozenEstimator"): "sklearn.wrappers",
    ("interpret", "ExplainableBoostingClassifier"): "boosting.interpret",
}


def adapt(
    model: Any, background: Any = None, *, columns: Sequence[str] | None = None, **options: Any
) -> AdaptedModel:
    """Read a trained model as components; only some families need to see the background.

    ``columns`` are the column names of the background, for models that hold none; by default they
    are read from it.

    Raises
    ------
    UnsupportedModelError
        If no family knows the model.
    """
    if isinstance(model, tuple) and len(model) == 2:
        model = LinearHead(*model)
    known = frame_columns(background) if columns is None else tuple(columns)
    if isinstance(model, LinearHead | Contributions):
        _check_options(model, (), options)
        if isinstance(model, Contributions):
            return AdditiveModel(model)
        read = partial(by_hand, known, _width(model.coef))
        return LinearModel(model, features=read, gaps=partial(read, gaps=True))
    if isinstance(model, type):
        raise UnsupportedModelError(
            f"model must be a trained model, not a class; got {model.__name__}. "
            f"Give {model.__name__}(...).fit(X, y)."
        )
    for key in _kinds(model):
        if key in _FAMILIES:
            _check_not_overridden(model, key)
            return _read(_family(_FAMILIES[key]).adapt, model, options, background, known)
        if key in REFUSED:
            raise UnsupportedModelError(f"{type(model).__name__} {REFUSED[key]}")
    raise UnsupportedModelError(
        f"model of type {type(model).__name__} is not supported. Accepted are the models of "
        "docs/models.md (scikit-learn, XGBoost, LightGBM, CatBoost, EBM, torch), a linear head as "
        "arrays, shafer.LinearHead(coef, intercept), and any function that returns contributions, "
        "shafer.models.Contributions(function, intercept)."
    )


def _width(coef: Any) -> int | None:
    """Count the columns of coefficients, if they are an array; what they must be comes later."""
    try:
        shape = coef.shape if hasattr(coef, "shape") else np.shape(coef)
    except ValueError:  # rows of unequal lengths
        return None
    return int(shape[-1]) if len(shape) > 0 else None


def adapt_decision(model: Any, **options: Any) -> AdaptedModel:
    """Read the decision function of a trained model as components; for K = 2 as log-odds."""
    for key in _kinds(model):
        if key in _DECISIONS:
            _check_not_overridden(model, key)
            return _read(_family(_DECISIONS[key]).decision, model, options)
    raise UnsupportedModelError(
        f"Calibration of {type(model).__name__} starts from scores that are not known to be a sum "
        "of contributions. Calibrate a linear model, an SVC or a boosted model instead."
    )


def check_option(name: str, given: Any, accepted: Sequence[str]) -> None:
    """Refuse a value that an option of a family does not have; None is its default."""
    if given is not None and given not in accepted:
        wanted = " or ".join(map(repr, accepted))
        raise ValueError(f"{name} must be {wanted} for this model; got {given!r}.")


def _kinds(model: Any) -> Iterator[tuple[str, str]]:
    for base in type(model).__mro__:
        yield base.__module__.partition(".")[0], base.__name__


def _check_not_overridden(model: Any, key: tuple[str, str]) -> None:
    """Refuse a subclass that computes its probabilities in a way of its own."""
    package, base = key
    for method in ("decision_function", "predict_proba"):
        function = getattr(type(model), method, None)
        if function is not None and function.__module__.partition(".")[0] != package:
            raise UnsupportedModelError(
                f"{type(model).__name__} overrides {method} of {base}, so its probabilities need "
                "not come from its coefficients. Give them as shafer.LinearHead(coef, intercept)."
            )


def _family(name: str) -> ModuleType:
    return importlib.import_module(f"shafer.models.readers.{name}")


def _read(
    read: Any,
    model: Any,
    options: dict[str, Any],
    background: Any = None,
    columns: tuple[str, ...] | None = None,
) -> AdaptedModel:
    parameters = inspect.signature(read).parameters
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        offered = [name for name in parameters if name not in ("model", "background", "columns")]
        _check_options(model, offered, options)
        if "background" not in parameters:  # only torch modules, which ask for it, have several
            check_single(background, type(model).__name__)
    if "background" in parameters:
        options = {"background": background, **options}
    if "columns" in parameters:
        options = {"columns": columns, **options}
    adapted: AdaptedModel = read(model, **options)
    return adapted


def _check_options(model: Any, accepted: Sequence[str], options: dict[str, Any]) -> None:
    unknown = [name for name in options if name not in accepted]
    if unknown:
        offered = ", ".join(accepted) if accepted else "none"
        raise TypeError(
            f"Explainer got options {unknown} that {type(model).__name__} does not have; "
            f"its options: {offered}."
        )
