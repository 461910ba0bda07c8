"""Every explainer compares its probabilities with the model's own when it is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._errors import UnsupportedModelError
from shafer._typing import Array, FloatArray
from shafer._validation import to_numpy
from shafer.evidence import Evidence
from shafer.models.inputs.row_access import n_rows, take_rows
from shafer.models.readers.model_rows import ModelRows
from shafer.models.readers.registry import as_inputs, own_probabilities

MOST_ROWS = 64
# Largest accepted difference of two probabilities, by the bits of the coarsest number format on
# the way. A logit of size z is rounded by about z·eps, and a probability changes by at most a
# quarter of that. Libraries add up the same terms in another order, so there is room for a logit
# that is the sum of terms of size 10⁶ in double (eps 2e-16), of size 10³ in single (1e-7), and of
# size 10 in half precision (bfloat16: 8e-3).
_TOLERANCE = {64: 1e-9, 32: 1e-4, 16: 2e-2}


def check_probabilities(
    model: Any, background: Any, read: Callable[[Any], tuple[ModelRows, Evidence]]
) -> None:
    """Raise an error if the evidence does not give the model's own probabilities.

    Parameters
    ----------
    model : fitted model
    background : as the model takes it
        At most 64 of its rows are compared: the first, the last, and rows evenly between them.
    read : callable
        Returns the rows as the model reads them, and their evidence without further calibration.

    Raises
    ------
    UnsupportedModelError
        The message names the row, both probabilities, and the likely reason.
    """
    inputs = as_inputs(model, background)
    positions = evenly(n_rows(inputs))
    rows = take_rows(inputs, positions)
    own = own_probabilities(model, rows)
    if own is None:
        return
    passed, ev = read(rows)
    found = to_numpy(ev.probability).astype(np.float64)
    if own.shape != found.shape:
        raise UnsupportedModelError(
            f"The model gives probabilities of shape {own.shape}, but its evidence has shape "
            f"{found.shape}. The model was not read correctly. Please report this; check=False "
            "turns the check off."
        )
    difference = np.abs(found - own)
    if (difference <= _tolerance(own, rows, passed.terms, ev)).all():
        return
    worst = int(np.argmax(np.where(np.isnan(difference), np.inf, difference).max(axis=1)))
    k = int(np.argmax(difference[worst]))
    raise UnsupportedModelError(
        f"The evidence does not give the model's own probabilities. Row {positions[worst]} of the "
        f"background, class {ev.classes.tolist()[k]!r}: the evidence gives {found[worst, k]:.10g}, "
        f"{type(model).__name__} gives {own[worst, k]:.10g}. {_reason(found, own)} Please report "
        "this; check=False turns the check off."
    )


def evenly(n: int) -> list[int]:
    """Choose at most 64 of n positions, evenly, with the first and the last."""
    chosen = np.unique(np.linspace(0, n - 1, min(n, MOST_ROWS)).round().astype(int))
    return [int(position) for position in chosen]


def _tolerance(own: FloatArray, rows: Any, terms: Array, ev: Evidence) -> NDArray[np.float64]:
    """Return the accepted difference in each row, (n, 1)."""
    bits = min(_bits(rows), _bits(terms), _bits(ev.logits), _bits_of_values(own))
    if terms.ndim == 3:  # contributions; features may be whole numbers, which tell nothing
        bits = min(bits, _bits_of_values(to_numpy(terms).astype(np.float64)))
    # Large weights that cancel leave a logit with fewer digits.
    weights = to_numpy(ev.weights_for + ev.weights_against).astype(np.float64)
    eps = {64: 2.0**-52, 32: 2.0**-23, 16: 2.0**-8}[bits]
    return np.asarray(_TOLERANCE[bits] + 4.0 * eps * weights.max(axis=1, keepdims=True))


def _bits(array: Any) -> int:
    """Return the size of an array's floating number format: 16, 32 or 64."""
    name = str(getattr(array, "dtype", "")).rpartition(".")[2]  # torch.float32, float32
    return {"float16": 16, "bfloat16": 16, "float32": 32}.get(name, 64)


def _bits_of_values(values: FloatArray) -> int:
    """Return 32 if most values were computed in single precision, as those of XGBoost."""
    with np.errstate(over="ignore"):
        # Short numbers such as 0, 1 or 0.25 have the same value in every precision.
        telling = values[values != values.astype(np.float16)]
        single = telling == telling.astype(np.float32)
    # Not all of them: a bias may have been added to one component in double precision.
    return 32 if len(telling) and np.mean(single) > 0.5 else 64


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
