r"""Sum the weights over the components: evidence for and against each class.

:math:`w^+_k = \sum_g \max(0, w_{gk})` and :math:`w^-_k = \sum_g \max(0, -w_{gk})`. Each is a sum of
nonnegative terms, so each keeps its relative accuracy however large the other is. Computing one
from the other by subtraction would lose digits. Sums are in double precision, also for float32.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from array_api_compat import array_namespace
from scipy import sparse

from shafer._typing import Array, FloatArray

if TYPE_CHECKING:
    from shafer._kernels.forms import LogTerms


# Elements of the largest temporary array; there are three at a time (48 MB in double precision).
_BLOCK = 2**21


def one_sided(bits: int) -> float:
    """Return the share of Σ|w| below which the smaller of w⁺ and w⁻ must be summed by itself.

    A fast kernel may sum |w| alone and take (Σ|w| ± z) / 2. That subtraction loses digits of the
    smaller side, and below this share it loses too many.
    """
    return 1e-3 if bits == 64 else 0.1


class Pooled(NamedTuple):
    """The weights summed over the components; each array is (..., K).

    Attributes
    ----------
    logits : array of shape (..., K)
        Weights for less weights against.
    weights_for : array of shape (..., K)
        The sum of the positive weights.
    weights_against : array of shape (..., K)
        The sum of the negative weights, without their sign.
    """

    logits: Array  # z* = w⁺ − w⁻
    weights_for: Array  # w⁺
    weights_against: Array  # w⁻


def _split_sum(weights: Array) -> tuple[Array, Array]:
    """Sum the positive and the negative parts over the component axis, in double precision."""
    xp = array_namespace(weights)
    positive = xp.sum(xp.clip(weights, min=0.0), axis=-2, dtype=xp.float64)
    negative = xp.sum(xp.clip(-weights, min=0.0), axis=-2, dtype=xp.float64)
    return positive, negative


def _finish(positive: Array, negative: Array, dtype: object) -> Pooled:
    xp = array_namespace(positive)
    return Pooled(
        xp.astype(positive - negative, dtype, copy=False),
        xp.astype(positive, dtype, copy=False),
        xp.astype(negative, dtype, copy=False),
    )


def pool(weights: Array) -> Pooled:
    """Pool weights of evidence of shape (..., G, K).

    Parameters
    ----------
    weights : array of shape (..., G, K)
        Positive weights are evidence for a class, negative ones against it.

    Returns
    -------
    Pooled
    """
    return _finish(*_split_sum(weights), weights.dtype)


def linear_weights(centred: Array, beta: Array, offset: Array) -> Array:
    r"""Return :math:`w_{jk} = \beta_{jk}(\phi_j - \mu_j) + b_k / J`, of shape (n, J, K).

    Parameters
    ----------
    centred : array of shape (n, J)
        Features less their background means.
    beta : array of shape (J, K)
        Coefficients, centred over the classes.
    offset : array of shape (K,)
        The share of the intercept that every component gets.

    Returns
    -------
    array of shape (n, J, K)
    """
    return centred[..., None] * beta + offset


def pool_linear(features: Array, centre: Array, beta: Array, offset: Array) -> Pooled:
    """Pool the weights of a linear model without holding all (n, J, K) of them in memory.

    Parameters
    ----------
    features : array of shape (n, J)
    centre : array of shape (J,)
        Means of the features over the background data.
    beta : array of shape (J, K)
        Coefficients, centred over the classes.
    offset : array of shape (K,)
        The share of the intercept that every component gets.
    """
    xp = array_namespace(features)
    n, n_components = features.shape
    n_classes = beta.shape[1]
    step = max(1, min(n_components, _BLOCK // n_classes))
    rows = max(1, _BLOCK // (step * n_classes))
    blocks = []
    for i in range(0, max(n, 1), rows):
        block = slice(i, min(i + rows, n))
        positive = negative = xp.zeros(
            (block.stop - i, n_classes), dtype=xp.float64, device=features.device
        )
        for j in range(0, n_components, step):
            part = slice(j, min(j + step, n_components))
            centred = features[block, part] - centre[part]
            weights = linear_weights(centred, beta[part, :], offset)
            more_positive, more_negative = _split_sum(weights)
            positive, negative = positive + more_positive, negative + more_negative
        blocks.append(_finish(positive, negative, features.dtype))
    return Pooled(*(xp.concat(list(column), axis=0) for column in zip(*blocks, strict=True)))


# Pool the weights of a linear head on feature maps: each location is a component.

# Elements of the weights of one block of rows.
_LOCATED_BLOCK = 2**22


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
    rows = max(1, _LOCATED_BLOCK // (n_locations * beta.shape[-1]))
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


# Pool the weights of a linear model over sparse features, in O(nnz · K).


def _row_blocks(indptr: FloatArray, n_classes: int) -> list[slice]:
    """Split the rows into blocks of at most ``_BLOCK`` stored entries × classes."""
    most = max(1, _BLOCK // n_classes)
    cuts, n = [0], len(indptr) - 1
    while cuts[-1] < n:
        end = int(np.searchsorted(indptr, indptr[cuts[-1]] + most, side="right")) - 1
        cuts.append(min(max(end, cuts[-1] + 1), n))
    return [slice(a, b) for a, b in pairwise(cuts)]


def pool_linear_sparse(
    features: Array, centre: FloatArray, beta: FloatArray, offset: FloatArray
) -> Pooled:
    """Pool the weights β (φ − μ) + b/J of a linear model.

    Parameters
    ----------
    features : CSR array of shape (n, J)
    centre : array of shape (J,)
        Means of the features over the background data.
    beta : array of shape (J, K)
    offset : array of shape (K,)
    """
    beta64 = beta.astype(np.float64)
    at_zero = offset - centre[:, None] * beta64  # (J, K): the weights of an absent feature
    positive_at_zero = np.clip(at_zero, 0, None)
    negative_at_zero = np.clip(-at_zero, 0, None)
    positive = np.empty((features.shape[0], beta.shape[1]))
    negative = np.empty_like(positive)
    for rows in _row_blocks(features.indptr, beta.shape[1]):
        start, stop = features.indptr[rows.start], features.indptr[rows.stop]
        column = features.indices[start:stop]
        weights = features.data[start:stop, None] * beta64[column] + at_zero[column]
        indptr = features.indptr[rows.start : rows.stop + 1] - start
        row_of = sparse.csr_array(
            (np.ones(stop - start), np.arange(stop - start), indptr),
            shape=(len(indptr) - 1, stop - start),
        )
        positive[rows] = row_of @ (np.clip(weights, 0, None) - positive_at_zero[column])
        negative[rows] = row_of @ (np.clip(-weights, 0, None) - negative_at_zero[column])
    # Both sums have positive and negative terms; rounding must not leave a result below zero.
    positive = np.clip(positive + positive_at_zero.sum(axis=0), 0, None)
    negative = np.clip(negative + negative_at_zero.sum(axis=0), 0, None)
    logits = features @ beta64 + at_zero.sum(axis=0)
    return Pooled(*(a.astype(beta.dtype, copy=False) for a in (logits, positive, negative)))


# Weights of contributions that are given directly: centring over the classes, and a constant.


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


# The terms of the closed forms divided by D, as ordinary numbers instead of logarithms.

# Largest −ln v, for classes without evidence against them (v = 0). e^-800 is zero, so a larger one
# would give the same results; and sums over a thousand classes keep their digits.
_LARGEST_T = 800.0
_LOG_LARGEST_T = 6.684611727667927


class Shares(NamedTuple):
    """The terms of the closed forms relative to D; each array is (..., K).

    Attributes
    ----------
    s, u : arrays of shape (..., K)
        s / D and u / D.
    v : array of shape (..., K)
        v, not divided by D.
    t : array of shape (..., K)
        −ln v, at most 800.
    t_share : array of shape (..., K)
        −ln v / D.
    """

    s: Array  # s / D
    u: Array  # u / D
    v: Array  # v, as it is
    t: Array  # −ln v, as it is, at most 800
    t_share: Array  # −ln v / D


def shares(terms: LogTerms) -> Shares:
    """Return the terms divided by D.

    Parameters
    ----------
    terms : LogTerms
        From :func:`log_terms`.

    Returns
    -------
    Shares
    """
    xp = array_namespace(terms.logits)
    log_d = terms.shift + terms.log_d
    return Shares(
        xp.exp(terms.log_s - terms.log_d),  # also rounded: ln D is made of ln s and more
        xp.exp(xp.clip(-terms.weights_against - log_d, max=0.0)),
        -xp.expm1(-terms.weights_against),
        xp.clip(terms.neg_log_v, max=_LARGEST_T),
        # Exact values are far below this limit: it only catches rounding.
        xp.exp(xp.clip(xp.clip(terms.log_neg_log_v, max=_LOG_LARGEST_T) - log_d, max=10.0)),
    )


def one_minus_exp_ratio(t: Array) -> Array:
    r"""Return :math:`(1 - e^{-t}) / t` for :math:`t \ge 0`; 1 at zero.

    Parameters
    ----------
    t : array
        At least 0.

    Returns
    -------
    array
        Of the shape of ``t``, from 0 to 1.
    """
    xp = array_namespace(t)
    positive = t > 0
    safe = xp.where(positive, t, 1.0)
    return xp.where(positive, -xp.expm1(-safe) / safe, 1.0)
