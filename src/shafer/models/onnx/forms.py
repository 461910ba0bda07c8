"""What a graph makes of its logits: their softmax, its logarithm, or a sigmoid.

However an exporter has spelled it out, it is recognised by its values, and every call compares them
again.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax, softmax

from shafer._typing import Array, BoolArray, FloatArray


def _softmax(logits: FloatArray) -> FloatArray:
    return np.asarray(softmax(logits, axis=1))


def _log_softmax(logits: FloatArray) -> FloatArray:
    return np.asarray(log_softmax(logits, axis=1))


def _both(logits: FloatArray) -> FloatArray:
    return np.asarray(expit(np.concatenate([-logits, logits], axis=1)))


def _both_logits(logits: FloatArray) -> FloatArray:
    return np.concatenate([-logits, logits], axis=1)


# Of one logit, which has two classes, and of several.
ONE: dict[str, Callable[[FloatArray], FloatArray]] = {
    "sigmoid": expit,
    "two sigmoids": _both,
    "log-sigmoid": log_expit,
}
SEVERAL: dict[str, Callable[[FloatArray], FloatArray]] = {
    "softmax": _softmax,
    "log-softmax": _log_softmax,
    "logits": np.positive,
}
# Not a model of one set of classes; recognised for the error.
OTHER: dict[str, Callable[[FloatArray], FloatArray]] = {"sigmoids": expit}
_NUMBERS = ("logits", "log-softmax", "log-sigmoid")

# Relative to 1, by the precision of the graph; runtimes approximate exp.
_ALWAYS = {"float64": 1e-9, "float32": 1e-4, "float16": 4e-3}
_ROUNDED = 16.0


def forms_of(n_logits: int) -> list[str]:
    """Return the forms that a number of logits may have."""
    return list(ONE if n_logits == 1 else SEVERAL)


def n_numbers(form: str, n_logits: int) -> int:
    """Return how many numbers a form has for each row."""
    return 2 if form == "two sigmoids" else n_logits


def agrees(
    form: str, logits: FloatArray, given: FloatArray, size: FloatArray, precision: str
) -> BoolArray:
    """Return for each row whether the graph has made this form of its logits.

    Parameters
    ----------
    form : str
    logits : array of shape (n, K)
        In double precision.
    given : array of shape (n, numbers)
        What the graph has put out.
    size : array of shape (n,)
        The size of the terms that were added up to logits, which tells how far these are rounded.
    precision : str
        Of the graph.
    """
    wanted = {**ONE, **SEVERAL, **OTHER}[form](logits)
    always = _ALWAYS[precision]
    d = (_ROUNDED * float(np.finfo(precision).eps)) * size[:, None]
    difference = np.abs(given.astype(np.float64) - wanted)
    if form in _NUMBERS:
        accepted = always * (1.0 + np.abs(wanted)) + 2.0 * d
    else:
        accepted = always + wanted * (1.0 - wanted) * np.expm1(2.0 * np.minimum(d, 1.0))
    with np.errstate(invalid="ignore"):
        return np.asarray((difference <= accepted).all(axis=1))


def probabilities_in(given: NDArray[np.generic], form: str, rows: int) -> FloatArray:
    """Return the probabilities in what a graph puts out, (n, K), in the precision it has."""
    values: FloatArray = given.reshape(rows, -1).astype(np.float64)
    if form in ("log-sigmoid", "log-softmax"):
        values = np.exp(values)
    if form == "logits":
        values = _softmax(values)
    if form in ("sigmoid", "log-sigmoid"):
        values = np.concatenate([1.0 - values, values], axis=1)
    return values.astype(given.dtype)


def precision_of(*arrays: Array) -> str:
    """Return the coarsest of the floating types of some arrays."""
    names = [str(array.dtype) for array in arrays if array.dtype.kind == "f"]
    return next((name for name in ("float16", "float32") if name in names), "float64")
