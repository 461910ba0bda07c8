r"""The terms of the closed forms divided by D, as ordinary numbers instead of logarithms.

Every term below lies in [0, 1] or close to it, whatever the weights are, so sums and products of
them need no logarithms: :math:`u_k \le 1 - P \le D`, and :math:`-\ln v_k \le 1.4\, u_k` wherever D
is small. Two values are enough for any set A, with :math:`T_A = \sum_A -\ln v`:

.. math:: Pl(A) = \sum_A s/D + (1 - e^{-T_A}) / D, \qquad
          Bel(A) = \sum_A s/D + e^{-T_{A^c}} (1 - e^{-T_A}) / D.
"""

from __future__ import annotations

from typing import NamedTuple

from array_api_compat import array_namespace

from shafer._typing import Array
from shafer.kernels.log_terms import LogTerms

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
