r"""Belief, plausibility, commonality and mass of any set of classes; and all 2^K masses.

A set is given by the positions of its classes (``inside``) and of the others (``outside``).
``inside`` must not be empty: callers handle the empty set, whose values are trivial.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from shafer._kernels.forms import LogTerms, log_belief, log_one_minus_product
from shafer._kernels.logspace import logsumexp
from shafer._typing import Array, BoolArray, FloatArray


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


# The largest focal sets of one row, without enumerating all 2^K sets.

_Flips = tuple["_Flips", int] | None  # a linked list: adding a flip copies nothing


def _cheapest_flips(
    cost: FloatArray, grows: NDArray[np.int_]
) -> Iterator[tuple[float, int, _Flips]]:
    """Yield (cost, change of size, flips) of every subset of flips in ascending order of cost."""
    yield 0.0, 0, None
    if not len(cost):
        return
    heap: list[tuple[float, int, int, int, _Flips]] = [(float(cost[0]), 0, 0, 0, None)]
    count = 0
    while heap:
        total, _, last, size, before = heapq.heappop(heap)
        yield total, size + int(grows[last]), (before, last)
        if last + 1 < len(cost):
            step = float(cost[last + 1])
            added = (total + step, count + 1, last + 1, size + int(grows[last]), (before, last))
            moved = (total - float(cost[last]) + step, count + 2, last + 1, size, before)
            count += 2
            heapq.heappush(heap, added)
            heapq.heappush(heap, moved)


def _apply(best: BoolArray, order: NDArray[np.int_], flips: _Flips) -> tuple[int, ...]:
    inside = best.copy()
    while flips is not None:
        flips, position = flips
        inside[order[position]] ^= True
    return tuple(np.flatnonzero(inside).tolist())


def focal_logarithms(terms: LogTerms) -> tuple[Array, Array, Array, Array]:
    r"""Return ln u, ln v, the log-masses of the singletons, (..., K), and −ln D, (..., 1).

    Masses that are exactly zero are −∞, so they differ from very small ones. A class without
    evidence against it is in every focal set of two or more classes. Then any other singleton has
    mass only if there is evidence for it.

    Parameters
    ----------
    terms : LogTerms
        From :func:`log_terms`.

    Returns
    -------
    log_u, log_v, log_singleton : arrays of shape (..., K)
    log_scale : array of shape (..., 1)
    """
    xp = array_namespace(terms.logits)
    undenied = terms.weights_against == 0
    how_many = xp.count_nonzero(undenied, axis=-1, keepdims=True)
    others_undenied = how_many > xp.astype(undenied, how_many.dtype)
    has_mass = (terms.weights_for > 0) | ~others_undenied
    return (
        -terms.weights_against,
        xp.where(undenied, -xp.inf, -terms.neg_log_v),
        xp.where(has_mass, log_belief(terms), -xp.inf),
        -terms.log_d - terms.shift,
    )


def largest_focal_sets(
    log_u: FloatArray, log_v: FloatArray, log_singleton: FloatArray, log_scale: float, top: int
) -> list[tuple[float, tuple[int, ...]]]:
    r"""Return (ln m, class positions) of the ``top`` largest focal sets, the largest first.

    Parameters
    ----------
    log_u, log_v : arrays of shape (K,)
        Logarithms of :math:`e^{-w^-}` and :math:`1 - e^{-w^-}`.
    log_singleton : array of shape (K,)
        Logarithms of the masses of the singletons.
    log_scale : float
        :math:`-\ln D`.
    top : int
        How many sets to return at most.

    Returns
    -------
    list of (float, tuple of int)
    """
    best = log_u >= log_v
    cost = np.abs(log_u - log_v)
    order = np.argsort(cost, kind="stable")
    order = order[np.isfinite(cost[order])]
    log_best = float(np.where(best, log_u, log_v).sum()) + log_scale
    found: list[tuple[float, tuple[int, ...]]] = [
        (float(log_singleton[k]), (int(k),))
        for k in np.argsort(-log_singleton, kind="stable")[:top]
        if log_singleton[k] > -np.inf
    ]
    wanted = top
    for total, change, flips in _cheapest_flips(cost[order], np.where(best[order], -1, 1)):
        if wanted == 0:
            break
        if int(best.sum()) + change > 1:
            found.append((min(log_best - total, 0.0), _apply(best, order, flips)))
            wanted -= 1
    return sorted(found, key=lambda entry: (-entry[0], len(entry[1]), entry[1]))[:top]
