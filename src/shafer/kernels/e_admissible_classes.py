r"""E-admissible classes: those that some compatible probability makes most probable.

Class k is E-admissible under 0-1 loss if and only if :math:`Bel(B) \le |B|\, pl_k` for every set B
without k: even if k gets all the probability it can, Bel(B) must be spread over B. For a fixed
threshold, :math:`Bel(B) - \lambda |B|` is a sum over B plus a convex function of
:math:`T_B = \sum_B -\ln v`. At the best set, the convex function lies above its tangent, and the
tangent is a sum over B. So the best set is one of the K + 1 sets that come first in one order of
the classes, and 2^K sets need not be tried. Proofs: docs/background/decision_rules.md.
"""

from __future__ import annotations

from array_api_compat import array_namespace

from shafer._typing import Array
from shafer.kernels.shares import Shares, one_minus_exp_ratio

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
