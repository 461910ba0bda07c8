r"""Weights of contributions that are given directly: centring over the classes, and a constant."""

from __future__ import annotations

from array_api_compat import array_namespace

from shafer._typing import Array


def centred_over_classes(array: Array) -> Array:
    """Subtract the mean over the classes, the last axis; equal classes give exact zeros.

    Parameters
    ----------
    array : array of shape (..., K)

    Returns
    -------
    array of shape (..., K)
    """
    xp = array_namespace(array)
    relative = array - array[..., :1]
    return relative - xp.mean(relative, axis=-1, keepdims=True)


def additive_weights(contributions: Array, constant: Array) -> Array:
    r"""Return :math:`z^*_{gk} + c_{gk}`, the weights of contributions (n, G, K).

    The star is centring over the classes, and c of shape (G, K) is :math:`b_k / G - \mu_{gk}`.
    """
    return centred_over_classes(contributions) + constant
