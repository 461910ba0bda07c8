r"""Belief, plausibility, commonality and mass of any set of classes; and all 2^K masses.

A set is given by the positions of its classes (``inside``) and of the others (``outside``).
``inside`` must not be empty: callers handle the empty set, whose values are trivial.
"""

from __future__ import annotations

from array_api_compat import array_namespace

from shafer._typing import Array
from shafer.kernels.closed_forms import log_belief
from shafer.kernels.log_terms import LogTerms, log_one_minus_product
from shafer.kernels.logspace import logsumexp


def _take(x: Array, positions: list[int]) -> Array:
    xp = array_namespace(x)
    return xp.take(x, xp.asarray(positions, dtype=xp.int64, device=x.device), axis=-1)


def _exp(terms: LogTerms, log_value: Array) -> Array:
    """Divide by D and take the exponential; ``log_value`` (..., 1) is relative to the shift."""
    xp = array_namespace(log_value)
    return xp.exp(xp.clip(log_value - terms.log_d, max=0.0))[..., 0]


def _log_one_minus_product(terms: LogTerms, positions: list[int]) -> Array:
    """Return ln(1 − Π_A v) relative to the shift, (..., 1)."""
    return log_one_minus_product(terms.shift, _take(terms.log_neg_log_v, positions))


def plausibility_of(terms: LogTerms, inside: list[int]) -> Array:
    r"""Return :math:`Pl(A) = (\sum_A s + 1 - \prod_A v) / D`.

    Parameters
    ----------
    terms : LogTerms
        From :func:`log_terms`.
    inside : list of int
        Positions of the classes in A.

    Returns
    -------
    array of shape (...)
    """
    xp = array_namespace(terms.logits)
    log_s = logsumexp(_take(terms.log_s, inside), keepdims=True)
    return _exp(terms, xp.logaddexp(log_s, _log_one_minus_product(terms, inside)))


def belief_of(terms: LogTerms, inside: list[int], outside: list[int]) -> Array:
    r"""Return :math:`Bel(A) = (\sum_A s + \prod_{A^c} v \, (1 - \prod_A v)) / D`.

    Parameters
    ----------
    terms : LogTerms
        From :func:`log_terms`.
    inside, outside : lists of int
        Positions of the classes in A, and of all others.

    Returns
    -------
    array of shape (...)
    """
    xp = array_namespace(terms.logits)
    log_s = logsumexp(_take(terms.log_s, inside), keepdims=True)
    log_rest = _log_one_minus_product(terms, inside)
    if outside:
        log_rest = log_rest - xp.sum(_take(terms.neg_log_v, outside), axis=-1, keepdims=True)
    return _exp(terms, xp.logaddexp(log_s, log_rest))


def _log_product(terms: LogTerms, inside: list[int], outside: list[int]) -> Array:
    """Return ln(Π_A u · Π_{A^c} v) relative to the shift, (..., 1)."""
    xp = array_namespace(terms.logits)
    log_in = -xp.sum(_take(terms.weights_against, inside), axis=-1, keepdims=True) - terms.shift
    if not outside:
        return log_in
    return log_in - xp.sum(_take(terms.neg_log_v, outside), axis=-1, keepdims=True)


def commonality_of(terms: LogTerms, inside: list[int]) -> Array:
    r"""Return :math:`Q(A) = \prod_A u / D` for a set of two classes or more.

    Parameters
    ----------
    terms : LogTerms
        From :func:`log_terms`.
    inside : list of int
        Positions of the classes in A.

    Returns
    -------
    array of shape (...)
    """
    return _exp(terms, _log_product(terms, inside, []))


def mass_of(terms: LogTerms, inside: list[int], outside: list[int]) -> Array:
    r"""Return :math:`m(A) = \prod_A u \prod_{A^c} v / D` for a set of two classes or more.

    Parameters
    ----------
    terms : LogTerms
        From :func:`log_terms`.
    inside, outside : lists of int
        Positions of the classes in A, and of all others.

    Returns
    -------
    array of shape (...)
    """
    return _exp(terms, _log_product(terms, inside, outside))


def all_masses(terms: LogTerms) -> Array:
    """Return the masses of all 2^K sets, (..., 2^K); class k is bit k of the column index.

    Parameters
    ----------
    terms : LogTerms
        From :func:`log_terms`.

    Returns
    -------
    array of shape (..., 2**K)
    """
    xp = array_namespace(terms.logits)
    log_mass = -terms.log_d - terms.shift
    n_classes = terms.logits.shape[-1]
    for k in range(n_classes):
        here = slice(k, k + 1)
        log_mass = xp.concat(
            [log_mass - terms.neg_log_v[..., here], log_mass - terms.weights_against[..., here]],
            axis=-1,
        )
    masses = xp.exp(xp.clip(log_mass, max=0.0))
    # The formula above is for sets of two or more. Singletons have more mass, the empty set none.
    column = xp.arange(2**n_classes, device=masses.device)
    at_most_one = xp.bitwise_and(column, column - 1) == 0
    belief = xp.exp(log_belief(terms))
    singletons = xp.zeros_like(masses)
    for k in range(n_classes):
        singletons[..., 1 << k] = belief[..., k]
    return xp.where(at_most_one, singletons, masses)
