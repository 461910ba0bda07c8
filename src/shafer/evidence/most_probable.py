"""The most probable classes of each row, by position."""

from __future__ import annotations

import array_api_compat

from shafer._typing import Array

TOP = 5  # classes whose weights are shown


def most_probable(logits: Array, top: int) -> Array:
    """Return the positions of the largest logits, the largest first, (n, M)."""
    most = min(top, logits.shape[-1])
    if array_api_compat.is_torch_array(logits):  # a few of many classes, without sorting all
        return logits.topk(most, dim=-1).indices
    xp = array_api_compat.array_namespace(logits)
    return xp.argsort(logits, axis=-1, descending=True, stable=True)[..., :most]
