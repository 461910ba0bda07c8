"""Unknown models with ``coef_``, ``intercept_``, ``classes_`` and ``predict_proba``.

Such a model, for instance cuML's ``LogisticRegression``, is tried as a linear model. It is read if
its own probabilities on rows of the background are the logistic or softmax of these numbers.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from shafer._checks.arrays import to_numpy
from shafer._text import one_line
from shafer._typing import Array, FloatArray
from shafer.errors import UnsupportedModelError
from shafer.models.heads import LinearHead
from shafer.models.live_parameters import LiveParameters, check_parameters
from shafer.models.read_model import LinearModel, both_probabilities
from shafer.models.sklearn.linear import feature_names
from shafer.rows.access import by_position, take_rows, values_of
from shafer.rows.checks import check_table, refuse_nan

_MOST_ROWS = 64
_MOST_DIFFERENCE = 1e-3  # the explainer's own check, which knows the precision, comes later


def looks_linear(model: Any) -> bool:
    """Tell whether a model has the numbers of a linear classifier, and probabilities."""
    names = ("coef_", "intercept_", "classes_", "predict_proba")
    return not isinstance(model, type) and all(hasattr(model, name) for name in names)


def adapt(model: Any, background: Any = None) -> LinearModel:
    """Read the numbers of a model, and refuse it if they do not give its probabilities."""
    coef, intercept = _parameters(model)
    classes = _numbers(model.classes_)
    _check_shapes(model, coef, intercept, len(classes))
    check_parameters(type(model).__name__, (coef, intercept))
    features = partial(_values, model, coef.shape[1])
    if background is not None:  # a loaded explainer was checked when it was made
        _check(model, features, take_rows(background, slice(0, _MOST_ROWS)))
    head = LinearHead(coef, intercept, classes, feature_names(model))
    live = LiveParameters.of(partial(_parameters, model))
    return LinearModel(head, features=features, live=(live,))


def probabilities(model: Any, X: Any) -> FloatArray:
    """Return the probabilities that the model itself computes, (n, K)."""
    found = _numbers(model.predict_proba(by_position(X)))
    return found if found.ndim == 2 else both_probabilities(found)


def predictions(model: Any, X: Any) -> NDArray[Any]:
    """Return the labels that the model itself predicts, (n,)."""
    return _numbers(model.predict(by_position(X)))


def _numbers(given: Any) -> NDArray[Any]:
    """Return an array of any library, on any device, or a column of a frame, as NumPy has it."""
    for name in ("to_numpy", "get"):  # cuDF and pandas, CuPy
        convert = getattr(given, name, None)
        if callable(convert):
            return np.asarray(convert())
    return np.asarray(to_numpy(given))


def _parameters(model: Any) -> tuple[FloatArray, FloatArray]:
    coef, intercept = _numbers(model.coef_), _numbers(model.intercept_)
    return np.atleast_2d(coef), np.atleast_1d(intercept)


def _check_shapes(model: Any, coef: FloatArray, intercept: FloatArray, n_classes: int) -> None:
    numeric = coef.dtype.kind in "fiu" and intercept.dtype.kind in "fiu"
    n_logits = {1, 2} if n_classes == 2 else {n_classes}
    alike = coef.ndim == 2 and intercept.shape in ((1,), (len(coef),))
    if not numeric or not alike or len(coef) not in n_logits or n_classes < 2:
        raise UnsupportedModelError(
            f"{type(model).__name__} is not known, and its coef_ of shape {coef.shape} and "
            f"intercept_ of shape {intercept.shape} are not those of a linear model of {n_classes} "
            "classes. Pass shafer.LinearHead(coef, intercept), if there is one."
        )


def _check(model: Any, features: Any, rows: Any) -> None:
    """Compare the logistic or softmax of the numbers with the model's own probabilities."""
    coef, intercept = _parameters(model)
    logits = np.asarray(features(rows) @ coef.T.astype(np.float64)) + intercept
    found = both_probabilities(expit(logits[:, 0])) if len(coef) == 1 else softmax(logits, axis=1)
    try:
        own = probabilities(model, rows).astype(np.float64)
    except Exception as error:  # an unknown library may fail in any way
        raise UnsupportedModelError(
            f"{type(model).__name__} is not known, and its predict_proba cannot take the "
            f"background: {one_line(error)}. Pass rows as the model takes them."
        ) from error
    if own.shape != found.shape or not np.all(np.abs(own - found) <= _MOST_DIFFERENCE):
        raise UnsupportedModelError(
            f"{type(model).__name__} is not known. It has coef_ and intercept_, but its "
            "probabilities are not their logistic or softmax: "
            f"{_difference(own, found)}. Pass other numbers as shafer.LinearHead(coef, intercept), "
            "or a function: shafer.models.Contributions(function)."
        )


def _difference(own: FloatArray, found: FloatArray) -> str:
    if own.shape != found.shape:
        return f"they have shape {own.shape} and not {found.shape}"
    row, k = np.unravel_index(np.argmax(np.abs(own - found)), own.shape)
    return f"row {row} of the background has {own[row, k]:.4g} and not {found[row, k]:.4g}"


def _values(model: Any, n_columns: int, X: Any) -> Array:
    name = type(model).__name__
    check_table(X, n_columns, name)
    values = values_of(X)
    refuse_nan(values, name, getattr(model, "feature_names_in_", None))
    return values if hasattr(values, "tocsr") else _numbers(values).astype(np.float64)
