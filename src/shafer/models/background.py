"""Means over the background rows, which decide what counts as ordinary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse

from shafer._typing import Array
from shafer._validation import float_array
from shafer.models.inputs import n_rows, take_rows

# Elements of (rows, G, K) held at a time, and the rows from which G and K are first learnt.
_BLOCK = 2**22
_FIRST_ROWS = 256


def background_weights(sample_weight: Any, n: int) -> Array | None:
    """Check the weights of the n background rows."""
    if sample_weight is None:
        return None
    weight = float_array(sample_weight, "sample_weight", ndim=(1,))
    if weight.shape[0] != n:
        raise ValueError(
            f"sample_weight must have one weight for each of the {n} rows of background; "
            f"got {weight.shape[0]}."
        )
    total = float(weight.sum())
    if total <= 0.0:
        raise ValueError(f"sample_weight must have a positive sum; got {total}.")
    return weight


def feature_means(features: Any, sample_weight: Any = None) -> Array:
    """Return the column means of an (n, J) array or sparse matrix, weighted if asked."""
    if not sparse.issparse(features):
        features = float_array(features, "background", ndim=(2,))
    n = features.shape[0]
    if n == 0:
        raise ValueError(f"background must have at least one row; got shape {features.shape}.")
    weight = background_weights(sample_weight, n)
    if weight is not None:
        return (weight / weight.sum()) @ features
    if sparse.issparse(features):
        return np.asarray(features.mean(axis=0)).ravel()
    return array_api_compat.array_namespace(features).mean(features, axis=0)


def contribution_means(
    contributions: Callable[[Any], Array], background: Any, sample_weight: Any = None
) -> Array:
    """Return the means (G, K) of checked contributions, holding few of the (n, G, K) at a time.

    Means of blocks are merged by their weights, so nothing large is summed up.
    """
    n = n_rows(background)
    if n == 0:
        raise ValueError("background must have at least one row; got none.")
    weight = background_weights(sample_weight, n)
    means: Array = None
    done = 0.0
    for rows, block in _blocks(contributions, background, n):
        share = None if weight is None else weight[rows]
        here = float(rows.stop - rows.start) if share is None else float(share.sum())
        if here == 0.0:
            continue
        done += here
        mean = _mean(block, share)
        means = mean if means is None else means + (mean - means) * (here / done)
    return means


def _blocks(
    contributions: Callable[[Any], Array], background: Any, n: int
) -> Iterator[tuple[slice, Array]]:
    start, size = 0, _FIRST_ROWS
    while start < n:
        rows = slice(start, min(start + size, n))
        block = contributions(take_rows(background, rows))
        yield rows, block
        start = rows.stop
        size = max(1, _BLOCK // max(1, block.shape[1] * block.shape[2]))


def _mean(block: Array, weight: Array | None) -> Array:
    xp = array_api_compat.array_namespace(block)
    if weight is None:
        return xp.mean(block, axis=0)
    share = xp.asarray(weight / weight.sum(), dtype=block.dtype, device=block.device)
    return xp.sum(block * share[:, None, None], axis=0)
