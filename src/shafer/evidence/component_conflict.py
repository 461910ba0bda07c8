"""The conflict that the components have by themselves, summed over them."""

from __future__ import annotations

import numpy as np
from array_api_compat import array_namespace

from shafer import kernels
from shafer._typing import Array
from shafer.evidence.weight_sources import WeightSource

# Elements of (rows, G, K) held at a time; rows are read in blocks.
_BLOCK = 2**20


def own_conflict(source: WeightSource) -> Array:
    """Return the sum of the components' own weights of conflict, (n,)."""
    n, n_components, n_classes = source.shape
    size = max(1, _BLOCK // max(1, n_components * n_classes))
    starts = range(0, max(n, 1), size)
    blocks = [np.arange(start, min(start + size, n)) for start in starts]
    parts = [
        kernels.own_weights_of_conflict(
            (source if len(blocks) == 1 else source.rows(rows)).dense()
        ).sum(-1)
        for rows in blocks
    ]
    return parts[0] if len(parts) == 1 else array_namespace(*parts).concat(parts)
