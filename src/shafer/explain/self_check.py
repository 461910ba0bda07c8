"""Every explainer compares its probabilities with the model's own when it is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from shafer._checks.arrays import to_numpy
from shafer._typing import Array, BoolArray, FloatArray
from shafer.decision.policy import AnswerRule, LeastLoss, answers
from shafer.errors import UnsupportedModelError
from shafer.evidence.evidence import Evidence
from shafer.models.read_model import ModelRows
from shafer.models.registry import as_inputs, own_predictions, own_probabilities
from shafer.rows.access import n_rows, take_rows

MOST_ROWS = 64
# Differences of two probabilities that are always accepted, by the precision of the model:
# libraries add up the same terms in another order, and boosting libraries many terms in single
# precision. More is accepted only as far as rounded logits explain it.
_ALWAYS = {"float64": 1e-9, "float32": 1e-4, "float16": 5e-4, "bfloat16": 4e-3}
_EPS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
_ROUNDED_SUM = 0.05  # in half precision the probabilities of a row add up to 1 only roughly


def check_model(
    model: Any,
    background: Any,
    read: Callable[[Any], tuple[ModelRows, Evidence]],
    rule: AnswerRule | None,
    options: Mapping[str, Any] | None = None,
    *,
    stated: bool = False,
) -> None:
    """Raise an error if the evidence does not give the model's own probabilities and predictions.

    Parameters
    ----------
    model : fitted model
    background : as the model takes it
        At most 64 of its rows are compared: the first, the last, and rows evenly between them.
    read : callable
        Returns the rows as the model reads them, and their evidence without further calibration.
    rule : Cutoff or LeastLoss, optional
        What answers, as it was read from the model; by default the most probable class.
    options : mapping, optional
        Options under which the model was read.
    stated : bool
        Whether the user states what answers. Then predictions are not compared.

    Raises
    ------
    UnsupportedModelError
        The message names the row, what was compared, and the likely reason.
    """
    inputs = as_inputs(model, background)
    positions = evenly(n_rows(inputs))
    rows = take_rows(inputs, positions)
    given = own_probabilities(model, rows, options)
    predicted = None if stated else own_predictions(model, rows)
    if given is None and predicted is None:
        return
    passed, ev = read(rows)
    if given is not None:
        _check_probabilities(model, given, passed, ev, positions)
    if predicted is not None:
        _check_answers(model, predicted, passed, ev, rule, positions)


def _check_probabilities(
    model: Any, given: FloatArray, passed: ModelRows, ev: Evidence, positions: list[int]
) -> None:
    own = given.astype(np.float64)
    found = to_numpy(ev.probability).astype(np.float64)
    if own.shape != found.shape:
        raise UnsupportedModelError(
            f"The model gives probabilities of shape {own.shape}, but its evidence has shape "
            f"{found.shape}. The model was not read correctly. Please report this; check=False "
            "turns the check off."
        )
    precision = _coarsest(_precision(given), _precision(passed.terms), _precision_of_values(own))
    difference = np.abs(found - _normalised(own, precision))
    if (difference <= _tolerance(found, ev, passed.terms, precision)).all():
        return
    worst = int(np.argmax(np.where(np.isnan(difference), np.inf, difference).max(axis=1)))
    k = int(np.argmax(difference[worst]))
    row = positions[worst * len(positions) // len(own)]  # a sequence has several rows for each
    raise UnsupportedModelError(
        f"The evidence does not give the model's own probabilities. Row {row} of the "
        f"background, class {ev.classes.tolist()[k]!r}: the evidence gives {found[worst, k]:.10g}, "
        f"{type(model).__name__} gives {own[worst, k]:.10g}. {_reason(found, own)} Please report "
        "this; check=False turns the check off."
    )


def _check_answers(
    model: Any,
    predicted: NDArray[Any],
    passed: ModelRows,
    ev: Evidence,
    rule: AnswerRule | None,
    positions: list[int],
) -> None:
    """Compare answers with predictions, if these are labels; rows that tie may have either."""
    own = _positions(predicted, model, len(positions))
    if own is None:
        return
    logits = to_numpy(ev.logits).astype(np.float64)
    found = answers(logits, rule)
    wrong = np.flatnonzero((found != own) & ~_tied(logits, own, rule, passed.terms))
    if not len(wrong):
        return
    row = int(wrong[0])
    labels = np.asarray(model.classes_).tolist()
    p = to_numpy(ev.probability)[row, own[row]]
    expected = (
        f"the most probable class is {labels[found[row]]!r}"
        if rule is None
        else f"its threshold gives {labels[found[row]]!r}"
    )
    stated = "threshold=0.2" if len(labels) == 2 else "loss=[[0, 1, 5], [1, 0, 5], [1, 1, 0]]"
    raise UnsupportedModelError(
        f"{type(model).__name__} predicts {labels[own[row]]!r} for row {positions[row]} of the "
        f"background, which has a probability of {p:.4g}, and {expected}. Its predictions do not "
        "follow from its probabilities in a way that was read, so answers and promises would be "
        f"about another classifier. State how it answers: shafer.Explainer(model, X, {stated}). Or "
        "pass the model inside it, or check=False, to answer with the most probable class."
    )


def _positions(given: NDArray[Any], model: Any, n: int) -> NDArray[np.intp] | None:
    """Return the position of each prediction among the model's classes; None without labels."""
    labels = np.asarray(model.classes_)
    if given.size != n or labels.ndim != 1:
        return None
    for as_written in (lambda label: label, str):
        place = {as_written(label): k for k, label in enumerate(labels.tolist())}
        found = [place.get(as_written(label), -1) for label in given.ravel().tolist()]
        if len(place) == len(labels) and min(found) >= 0:
            return np.array(found, dtype=np.intp)
    return None


