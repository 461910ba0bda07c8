r"""Products of mass arrays over the set lattice, and normalisation: what the rules are made of.

No function here subtracts, so every mass keeps its relative accuracy, however small. The usual
route, multiplying commonalities and inverting, is faster for large frames but leaves an absolute
error near 1e-16, which is fatal to small masses.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from shafer._typing import FloatArray
from shafer.belief._subsets import label_count
from shafer.errors import TotalConflictError

_BLOCK_LABELS = 11  # one block expands to 3**11 products, about 3 MB in extended precision


def intersection_product(first: FloatArray, second: FloatArray) -> FloatArray:
    r"""Return :math:`c(A) = \sum_{B \cap C = A} a(B)\, b(C)` in :math:`O(3^K)` operations.

    Split by one label into (without, with) halves, the product reads
    :math:`c_0 = a_0 (b_0 + b_1) + a_1 b_0` and :math:`c_1 = a_1 b_1`: three smaller products and
    no subtraction. Small frames do all labels at once, large ones recurse first.

    Examples
    --------
    >>> a, b = np.array([0, 0.5, 0, 0.5]), np.array([0, 0, 0.5, 0.5])
    >>> intersection_product(a, b).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    n_labels = label_count(first)
    if n_labels <= _BLOCK_LABELS:
        return _intersection_block(first.reshape((2,) * n_labels), second.reshape((2,) * n_labels))
    (a0, a1), (b0, b1) = first.reshape(2, -1), second.reshape(2, -1)
    without = intersection_product(a0, b0 + b1) + intersection_product(a1, b0)
    return np.concatenate((without, intersection_product(a1, b1)))


def union_product(first: FloatArray, second: FloatArray) -> FloatArray:
    r"""Return :math:`c(A) = \sum_{B \cup C = A} a(B)\, b(C)`, by De Morgan's law.

    Examples
    --------
    >>> a, b = np.array([0, 0.5, 0, 0.5]), np.array([0, 0, 0.5, 0.5])
    >>> union_product(a, b).tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    return intersection_product(first[::-1], second[::-1])[::-1]


def condition(masses: FloatArray, mask: int) -> FloatArray:
    r"""Return the masses moved from each B to :math:`B \cap A`, not normalised.

    Examples
    --------
    >>> condition(np.array([0, 0.5, 0.25, 0.25]), 0b01).tolist()
    [0.25, 0.75, 0.0, 0.0]
    """
    moved = np.zeros_like(masses)
    np.add.at(moved, np.arange(masses.size) & mask, masses)
    return moved


def split_off_conflict(masses: FloatArray) -> tuple[FloatArray, float]:
    r"""Return the normalised masses and the weight of conflict :math:`-\ln(1 - \kappa)`.

    With :math:`\kappa = m(\emptyset)`, the weight is :math:`\ln(1 + m(\emptyset) / \sum_{A \neq
    \emptyset} m(A))`, which neither cancels for weak conflict nor saturates for strong conflict.

    Raises
    ------
    TotalConflictError
        If no mass at all is left outside the empty set.

    Examples
    --------
    >>> masses, weight = split_off_conflict(np.array([0.5, 0.25, 0, 0.25]))
    >>> masses.tolist(), round(weight, 4)
    ([0.0, 0.5, 0.0, 0.5], 0.6931)
    """
    conflict, rest = masses[0], masses[1:].sum()
    if not rest > 0:
        raise TotalConflictError(
            "the evidence contradicts itself totally (κ = 1): all mass is on the empty set and "
            "nothing is left to normalise. Discount the sources first, or pool them by yager or "
            "dubois_prade"
        )
    normalised = masses / rest
    normalised[0] = 0.0
    if conflict < rest:
        return normalised, float(np.log1p(conflict / rest))
    return normalised, float(np.log(conflict + rest) - np.log(rest))


def orthogonal_sum(sources: Iterable[FloatArray]) -> tuple[FloatArray, float]:
    r"""Return Dempster's combination and the total weight of conflict :math:`-\ln(1 - \kappa)`.

    The masses are normalised after every source, so that many sources cannot underflow; the
    weights of conflict of the steps add up, because the factors :math:`1 - \kappa` multiply.

    Examples
    --------
    >>> a, b = np.array([0, 0.5, 0, 0.5]), np.array([0, 0, 0.5, 0.5])
    >>> masses, weight = orthogonal_sum([a, b])
    >>> [round(float(m), 4) for m in masses], round(weight, 4)
    ([0.0, 0.3333, 0.3333, 0.3333], 0.2877)
    """
    pooled: FloatArray | None = None
    total_weight = 0.0
    for position, source in enumerate(sources, start=1):
        masses = source if pooled is None else intersection_product(pooled, source)
        try:
            pooled, weight = split_off_conflict(masses)
        except TotalConflictError:
            raise TotalConflictError(_contradiction(position)) from None
        total_weight += weight
    if pooled is None:
        raise ValueError("sources must hold at least one array; got none")
    return pooled, total_weight


def _contradiction(position: int) -> str:
    what = "all its mass is on ∅" if position == 1 else "it agrees with none of those before it"
    return (
        f"the sources contradict each other totally (κ = 1) at source {position}: {what}. "
        "Dempster's rule is undefined then. Use yager or dubois_prade, which keep the conflict "
        "as ignorance, or discount the sources first (MassFunction.discounted)"
    )


def _intersection_block(a: FloatArray, b: FloatArray) -> FloatArray:
    """Multiply arrays of shape (2,) * K: each axis grows to 3 products, then folds back to 2."""
    for axis in range(a.ndim):
        a0, a1 = np.moveaxis(a, axis, 0)
        b0, b1 = np.moveaxis(b, axis, 0)
        a = np.stack((a0, a1, a1), axis=axis)
        b = np.stack((b0 + b1, b0, b1), axis=axis)
    products = a * b
    for axis in range(products.ndim):
        p0, p1, p2 = np.moveaxis(products, axis, 0)
        products = np.stack((p0 + p1, p2), axis=axis)
    return products.reshape(-1)
