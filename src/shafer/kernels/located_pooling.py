r"""Pool the weights of a linear head on feature maps: each location is a component.

:math:`w_{gk} = \sum_c \beta_{ck} a_{gc} + o_{gk}`: a matrix product gives the weights of a block of
rows, which are then summed and not kept.
"""

from __future__ import annotations

from array_api_compat import array_namespace

from shafer._typing import Array
from shafer.kernels.pooling import Pooled, pool

# Elements of the weights of one block of rows.
_BLOCK = 2**22


def located_weights(features: Array, beta: Array, shift: Array, shares: Array | None) -> Array:
    """Return the weights of all locations, (n, G, K), in the precision of the coefficients.

    Parameters
    ----------
    features : array of shape (n, G, C)
    beta : array of shape (C, K), or (G, C, K) if each location has coefficients of its own
    shift : array of shape (1, K) or (G, K)
        What is added to the weights of a location.
    shares : array of shape (n, G), optional
        A factor on the shift of each row and location; 1 by default.

    Returns
    -------
    array of shape (n, G, K)
    """
    xp = array_namespace(beta)
    wide = xp.astype(features, beta.dtype, copy=False)
    if beta.ndim == 2:
        weights = wide @ beta
    else:
        weights = xp.permute_dims(xp.permute_dims(wide, (1, 0, 2)) @ beta, (1, 0, 2))
    return weights + (shift if shares is None else shares[..., None] * shift)


def pool_located(
    features: Array,
    beta: Array,
    shift: Array,
    shares: Array | None = None,
    total: Array | None = None,  # noqa: ARG001 - the CUDA kernel uses it
) -> Pooled:
    """Pool the weights of all locations, a block of rows at a time; see :func:`located_weights`.

    ``total``, of shape (n, C), are the features summed over the locations, if they are known.
    """
    xp = array_namespace(beta)
    n, n_locations, _ = features.shape
    rows = max(1, _BLOCK // (n_locations * beta.shape[-1]))
    blocks = []
    for start in range(0, max(n, 1), rows):
        block = slice(start, min(start + rows, n))
        some = None if shares is None else shares[block, :]
        blocks.append(pool(located_weights(features[block, :, :], beta, shift, some)))
    return Pooled(*(xp.concat(list(column), axis=0) for column in zip(*blocks, strict=True)))


def located_weights_of(
    features: Array, beta: Array, shift: Array, shares: Array | None, positions: Array
) -> Array:
    """Return the weights of all locations for a few classes of each row, (n, G, M).

    ``positions``, integers of shape (n, M), are these classes; ``beta`` is (C, K).
    """
    xp = array_namespace(beta)
    n, most = positions.shape
    chosen = xp.reshape(positions, (-1,))
    coefficients = xp.reshape(xp.take(beta.T, chosen, axis=0), (n, most, -1))
    constant = xp.reshape(xp.take(shift.T, chosen, axis=0), (n, most, -1))
    constant = xp.matrix_transpose(constant)  # (n, 1 or G, M)
    if shares is not None:
        constant = shares[..., None] * constant
    wide = xp.astype(features, beta.dtype, copy=False)
    return wide @ xp.matrix_transpose(coefficients) + constant