def _tied(
    logits: FloatArray, own: NDArray[np.intp], rule: AnswerRule | None, terms: Array
) -> BoolArray:
    """Return where the model's own answer is as good as any, up to the precision of the model."""
    if isinstance(rule, LeastLoss):
        shifted = -softmax(logits, axis=1) @ rule.regret.T
    else:
        shifted = logits if rule is None else logits + rule.shift
    gap = shifted.max(axis=1) - np.take_along_axis(shifted, own[:, None], axis=1)[:, 0]
    least = max(_ALWAYS["float32"], _ALWAYS[_precision(terms)])
    return np.asarray(gap <= least * (1.0 + np.abs(logits).max(axis=1)))


def evenly(n: int) -> list[int]:
    """Choose at most 64 of n positions, evenly, with the first and the last."""
    chosen = np.unique(np.linspace(0, n - 1, min(n, MOST_ROWS)).round().astype(int))
    return [int(position) for position in chosen]


def _normalised(own: FloatArray, precision: str) -> FloatArray:
    """Divide half-precision probabilities by their sum, which their rounding moves away from 1."""
    total = own.sum(axis=1, keepdims=True)
    rounded = precision in ("float16", "bfloat16") and np.abs(total - 1.0).max() < _ROUNDED_SUM
    return own / total if rounded else own


def _tolerance(found: FloatArray, ev: Evidence, terms: Array, precision: str) -> FloatArray:
    """Return the accepted difference of each probability, (n, K).

    Logits that are rounded by up to d change the odds of a class by a factor of up to e^{2d}, and
    its probability p by at most p (1 − p) (e^{2d} − 1).
    """
    read = _precision(ev.logits)
    if terms.ndim == 3:  # contributions; features may be whole numbers, which tell nothing
        read = _coarsest(read, _precision_of_values(to_numpy(terms).astype(np.float64)))
    largest = np.abs(to_numpy(ev.logits).astype(np.float64)).max(axis=1, keepdims=True)
    # Large weights that cancel leave a logit with fewer digits.
    weights = to_numpy(ev.weights_for + ev.weights_against).astype(np.float64)
    d = _EPS[_precision(terms)] * largest + 8.0 * _EPS[read] * weights.max(axis=1, keepdims=True)
    from_rounding = np.where(
        d < 1.0, found * (1.0 - found) * np.expm1(2.0 * d.clip(None, 1.0)), 1.0
    )
    return np.asarray(_ALWAYS[_coarsest(precision, read)] + from_rounding)


def _coarsest(*precisions: str) -> str:
    return max(precisions, key=_EPS.__getitem__)


def _precision(array: Any) -> str:
    """Return the name of an array's floating number format; float64 if it has none."""
    name = str(getattr(array, "dtype", "")).rpartition(".")[2]  # torch.float32, float32
    return name if name in _EPS else "float64"


def _precision_of_values(values: FloatArray) -> str:
    """Return "float32" if most values were computed in single precision, as those of XGBoost."""
    with np.errstate(over="ignore"):
        # Short numbers such as 0, 1 or 0.25 have the same value in every precision.
        telling = values[values != values.astype(np.float16)]
        single = telling == telling.astype(np.float32)
    # Not all of them: a bias may have been added to one component in double precision.
    return "float32" if len(telling) and np.mean(single) > 0.5 else "float64"


def _reason(found: FloatArray, own: FloatArray) -> str:
    if not np.isfinite(own).all():
        return "The model's own probabilities are not finite: check its parameters."
    if np.abs(found - own).max() < 1e-3:
        return "The difference is small: the model probably computes in lower precision."
    if np.allclose(np.sort(found, axis=1), np.sort(own, axis=1), atol=1e-6):
        return "Only the order of the classes differs: the model orders them in another way."
    return (
        "Likely the model changes its scores in a way that this version of shafer does not know: "
        "a calibration, early stopping, a custom objective, or a newer release of its library."
    )
