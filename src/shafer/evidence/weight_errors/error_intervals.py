"""Standard errors and intervals in the user's words, from errors that may not be known."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from shafer._typing import Array, FloatArray
from shafer._validation import check_overflow
from shafer.decision.option_checks import is_number
from shafer.evidence.weight_errors.weight_errors import WeightErrors


def known_errors(errors: WeightErrors | None) -> WeightErrors:
    """Return errors that are known.

    Raises
    ------
    ValueError
        If they are not; it tells how to get them.
    """
    if errors is None:
        raise ValueError(
            "The errors of these weights are not known. Make the evidence with "
            "Explainer(model, X_train, errors='laplace') for a logistic regression or the last "
            "layer of a network, errors='bags' for an ExplainableBoostingClassifier, or "
            "errors='bootstrap' with refits= for any model. Results of combine, and components, "
            "have no errors of their own."
        )
    return errors


def standard_deviations(errors: WeightErrors, combinations: FloatArray, like: Array) -> Array:
    """Return standard deviations (n, G, M), in the library and precision of ``like``."""
    with np.errstate(over="ignore", invalid="ignore"):  # checked below
        std = errors.std_of(np.asarray(combinations, dtype=np.float64))
    xp = array_namespace(like)
    result = xp.asarray(std, dtype=like.dtype, device=like.device)
    check_overflow(result, "standard errors of the weights")
    return result


def class_std(
    errors: WeightErrors, classes: NDArray[np.intp], against: int | None = None
) -> FloatArray:
    """Return the standard errors of the weights for one class of each row, (n, G).

    Parameters
    ----------
    errors : WeightErrors
    classes : array of shape (n,)
        The position of the class of each row.
    against : int, optional
        The position of a class: then those of the contrasts with it.
    """
    n, n_components, n_classes = errors.shape
    result = np.empty((n, n_components))
    for k in np.unique(classes):
        rows = np.flatnonzero(classes == k)
        combination = np.eye(n_classes)[[k]]
        if against is not None:
            combination = combination - np.eye(n_classes)[[against]]
        result[rows] = errors.rows(rows).std_of(combination)[..., 0]
    return result


def interval(
    centre: Array, std: Array, errors: WeightErrors | None, level: Any
) -> tuple[Array, Array]:
    """Return the lower and the upper end of intervals around ``centre``.

    Their half-width is a quantile of the normal distribution, or of Student's t where the standard
    deviation is an estimate from a few models, times the standard deviation.
    """
    if not is_number(level) or not 0.0 < level < 1.0:
        raise ValueError(f"level must be between 0 and 1, such as 0.9; got {level!r}.")
    upper = 0.5 + float(level) / 2.0
    freedom = known_errors(errors).degrees_of_freedom
    half = float(ndtri(upper) if np.isinf(freedom) else stdtrit(freedom, upper)) * std
    return centre - half, centre + half
