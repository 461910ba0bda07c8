"""``PenalisedLoss``: the log loss that the coefficients of a linear head minimise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final


@final
@dataclass(frozen=True, eq=False)
class PenalisedLoss:
    """The penalised log loss of a linear head, as a posterior sees it.

    Attributes
    ----------
    precision : float
        Of the normal prior that the penalty puts on each coefficient; 0 without a penalty.
    intercept_precision : float or None
        The same for the intercept, most often 0; None if the intercept is fixed.
    class_weight : mapping, "balanced" or None
        Weights of the classes in the loss, as in scikit-learn.
    has_corner : bool
        The penalty has an L1 part, which has no curvature where a coefficient is 0.
    """

    precision: float
    intercept_precision: float | None = 0.0
    class_weight: Any = None
    has_corner: bool = False
