"""Logarithms that are accurate for very small and very large input, for any array-API library.

No function here warns or returns NaN. Gradients are finite where a library has them.
"""

from __future__ import annotations

from array_api_compat import array_namespace

from shafer._typing import Array

_LN2 = 0.6931471805599453
# Beyond this, two terms of the series are exact to double precision (error < e^-60).
_TAIL = 20.0
# −ln v of a class without evidence against it (v = 0). It stands for infinity: no positive double
# has a −ln above 746, and e^-4000 is zero. Differences and gradients stay finite.
NEVER = 4000.0
_LOG_NEVER = 8.294049640102028


def safe_log(x: Array) -> Array:
    r"""Return :math:`\ln x` for :math:`x \ge 0`, with :math:`\ln 0 = -\infty` and no warning."""
    xp = array_namespace(x)
    positive = x > 0
    return xp.where(positive, xp.log(xp.where(positive, x, 1.0)), -xp.inf)


def log1mexp(x: Array) -> Array:
    r"""Return :math:`\ln(1 - e^{-x})` for :math:`x \ge 0`; −∞ at zero.

    Two branches, split at ln 2, as in Mächler (2012), *Accurately computing log(1 − exp(−|a|))*.
    """
    xp = array_namespace(x)
    small = x < _LN2
    near_zero = safe_log(-xp.expm1(-xp.where(small, x, 1.0)))
    far = xp.log1p(-xp.exp(-xp.where(small, 1.0, x)))
    return xp.where(small, near_zero, far)


def neg_log1mexp(x: Array) -> Array:
    r"""Return :math:`-\ln(1 - e^{-x})` for :math:`x \ge 0`; ``NEVER`` at zero."""
    xp = array_namespace(x)
    positive = x > 0
    return xp.where(positive, -log1mexp(xp.where(positive, x, 1.0)), NEVER)


def log_neg_log1mexp(x: Array) -> Array:
    r"""Return :math:`\ln(-\ln(1 - e^{-x}))` for :math:`x \ge 0`; ln ``NEVER`` at zero.

    For large x, :math:`1 - e^{-x}` rounds to one and its logarithm to zero; this result, −x, keeps
    its digits.
    """
    xp = array_namespace(x)
    tail, zero = x > _TAIL, x == 0
    near = xp.log(-log1mexp(xp.where(tail | zero, 1.0, x)))
    return xp.where(tail, 0.5 * xp.exp(-x) - x, xp.where(zero, _LOG_NEVER, near))


def log1mexpexp(y: Array, shift: Array | float = 0.0) -> Array:
    r"""Return :math:`\ln(1 - e^{-e^{y + s}}) - s`: from :math:`\ln(-\ln v)` to :math:`\ln(1 - v)`.

    Both logarithms are relative to the shift s ≤ 0. It is not added where that would lose digits.
    """
    xp = array_namespace(y)
    whole = y + shift
    tail = whole < -_TAIL
    near = log1mexp(xp.exp(xp.where(tail, 0.0, whole))) - shift
    return xp.where(tail, y - 0.5 * xp.exp(xp.where(tail, whole, -_TAIL)), near)


def logsumexp(x: Array, *, keepdims: bool = False) -> Array:
    r"""Return :math:`\ln \sum_k e^{x_k}` over the last axis; entries of −∞ are allowed."""
    xp = array_namespace(x)
    top = xp.max(x, axis=-1, keepdims=True)
    top = xp.where(xp.isfinite(top), top, 0.0)
    total = safe_log(xp.sum(xp.exp(x - top), axis=-1, keepdims=True)) + top
    return total if keepdims else total[..., 0]


def is_top(x: Array) -> Array:
    """Mark the first largest entry along the last axis."""
    xp = array_namespace(x)
    position = xp.arange(x.shape[-1], device=x.device)
    return position == xp.argmax(x, axis=-1, keepdims=True)


def leave_one_out_sum(x: Array) -> Array:
    r"""Return :math:`\sum_{l \ne k} x_l` for :math:`x \ge 0`.

    Subtracting the largest entry from the total would lose digits, so the others are summed again.
    Equal entries get equal results, to the last digit, so tied classes stay tied.
    """
    xp = array_namespace(x)
    rest_of_top = xp.sum(xp.where(is_top(x), 0.0, x), axis=-1, keepdims=True)
    largest = x == xp.max(x, axis=-1, keepdims=True)
    return xp.where(largest, rest_of_top, xp.sum(x, axis=-1, keepdims=True) - x)


def leave_one_out_logsumexp(x: Array) -> Array:
    r"""Return :math:`\ln \sum_{l \ne k} e^{x_l}`, with the same care."""
    xp = array_namespace(x)
    top = is_top(x)
    rest_of_top = logsumexp(xp.where(top, -xp.inf, x), keepdims=True)
    total = logsumexp(x, keepdims=True)
    largest = x == xp.max(x, axis=-1, keepdims=True)
    # Every other entry is at most half of the total, so the gap is at least ln 2.
    gap = xp.where(largest, 1.0, total - x)
    return xp.where(largest, rest_of_top, total + log1mexp(gap))
