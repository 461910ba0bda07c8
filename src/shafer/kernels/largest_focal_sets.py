r"""The largest focal sets of one row, without enumerating all 2^K sets.

For two classes or more, :math:`\ln m(A)` is a sum of one choice per class: in (:math:`\ln u_k`) or
out (:math:`\ln v_k`). The best set takes the better choice everywhere; every other set pays
:math:`|\ln u_k - \ln v_k|` for each choice it flips. So a
best-first search over flips, cheapest first, finds the sets in order of mass. Singletons have
another formula and are merged in.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from shafer._typing import Array, BoolArray, FloatArray
from shafer.kernels.closed_forms import log_belief
from shafer.kernels.log_terms import LogTerms

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
