"""The most probable classes of each row, by position."""

from __future__ import annotations

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from shafer._typing import Array, FloatArray

TOP = 5  # classes whose weights are shown


def most_probable(logits: Array, top: int) -> Array:
    """Return the positions of the largest logits, the largest first, (n, M)."""
    most = min(top, logits.shape[-1])
    if array_api_compat.is_torch_array(logits):  # a few of many classes, without sorting all
        return logits.topk(most, dim=-1).indices
    xp = array_api_compat.array_namespace(logits)
    return xp.argsort(logits, axis=-1, descending=True, stable=True)[..., :most]


def most_probable_but(logits: FloatArray, but: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the position of the most probable class other than ``but`` in each row, (n,)."""
    others = logits.astype(np.float64)  # a copy
    others[np.arange(len(others)), but] = -np.inf
    found: NDArray[np.intp] = np.argmax(others, axis=1)
    return found
