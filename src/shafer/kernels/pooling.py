r"""Sum the weights over the components: evidence for and against each class.

:math:`w^+_k = \sum_g \max(0, w_{gk})` and :math:`w^-_k = \sum_g \max(0, -w_{gk})`. Each is a sum of
nonnegative terms, so each keeps its relative accuracy however large the other is. Computing one
from the other by subtraction would lose digits. Sums are in double precision, also for float32.
"""

from __future__ import annotations

from typing import NamedTuple

from array_api_compat import array_namespace

from shafer._typing import Array

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
