r"""Lower and upper expected loss of acts, by sorting instead of a sum over 2^K sets.

The worst loss over a set is the first of its members in descending order of loss. The chance that
member r is the first one present is :math:`u_{(r)} \prod_{q<r} v_{(q)}`, so

.. math:: R^* = \Big(\sum_k s_k L_k + \sum_r L_{(r)} u_{(r)} \prod_{q<r} v_{(q)}\Big) / D,

and the lower risk is the same in ascending order.
"""

from __future__ import annotations

from array_api_compat import array_namespace

from shafer._typing import Array
from shafer.kernels.closed_forms import LogTerms


def upper_risk(terms: LogTerms, loss: Array) -> Array:
    """Return the upper risk of each act, (..., acts), for ``loss`` of shape (acts, K)."""
    xp = array_namespace(terms.logits)
    log_u = -terms.weights_against - terms.shift - terms.log_d  # relative to D
    share_of_s = xp.exp(terms.log_s - terms.log_d)
    risks = []
    for act in range(loss.shape[0]):
        order = xp.argsort(loss[act, :], descending=True)
        ordered_loss = xp.take(loss[act, :], order)
        neg_log_v = xp.take(terms.neg_log_v, order, axis=-1)[..., :-1]
        log_none_before = -xp.cumulative_sum(neg_log_v, axis=-1, include_initial=True)
        first = xp.exp(xp.take(log_u, order, axis=-1) + log_none_before)
        risks.append(
            xp.sum(share_of_s * loss[act, :], axis=-1) + xp.sum(first * ordered_loss, axis=-1)
        )
    return xp.stack(risks, axis=-1)


def lower_risk(terms: LogTerms, loss: Array) -> Array:
    """Return the lower risk of each act: minus the upper risk of minus the loss."""
    return -upper_risk(terms, -loss)
