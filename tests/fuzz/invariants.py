"""What holds for every evidence, whatever its weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def rounding(evidence: Any) -> NDArray[np.float64]:
    """Return how far rounding may move a number in [0, 1], (n,): an ulp of the largest weight."""
    largest = np.max(evidence.weights_for + evidence.weights_against, axis=-1).astype(np.float64)
    return 64.0 * np.finfo(evidence.belief.dtype).eps * (largest + evidence.n_classes)


def in_unit_interval(values: NDArray[Any], name: str) -> None:
    """Assert numbers between 0 and 1."""
    wrong = ~((values >= 0) & (values <= 1))  # NaN is wrong too
    assert not wrong.any(), f"{name} outside [0, 1]: {values[wrong][:3]}, rows {where(wrong)}"


def at_most(smaller: NDArray[Any], larger: NDArray[Any], name: str) -> None:
    """Assert an order, element by element."""
    wrong = ~(smaller <= larger)
    assert not wrong.any(), f"{name}: rows {where(wrong)}"


def close(first: NDArray[Any], second: Any, tolerance: Any, name: str) -> None:
    """Assert that numbers agree, element by element."""
    with np.errstate(invalid="ignore"):
        wrong = ~((first == second) | (np.abs(first - second) <= tolerance))
    assert not wrong.any(), f"{name}: {first[wrong][:3]}, rows {where(wrong)}"


def where(wrong: NDArray[np.bool_]) -> list[int]:
    """Return the first rows of what is wrong."""
    return np.unique(np.nonzero(wrong)[0])[:5].tolist()


def check_closed_forms(evidence: Any) -> None:
    """Check the quantities of every row: no NaN, within [0, 1], belief ≤ plausibility."""
    for name in ("probability", "plausibility", "belief", "ignorance", "conflict"):
        in_unit_interval(getattr(evidence, name), name)
    belief, plausibility = evidence.belief, evidence.plausibility
    at_most(belief, plausibility, "belief above plausibility")
    ulps = _ulps(belief)
    close(evidence.probability.sum(axis=-1), 1.0, ulps, "sum of the probabilities")
    open_ = evidence.ignorance[..., None]
    at_most(open_, plausibility * (1 + ulps) + ulps, "ignorance above plausibility")


def check_mass_evidence(evidence: Any, tolerance: Any = 0.0) -> None:
    """Check what every kind of evidence promises: the above, and sums of one.

    ``tolerance`` is how far rounding of large weights may move a sum, a number or (n,).
    """
    check_closed_forms(evidence)
    belief, plausibility, pignistic = evidence.belief, evidence.plausibility, evidence.pignistic
    in_unit_interval(pignistic, "pignistic")
    about = _ulps(belief) + np.asarray(tolerance)
    at_most(belief.sum(axis=-1), 1.0 + about, "sum of the beliefs above 1")
    close(pignistic.sum(axis=-1), 1.0, about, "sum of the pignistic probabilities")
    at_most(belief, pignistic + about[..., None], "pignistic below belief")
    at_most(pignistic, plausibility + about[..., None], "pignistic above plausibility")


def _ulps(belief: NDArray[Any]) -> float:
    """Return a bound on the rounding of a sum over the classes."""
    return 8 * belief.shape[-1] * float(np.finfo(belief.dtype).eps)
