"""Arrays that Displays take from evidence of any type."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from shafer._typing import Array, FloatArray
from shafer._validation import to_numpy
from shafer.evidence import DiscountedEvidence, MassEvidence

_Mass = TypeVar("_Mass", bound=MassEvidence)


def numbers(array: Array) -> FloatArray:
    """Bring an array of any library to NumPy, in double precision."""
    return np.asarray(to_numpy(array), dtype=np.float64)


def of_instances(evidence: _Mass) -> _Mass:
    """Refuse evidence whose rows are the components of instances: its arrays have another axis."""
    if len(evidence.belief.shape) != 2:
        raise ValueError(
            "The evidence of whole rows is needed; got the evidence of single components "
            "(ev.components). Pass ev itself."
        )
    return evidence


def before_discounting(evidence: MassEvidence) -> MassEvidence:
    """Return the evidence before discounting; other evidence as it is."""
    return evidence.evidence if isinstance(evidence, DiscountedEvidence) else evidence


def take_row(evidence: _Mass, row: int) -> _Mass:
    """Take one instance by its position."""
    n = len(of_instances(evidence))
    if isinstance(row, bool) or not isinstance(row, int | np.integer) or not -n <= row < n:
        raise ValueError(f"row must be a whole number from 0 to {n - 1}; got {row!r}.")
    return evidence[int(row)]
