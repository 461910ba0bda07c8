r"""Lower and upper expected loss of acts, by sorting instead of a sum over 2^K sets.

Sort the classes by loss, largest first. The worst loss over a set is that of its first member. The
chance that the r-th class is the first member is :math:`u_{(r)} \prod_{q<r} v_{(q)}`, so

.. math:: R^* = \Big(\sum_k s_k L_k + \sum_r L_{(r)} u_{(r)} \prod_{q<r} v_{(q)}\Big) / D,

and the lower risk is the same with the smallest loss first. All factors are shares in [0, 1].
"""

from __future__ import annotations

from array_api_compat import array_namespace

from shafer._typing import Array
from shafer.kernels.log_terms import LogTerms
from shafer.kernels.shares import Shares, shares


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
    total = parts.s @ loss.T
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
