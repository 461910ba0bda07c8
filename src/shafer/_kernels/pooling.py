r"""Sum the weights over the components: evidence for and against each class.

:math:`w^+_k = \sum_g \max(0, w_{gk})` and :math:`w^-_k = \sum_g \max(0, -w_{gk})`. Each is a sum of
nonnegative terms, so each keeps its relative accuracy however large the other is. Computing one
from the other by subtraction would lose digits. Sums are in double precision, also for float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace
from scipy import sparse

from shafer._typing import Array, FloatArray

if TYPE_CHECKING:
    from shafer._kernels.forms import LogTerms


# Elements of the largest temporary array; there are three at a time (48 MB in double precision).
_BLOCK = 2**21

# The order in which NumPy and compiled kernels add up the features of a linear model; changing it
# changes last digits. With few classes, a feature in each of 16 lanes, and the lanes at the end.
# With more, four features at a time: Σ|w| and Σw, or both sides where that would lose digits.
FEW_CLASSES = 8
LANES_OF_FEATURES = 16
FEW_FEATURES = 32  # with so few features digits would often be lost: both sides at once


def one_sided(bits: int) -> float:
    """Return the share of Σ|w| below which the smaller of w⁺ and w⁻ must be summed by itself.

    A fast kernel may sum |w| alone and take (Σ|w| ± z) / 2. That subtraction loses digits of the
    smaller side, and below this share it loses too many.
    """
    return 1e-3 if bits == 64 else 0.1


ROUNDINGS_OF_POOLED = 1000.0
"""Pooled weights below this many roundings of 1 plus the largest of their row count as 0."""


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
    if isinstance(weights, np.ndarray):
        return _pool_by_row(weights)
    return _finish(*_split_sum(weights), weights.dtype)


def _pool_by_row(weights: FloatArray) -> Pooled:
    """Add up the components one after the other, as the compiled kernel does."""
    *instances, n_components, n_classes = weights.shape
    n = math.prod(instances)
    flat = weights.reshape(n, n_components, n_classes)
    # NumPy would add up a single class in another order.
    sides = np.empty((2, n, max(n_classes, 2)))
    rows = max(1, _IN_CACHE // max(1, n_components * n_classes))
    for start in range(0, n, rows):
        block = slice(start, start + rows)
        some = np.zeros((min(rows, n - start), n_components, sides.shape[2]))
        some[:, :, :n_classes] = flat[block]
        np.add.reduce(np.maximum(some, 0.0), axis=1, out=sides[0, block])
        np.add.reduce(np.maximum(-some, 0.0), axis=1, out=sides[1, block])
    sides += 0.0  # no negative zero
    positive, negative = sides[:, :, :n_classes].reshape(2, *instances, n_classes)
    return _finish(positive, negative, weights.dtype)


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
    if isinstance(features, np.ndarray):
        return _pool_in_order(features, centre, beta, offset)
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


# The same for NumPy arrays, in the order of the compiled kernels: equal bits.

_IN_CACHE = 2**17  # elements of a temporary array
_FOURS = 4


def _pool_in_order(
    features: FloatArray, centre: FloatArray, beta: FloatArray, offset: FloatArray
) -> Pooled:
    n, n_classes = features.shape[0], beta.shape[1]
    wide, shares = (np.ascontiguousarray(array, np.float64) for array in (beta, offset))
    sides = np.zeros((2, n, n_classes))
    sum_block = _sums_in_lanes if n_classes < FEW_CLASSES else _sums_in_fours
    rows = max(1, _IN_CACHE // max(1, features.shape[1]))
    for start in range(0, n, rows):
        block = slice(start, start + rows)
        centred = features[block].astype(np.float64, copy=False) - centre
        sides[:, block] = sum_block(centred, wide, shares)
    return _finish(sides[0], sides[1], features.dtype)


def _sums_in_lanes(centred: FloatArray, beta: FloatArray, offset: FloatArray) -> FloatArray:
    """Return the sums of both sides, (2, n, K), with a feature in each of 16 lanes."""
    n, n_features = centred.shape
    groups = -(-n_features // LANES_OF_FEATURES)
    # A group of zeros first: sums start at zero. The last one is filled up with zeros.
    lanes = np.zeros((groups + 1, n, LANES_OF_FEATURES))
    features = lanes[1:].transpose(1, 0, 2)
    found = np.empty((2, n, len(offset)))
    whole = np.zeros((n, groups * LANES_OF_FEATURES))
    for k in range(len(offset)):
        if k == 1 and len(offset) == 2 and offset[1] == -offset[0] and _are_opposite(beta):
            found[:, :, 1] = found[::-1, :, 0]
            break
        np.multiply(centred, beta[:, k], out=whole[:, :n_features])
        whole[:, :n_features] += offset[k]
        parts = whole.reshape(n, groups, LANES_OF_FEATURES)
        for side, sign in enumerate((1.0, -1.0)):
            np.maximum(parts * sign, 0.0, out=features)
            total = np.add.reduce(lanes, axis=0)
            half = LANES_OF_FEATURES // 2
            while half:
                total = total[:, :half] + total[:, half:]
                half //= 2
            found[side, :, k] = total[:, 0]
    return found


def _are_opposite(beta: FloatArray) -> bool:
    return bool(np.array_equal(beta[:, 0], -beta[:, 1]))


def _sums_in_fours(centred: FloatArray, beta: FloatArray, offset: FloatArray) -> FloatArray:
    """Return the sums of both sides, (2, n, K), four features at a time."""
    if len(beta) < FEW_FEATURES:
        return _totals(centred, beta, offset, _both_sides)
    size, total = _totals(centred, beta, offset, _size_and_sum)
    found = 0.5 * np.stack([size + total, size - total])
    lost = size - np.abs(total) <= one_sided(64) * size
    rows, classes = lost.any(axis=1), lost.any(axis=0)
    if rows.any():
        some = np.ascontiguousarray(beta[:, classes])  # sums depend on the layout
        again = _totals(centred[rows], some, offset[classes], _both_sides)
        where = np.ix_([True, True], rows, classes)
        found[where] = np.where(lost[np.ix_(rows, classes)], again, found[where])
    return found


def _both_sides(weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    return np.maximum(weights, 0.0), np.maximum(-weights, 0.0)


def _size_and_sum(weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    return np.abs(weights), weights


def _totals(
    centred: FloatArray, beta: FloatArray, offset: FloatArray, read: Callable[..., Any]
) -> FloatArray:
    """Add up two readings of the weights over the features, (2, n, K)."""
    n, n_features = centred.shape
    totals = np.zeros((2, n, len(offset)))
    fours = n_features // _FOURS * _FOURS
    step = max(1, _IN_CACHE // (_FOURS * max(1, n * len(offset)))) * _FOURS
    columns = np.ascontiguousarray(centred.T)[:, :, None]
    for start in range(0, fours, step):
        part = slice(start, min(start + step, fours))
        weights = columns[part] * beta[part, None, :] + offset
        for total, values in zip(totals, read(weights), strict=True):
            four = values.reshape(-1, _FOURS, *total.shape)
            sums = (four[:, 0] + four[:, 1]) + (four[:, 2] + four[:, 3])
            total[...] = np.add.reduce(np.concatenate([total[None], sums]), axis=0)
    for j in range(fours, n_features):
        for total, values in zip(totals, read(columns[j] * beta[j] + offset), strict=True):
            total += values
    return totals


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
    size, total = sums_at_zero(centre, beta, offset)
    wide, shares = beta.astype(np.float64), offset.astype(np.float64)
    shape = (features.shape[0], beta.shape[1])
    sizes, totals = np.empty(shape), np.empty(shape)
    for rows in _row_blocks(features.indptr, beta.shape[1]):
        start, stop = features.indptr[rows.start], features.indptr[rows.stop]
        column = features.indices[start:stop]
        changes = features.data[start:stop, None].astype(np.float64) * wide[column]
        absent = shares - centre.astype(np.float64)[column, None] * wide[column]
        indptr = features.indptr[rows.start : rows.stop + 1] - start
        row_of = sparse.csr_array(
            (np.ones(stop - start), np.arange(stop - start), indptr),
            shape=(len(indptr) - 1, stop - start),
        )
        sizes[rows] = row_of @ (np.abs(absent + changes) - np.abs(absent))
        totals[rows] = row_of @ changes
    return from_size_and_sum(sizes + size, totals + total, beta.dtype)


def sums_at_zero(
    centre: FloatArray, beta: FloatArray, offset: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return Σ|w| and Σw of a row whose features are all zero, (K,) each."""
    size, total = np.zeros((2, beta.shape[1]))
    rows = max(1, _BLOCK // beta.shape[1])
    for start in range(0, len(beta), rows):
        part = slice(start, start + rows)
        slopes = np.ascontiguousarray(beta[part], np.float64)  # sums depend on the layout
        at_zero = offset.astype(np.float64) - centre[part, None].astype(np.float64) * slopes
        size += np.abs(at_zero).sum(axis=0)
        total += at_zero.sum(axis=0)
    return size, total


def from_size_and_sum(size: FloatArray, total: FloatArray, dtype: Any) -> Pooled:
    """Return both sides from Σ|w| and Σw; rounding leaves none below zero."""
    size = np.maximum(size, np.abs(total))
    parts = total, 0.5 * (size + total), 0.5 * (size - total)
    return Pooled(*(array.astype(dtype, copy=False) for array in parts))


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
    if isinstance(contributions, np.ndarray):
        relative = contributions - contributions[..., :1]
        total = np.zeros_like(relative[..., 0])
        for k in range(relative.shape[-1]):  # one after the other, as the compiled kernel
            total += relative[..., k]
        relative -= (total / total.dtype.type(relative.shape[-1]))[..., None]
        relative += constant
        return np.ascontiguousarray(relative)
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
