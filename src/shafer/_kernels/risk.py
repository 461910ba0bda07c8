r"""Lower and upper expected loss of acts, by sorting instead of a sum over 2^K sets.

Sort the classes by loss, largest first. The worst loss over a set is that of its first member. The
chance that the r-th class is the first member is :math:`u_{(r)} \prod_{q<r} v_{(q)}`, so

.. math:: R^* = \Big(\sum_k s_k L_k + \sum_r L_{(r)} u_{(r)} \prod_{q<r} v_{(q)}\Big) / D,

and the lower risk is the same with the smallest loss first. All factors are shares in [0, 1].
"""

from __future__ import annotations

from array_api_compat import array_namespace

from shafer._kernels.forms import LogTerms
from shafer._kernels.pooling import Shares, one_minus_exp_ratio, shares
from shafer._kernels.products import product
from shafer._typing import Array


def upper_risk(terms: LogTerms, loss: Array) -> Array:
    """Return the upper risk of each act, (..., acts), for ``loss`` of shape (acts, K).

    Parameters
    ----------
    terms : LogTerms
        From :func:`log_terms`.
    loss : array of shape (acts, K)
        The loss of each act under each class.

    Returns
    -------
    array of shape (..., acts)
    """
    return upper_expectation(shares(terms), loss)


def lower_risk(terms: LogTerms, loss: Array) -> Array:
    """Return the lower risk of each act, (..., acts), for ``loss`` of shape (acts, K).

    Parameters
    ----------
    terms : LogTerms
        From :func:`log_terms`.
    loss : array of shape (acts, K)
        The loss of each act under each class.

    Returns
    -------
    array of shape (..., acts)
    """
    return lower_expectation(shares(terms), loss)


def upper_expectation(parts: Shares, loss: Array) -> Array:
    """Return the upper risk of each act, (..., acts), for ``loss`` of shape (acts, K).

    Parameters
    ----------
    parts : Shares
        From :func:`shares`.
    loss : array of shape (acts, K)
        The loss of each act under each class.

    Returns
    -------
    array of shape (..., acts)
    """
    xp = array_namespace(parts.s)
    order = xp.argsort(loss, axis=-1, descending=True)  # (acts, K)
    ordered = xp.take_along_axis(loss, order, axis=-1)
    total = product(parts.s, loss.T)
    none_before = xp.ones_like(total)
    for rank in range(loss.shape[-1]):
        at = order[:, rank]
        first = xp.take(parts.u, at, axis=-1) * none_before
        total = total + first * ordered[:, rank]
        none_before = none_before * xp.take(parts.v, at, axis=-1)
    return total


def lower_expectation(parts: Shares, loss: Array) -> Array:
    """Return the lower risk of each act, (..., acts), for ``loss`` of shape (acts, K).

    Parameters
    ----------
    parts : Shares
        From :func:`shares`.
    loss : array of shape (acts, K)
        The loss of each act under each class.

    Returns
    -------
    array of shape (..., acts)
    """
    return 0.0 - upper_expectation(parts, -loss)  # subtracting gives 0.0 where − gives −0.0


# E-admissible classes: those that some compatible probability makes most probable.

# In units of the smallest normal number. A smaller share changes no sum in either precision, and
# dividing by it could overflow.
_SMALLEST_SHARE = 1e17
_EXCLUDED = -4.0  # a gain so low that no sum of beliefs can make up for it


def _sum_after(x: Array) -> Array:
    """Return, for each entry, the sum of the entries after it."""
    xp = array_namespace(x)
    suffix = xp.flip(xp.cumulative_sum(xp.flip(x, axis=-1), axis=-1), axis=-1)
    return xp.concat([suffix[..., 1:], xp.zeros_like(suffix[..., :1])], axis=-1)


def excess_belief(parts: Shares, position: Array, threshold: Array) -> Array:
    r"""Return :math:`\max_{B \not\ni k} Bel(B) - \lambda |B|`, (...): 0 if k may win.

    Parameters
    ----------
    parts : Shares
    position : integer array of shape (..., 1)
        The class k of each row.
    threshold : array of shape (..., 1)
        λ, at least zero.

    Returns
    -------
    array of shape (...)
    """
    xp = array_namespace(parts.s)
    is_k = xp.arange(parts.s.shape[-1], device=parts.s.device) == position
    gain = xp.where(is_k, _EXCLUDED, parts.s - threshold)
    has_t = parts.t_share > _SMALLEST_SHARE * float(xp.finfo(parts.t_share.dtype).smallest_normal)
    steep = -gain / xp.where(has_t, parts.t_share, 1.0)
    flat = xp.where(gain > 0, xp.full_like(gain, -xp.inf), xp.inf)
    order = xp.argsort(xp.where(is_k, xp.inf, xp.where(has_t, steep, flat)), axis=-1)
    gain, t, t_share = (
        xp.take_along_axis(x, order, axis=-1) for x in (gain, parts.t, parts.t_share)
    )
    inside = xp.cumulative_sum(t_share, axis=-1) * one_minus_exp_ratio(
        xp.cumulative_sum(t, axis=-1)
    )
    value = xp.cumulative_sum(gain, axis=-1) + xp.exp(-_sum_after(t)) * inside
    return xp.clip(xp.max(value, axis=-1), min=0.0)


def e_admissible_classes(parts: Shares, logits: Array, threshold: Array, tolerance: Array) -> Array:
    r"""Mark the E-admissible classes under 0-1 loss, boolean (..., K).

    If k is at least as plausible as an E-admissible class, k is E-admissible too. So a binary
    search along the order of the logits finds the least plausible one.

    Parameters
    ----------
    parts : Shares
    logits : array of shape (..., K)
        They order the classes as the plausibilities do, and they do not saturate.
    threshold : array of shape (..., K)
        λ of each class: its plausibility, divided by the reliability of discounted evidence.
    tolerance : array of shape (...)
        Excess up to this size counts as rounding error.

    Returns
    -------
    boolean array of shape (..., K)
    """
    xp = array_namespace(logits)
    order = xp.argsort(logits, axis=-1, descending=True)
    low = xp.zeros_like(order[..., :1])
    high = low + (logits.shape[-1] - 1)
    for _ in range((logits.shape[-1] - 1).bit_length()):
        middle = (low + high + 1) // 2
        position = xp.take_along_axis(order, middle, axis=-1)
        asked = xp.take_along_axis(threshold, position, axis=-1)
        holds = (excess_belief(parts, position, asked) <= tolerance)[..., None]
        low = xp.where(holds, middle, low)
        high = xp.where(holds | (low >= high), high, middle - 1)
        high = xp.maximum(low, high)
    last = xp.take_along_axis(order, low, axis=-1)
    return logits >= xp.take_along_axis(logits, last, axis=-1)
