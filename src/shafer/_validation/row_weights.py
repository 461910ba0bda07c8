"""Sample weights: one for each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._validation.arrays import float_array, to_numpy


def row_weights(
    sample_weight: Any, n: int, *, allow_all_zero: bool = False
) -> NDArray[np.float64] | None:
    """Return one weight ≥ 0 for each of n rows, or None for equal weights.

    A single number counts for every row. Unless ``allow_all_zero``, some weight must be positive.
    """
    if sample_weight is None:
        return None
    given = to_numpy(float_array(sample_weight, "sample_weight", ndim=(0, 1))).astype(np.float64)
    weight = np.broadcast_to(given, (n,)) if given.ndim == 0 else given
    if weight.shape != (n,):
        raise ValueError(
            f"sample_weight must have one weight for each of the {n} rows; got {weight.shape[0]}."
        )
    if n and (weight.min() < 0 or (weight.max() == 0 and not allow_all_zero)):
        raise ValueError(
            "sample_weight must be nonnegative and not all zero; "
            f"got values from {weight.min()} to {weight.max()}."
        )
    return weight
