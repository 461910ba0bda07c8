"""Which file reads which model.

Models are recognised by the names of their classes, so a framework that the user did not import
is not imported here either.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._checks.frames import frame_columns
from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError
from shafer.models import like_linear
from shafer.models.heads import Contributions, LinearHead
from shafer.models.read_model import AdditiveModel, LinearModel, ReadModel
from shafer.models.unsupported import REFUSED
from shafer.rows.access import by_position
from shafer.rows.checks import check_single, features_of_head
from shafer.rows.schema import ColumnSchema, encoder_columns

# (package, name of the class or a base class) -> file in this folder with a function ``adapt``.
FAMILIES = {
    ("sklearn", "LogisticRegression"): "sklearn.linear",
    ("sklearn", "SGDClassifier"): "sklearn.linear",
    ("sklearn", "LinearDiscriminantAnalysis"): "sklearn.linear",
    ("sklearn", "QuadraticDiscriminantAnalysis"): "sklearn.class_distances",
    ("sklearn", "NearestCentroid"): "sklearn.class_distances",
    ("sklearn", "GaussianNB"): "sklearn.naive_bayes",
    ("sklearn", "CategoricalNB"): "sklearn.naive_bayes",
    ("sklearn", "BernoulliNB"): "sklearn.naive_bayes",
    ("sklearn", "MultinomialNB"): "sklearn.naive_bayes",
    ("sklearn", "ComplementNB"): "sklearn.naive_bayes",
    ("sklearn", "MLPClassifier"): "sklearn.mlp",
    ("sklearn", "HistGradientBoostingClassifier"): "sklearn.gradient_boosting",
    ("sklearn", "GradientBoostingClassifier"): "sklearn.gradient_boosting",
    ("sklearn", "AdaBoostClassifier"): "sklearn.ada_boost",
    ("sklearn", "DecisionTreeClassifier"): "sklearn.decision_tree",
    ("sklearn", "CalibratedClassifierCV"): "sklearn.calibrated",
    ("sklearn", "OneVsRestClassifier"): "sklearn.one_vs_rest",
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
    ("optbinning", "Scorecard"): "optbinning",
    ("pygam", "LogisticGAM"): "pygam",
    ("pyspark", "PipelineModel"): "spark",
    ("pyspark", "LogisticRegressionModel"): "spark",
    ("pyspark", "NaiveBayesModel"): "spark",
    ("statsmodels", "ResultsWrapper"): "statsmodels",
    ("statsmodels", "Results"): "statsmodels",
    ("torch", "Module"): "torch.module",
    ("onnx", "ModelProto"): "onnx.model",
    ("skorch", "NeuralNetClassifier"): "skorch",
    ("skorch", "NeuralNetBinaryClassifier"): "skorch",
}

# The same for files with a function ``decision``, which reads a decision function.
DECISIONS = {
    ("sklearn", "LinearClassifierMixin"): "sklearn.linear",
    ("sklearn", "QuadraticDiscriminantAnalysis"): "sklearn.class_distances",
    ("sklearn", "NearestCentroid"): "sklearn.class_distances",
    ("sklearn", "SVC"): "sklearn.svm",
    ("sklearn", "NuSVC"): "sklearn.svm",
    ("sklearn", "HistGradientBoostingClassifier"): "sklearn.gradient_boosting",
    ("sklearn", "GradientBoostingClassifier"): "sklearn.gradient_boosting",
    ("sklearn", "AdaBoostClassifier"): "sklearn.ada_boost",
    ("sklearn", "OneVsRestClassifier"): "sklearn.one_vs_rest",
    ("sklearn", "Pipeline"): "sklearn.pipeline",
    ("sklearn", "BaseSearchCV"): "sklearn.wrappers",
    ("sklearn", "FrozenEstimator"): "sklearn.wrappers",
    ("interpret", "ExplainableBoostingClassifier"): "boosting.interpret",
}

# The same for files with a function ``behind``, which puts a transformer in front of a model. Most
# transformers need none.
TRANSFORMERS = {("optbinning", "BinningProcess"): "optbinning"}


# Parameters of readers that are not options of the user.
_INTERNAL = ("model", "background", "columns", "regions", "restored")


def adapt(
    model: Any, background: Any = None, *, columns: Sequence[str] | None = None, **options: Any
) -> ReadModel:
    """Return a trained model as a sum of components; some families also need background rows.

    ``columns`` are the column names of the background; by default they are read from it.

    Raises
    ------
    UnsupportedModelError
        If no reader supports the model.
    """
    if isinstance(model, tuple) and len(model) == 2:
        model = LinearHead(*model)
    known = frame_columns(background) if columns is None else tuple(columns)
    if isinstance(model, LinearHead | Contributions):
        _check_options(model, (), options)
        if isinstance(model, Contributions):
            return AdditiveModel(model, core=model)
        read = partial(features_of_head, known, _width(model.coef))
        return LinearModel(model, features=read, gaps=partial(read, gaps=True), core=model)
    if isinstance(model, type):
        raise UnsupportedModelError(
            f"model must be a trained model, not a class; got {model.__name__}. "
            f"Pass {model.__name__}(...).fit(X, y)."
        )
    for key in _kinds(model):
        if key in FAMILIES:
            check_not_overridden(model, *key)
            return _read(_family(FAMILIES[key]).adapt, model, options, background, known)
        if key in REFUSED:
            raise UnsupportedModelError(f"{type(model).__name__} {REFUSED[key]}")
    if like_linear.looks_linear(model):
        return _read(like_linear.adapt, model, options, background, known)
    raise UnsupportedModelError(
        f"Models of type {type(model).__name__} are not supported. Supported are the models of "
        "docs/guide/models.md (scikit-learn, XGBoost, LightGBM, CatBoost, EBM, torch, ONNX). For "
        "any other model pass its last linear layer, shafer.LinearHead(coef, intercept), or a "
        "function that returns contributions, shafer.models.Contributions(function, intercept)."
    )


def wants_background(model: Any) -> bool:
    """Tell whether the reader of a model asks for rows, as that of torch modules does."""
    reader = _reader(model)
    if reader is None:
        return False
    if hasattr(reader, "held"):  # a pipeline or a wrapper
        return wants_background(reader.held(model))
    return "background" in inspect.signature(reader.adapt).parameters


def known_columns(model: Any, columns: Sequence[str] | None) -> dict[int, ColumnSchema]:
    """Return what a trained model knows of the columns of its training data, by position.

    Its encoders know their categories, and boosted trees the categories that they were trained on.
    """
    for key in _kinds(model):
        family = FAMILIES.get(key) or TRANSFORMERS.get(key)
        read = getattr(_family(family), "known_columns", None) if family else None
        if read is not None:
            return dict(read(model, columns))
    width = getattr(model, "n_features_in_", None) or len(columns or ())
    return dict(encoder_columns(model, range(int(width)), columns))


def _width(coef: Any) -> int | None:
    """Return the number of columns of coefficients; None if they are not an array."""
    try:
        shape = coef.shape if hasattr(coef, "shape") else np.shape(coef)
    except ValueError:  # rows of unequal lengths
        return None
    return int(shape[-1]) if len(shape) > 0 else None


def adapt_decision(model: Any, **options: Any) -> ReadModel:
    """Return the decision function of a trained model as a sum of components."""
    for key in _kinds(model):
        if key in DECISIONS:
            check_not_overridden(model, *key)
            return _read(_family(DECISIONS[key]).decision, model, options)
    given = "decision function" if hasattr(model, "decision_function") else "probabilities"
    raise UnsupportedModelError(
        f"A calibrated {type(model).__name__} is not supported: what is calibrated are its "
        f"{given}, which cannot be read as a sum of contributions. Calibrate a linear model, an "
        "SVC or a boosted model instead."
    )


def behind(adapted: ReadModel, step: Any) -> ReadModel:
    """Put a fitted transformer, a step of a pipeline, in front of a model."""
    for key in _kinds(step):
        if key in TRANSFORMERS:
            ahead: ReadModel = _family(TRANSFORMERS[key]).behind(adapted, step)
            return ahead
    return adapted.behind(step)


def own_probabilities(
    model: Any, X: Any, options: Mapping[str, Any] | None = None
) -> FloatArray | None:
    """Return the model's own probabilities for rows X, (n, K), in the order of its classes.

    A family file may define ``probabilities(model, X)``, with ``options`` as a third parameter if
    it needs those of the reader; otherwise ``predict_proba`` is called. They are in the precision
    in which the model returns them. The result is None for models without probabilities of their
    own, such as a ``LinearHead``.
    """
    own: Any = getattr(_reader(model), "probabilities", _predict_proba)
    takes_options = "options" in inspect.signature(own).parameters
    given = own(model, X, options or {}) if takes_options else own(model, X)
    return None if given is None else np.asarray(given)


def own_predictions(model: Any, X: Any) -> NDArray[Any] | None:
    """Return what the model's own ``predict`` gives for rows X; None for one without classes.

    A family file may define ``predictions(model, X)``; otherwise ``predict`` is called.
    """
    if not hasattr(model, "predict") or not hasattr(model, "classes_"):
        return None
    own = getattr(_reader(model), "predictions", _predict)
    return np.asarray(own(model, X))


def opened(model: Any) -> Any:
    """Return the ONNX graph in a file, if the model is a path; anything else as it is."""
    if isinstance(model, str | PathLike):
        return _family("onnx.checked").read_file(model)
    return model


def as_inputs(model: Any, X: Any) -> Any:
    """Return X in a form whose rows can be counted: a tuple for a torch module as a mapping.

    Such a tuple holds one array for each input; for other models it may hold the rows.
    """
    kinds = set(_kinds(model))
    several = isinstance(X, tuple) and bool(kinds & {("torch", "Module"), ("onnx", "ModelProto")})
    return dict(enumerate(X)) if several else X


def _predict_proba(model: Any, X: Any) -> Any:
    return model.predict_proba(by_position(X)) if hasattr(model, "predict_proba") else None


def _predict(model: Any, X: Any) -> Any:
    return model.predict(by_position(X))


def check_option(name: str, given: Any, accepted: Sequence[str]) -> None:
    """Refuse a value that an option does not accept; None is its default."""
    if given is not None and given not in accepted:
        wanted = " or ".join(map(repr, accepted))
        raise ValueError(f"{name} must be {wanted} for this model; got {given!r}.")


def _kinds(model: Any) -> Iterator[tuple[str, str]]:
    for base in type(model).__mro__:
        yield base.__module__.partition(".")[0], base.__name__


def _reader(model: Any) -> ModuleType | None:
    """Return the file that reads a model; None if there is none, as for a ``LinearHead``."""
    for key in _kinds(model):
        if key in FAMILIES:
            return _family(FAMILIES[key])
    return like_linear if like_linear.looks_linear(model) else None


def _family(name: str) -> ModuleType:
    return importlib.import_module(f"shafer.models.{name}")


def _read(
    read: Any,
    model: Any,
    options: dict[str, Any],
    background: Any = None,
    columns: tuple[str, ...] | None = None,
) -> ReadModel:
    parameters = inspect.signature(read).parameters
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        offered = [name for name in parameters if name not in _INTERNAL]
        hidden = [name for name in parameters if name in _INTERNAL]
        _check_options(model, offered, {k: v for k, v in options.items() if k not in hidden})
        if "background" not in parameters:  # only torch modules, which ask for it, have several
            check_single(background, type(model).__name__)
    if "background" in parameters:
        options = {"background": background, **options}
    if "columns" in parameters:
        options = {"columns": columns, **options}
    adapted: ReadModel = read(model, **options)
    return adapted if adapted.core is not None else replace(adapted, core=model)


def _check_options(model: Any, accepted: Sequence[str], options: dict[str, Any]) -> None:
    unknown = [name for name in options if name not in accepted]
    if unknown:
        offered = ", ".join(accepted) if accepted else "none"
        raise TypeError(
            f"Explainer got unknown options {unknown}; {type(model).__name__} has the options: "
            f"{offered}."
        )


# Refuse subclasses of supported models that may compute their probabilities differently.

# Methods that take no part in predict_proba of any supported class.
_HARMLESS = {
    "fit",
    "partial_fit",
    "fit_transform",
    "fit_predict",
    "predict",
    "score",
    "get_params",
    "set_params",
    "_get_param_names",
    "_more_tags",
    "_parameter_constraints",
    "_estimator_type",
}
# What Python itself puts into the namespace of every class.
_ADDED_BY_PYTHON = {"_abc_impl"}


def check_not_overridden(model: Any, package: str, base: str) -> None:
    """Refuse a model whose class, or the model itself, replaces methods of the supported class.

    ``base`` is the class of ``package`` that a reader supports. Its own subclasses inside the
    package are supported too. A torch module is exempt: its output is checked in every call.
    """
    if package == "torch":
        return
    kinds = type(model).__mro__
    supported = next(kind for kind in kinds if _is_from(kind, package) and kind.__name__ == base)
    for kind in kinds[: kinds.index(supported)]:
        if not _is_from(kind, package):
            _check(model, supported, [name for name in vars(kind) if hasattr(supported, name)])
    own = vars(model) if hasattr(model, "__dict__") else {}
    _check(model, supported, [name for name in own if callable(getattr(supported, name, None))])


def _is_from(kind: type, package: str) -> bool:
    return kind.__module__.partition(".")[0] == package


def _check(model: Any, supported: type, names: list[str]) -> None:
    changed = [name for name in names if not _is_harmless(name)]
    if changed:
        raise UnsupportedModelError(
            f"{type(model).__name__} overrides {changed[0]} of {supported.__name__}, so its "
            "probabilities may differ from those of the base class. Pass a plain "
            f"{supported.__name__}, or the contributions: shafer.models.Contributions(function)."
        )


def _is_harmless(name: str) -> bool:
    special = name.startswith("__") and name not in ("__getattr__", "__getattribute__")
    # scikit-learn adds a set_…_request for each method of a class.
    routing = name.startswith("set_") and name.endswith("_request")
    return special or routing or name in _HARMLESS or name in _ADDED_BY_PYTHON
