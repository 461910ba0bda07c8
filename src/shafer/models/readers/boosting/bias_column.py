"""Contributions as boosting libraries give them: one column for each feature, the bias last."""

from __future__ import annotations

from typing import Any

import numpy as np

from shafer._typing import FloatArray


def contributions_with_bias(given: Any) -> FloatArray:
    """Bring (n, J + 1) or (n, K, J + 1) to contributions (n, J) or (n, J, K), in float64.

    The bias is the same for every row. It is added to the first feature. This changes nothing, as
    weights of evidence are relative to the background mean of each component.
    """
    array = np.asarray(given, dtype=np.float64)
    by_feature = array if array.ndim == 2 else array.transpose(0, 2, 1)
    contributions = by_feature[:, :-1].copy()
    contributions[:, 0] += by_feature[:, -1]
    return contributions
