r"""Canonical weights of evidence: a mass function as a sum of simple ones.

A simple mass function :math:`A^w` puts :math:`1 - e^{-w}` on A and :math:`e^{-w}` on the frame;
the conjunctive rule adds weights. Every mass function with :math:`m(\Theta) > 0` is a conjunctive
sum of such terms over all :math:`A \subset \Theta` if negative weights are allowed (Smets 1995); it
is *separable* if the weights of the nonempty A are all non-negative.

Sign convention: that of Shafer (1976) and Denœux (2019), where weights add. Denœux (2008) calls
:math:`e^{-w}` the weight, so his minimum is a maximum here.

The sums run in extended precision where the platform has it: that widens the range of weights
that do not underflow from about 700 to about 11 000.

References
----------
P. Smets, "The canonical decomposition of a weighted belief", IJCAI 1995, 1896-1901.

T. Denœux, "Conjunctive and disjunctive combination of belief functions induced by nondistinct
bodies of evidence", Artificial Intelligence 172 (2008) 234-264.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from shafer._typing import FloatArray
from shafer.belief._subsets import lattice_array
from shafer.belief.products import split_off_conflict
from shafer.belief.transforms import (
    commonality_from_mass,
    plausibility_from_mass,
    undo_sum_over_supersets,
)

_NEGATIVE_TOLERANCE = 1e-9


def weights_from_mass(masses: ArrayLike) -> FloatArray:
    r"""Return the canonical weights :math:`w(A) = \sum_{B \supseteq A} (-1)^{|B| - |A|} \ln Q(B)`.

    Defined for strict subsets A; the entry of the whole frame, whose weight would change nothing,
    is 0. Normalising a mass function changes only the weight of the empty set.

    Raises
    ------
    ValueError
        If the mass function is dogmatic, :math:`m(\Theta) = 0`: its weights are not defined.

    Examples
    --------
    >>> weights_from_mass([0, 1 - np.exp(-2), 0, np.exp(-2)]).round(12).tolist()
    [0.0, 2.0, 0.0, 0.0]
    """
    array = lattice_array(masses).astype(np.longdouble)
    if not array[-1] > 0:
        raise ValueError(
            "A dogmatic mass function, m(Θ) = 0, has no canonical weights: some would be infinite. "
            "Discount it a little first, with MassFunction.discounted."
        )
    weights = undo_sum_over_supersets(_log_commonality(array))
    weights[-1] = 0.0
    return weights.astype(np.float64) + 0.0  # turns -0.0 into 0.0


def mass_from_weights(weights: ArrayLike, *, normalise: bool = True) -> FloatArray:
    r"""Return the masses of the conjunctive sum of :math:`A^{w(A)}` over all strict subsets A.

    Parameters
    ----------
    weights : array-like of shape (2**K,)
        Weights of evidence; ``inf`` makes A certain. Weights may be negative if the sum is still a
        mass function.
    normalise : bool, default=True
        Whether to normalise, as Dempster's rule does. The weight of the empty set then has no
        effect.

    Raises
    ------
    ValueError
        If a weight is NaN or ``-inf``, the frame has a weight, or no mass function has these
        weights.
    TotalConflictError
        If ``normalise`` and nothing but the empty set is left.

    Examples
    --------
    >>> mass_from_weights([0, np.log(2), np.log(2), 0], normalise=False).round(12).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    array = _checked_weights(weights)
    if normalise:
        array[0] = 0.0
    vacuous = np.zeros(array.size, dtype=np.longdouble)
    vacuous[-1] = 1.0
    masses = add_weights(vacuous, np.maximum(array, 0.0), normalise=normalise)
    masses = _take_back(masses, np.minimum(array, 0.0), normalise)
    return masses.astype(np.float64)


def add_weights(masses: FloatArray, weights: FloatArray, *, normalise: bool) -> FloatArray:
    r"""Return the masses after combining with :math:`A^{w(A)}` for each weight that is not 0.

    The weights are non-negative, so nothing is subtracted. Costs :math:`O(2^K)` per weight.

    Examples
    --------
    >>> vacuous = np.array([0, 0, 0, 1.0])
    >>> masses = add_weights(vacuous, np.array([0, np.log(2), 0, 0]), normalise=True)
    >>> masses.astype(float).tolist()
    [0.0, 0.5, 0.0, 0.5]
    """
    result = split_off_conflict(masses)[0] if normalise else masses
    for subset in np.flatnonzero(weights[:-1]):
        if subset == 0 and normalise:
            continue
        result = _combine_with_simple(result, int(subset), weights[subset])
        if normalise:
            result, _ = split_off_conflict(result)
    return result


def _take_back(masses: FloatArray, weights: FloatArray, normalise: bool) -> FloatArray:
    """Combine with negative weights.

    If the outcome is a mass function, so is every step on the way, which is that outcome combined
    with the evidence not yet taken back: a negative mass can be reported at once.
    """
    for subset in np.flatnonzero(weights):
        masses = _combine_with_simple(masses, int(subset), weights[subset])
        if normalise:
            masses[0] = 0.0
        if not np.all(masses >= -_NEGATIVE_TOLERANCE):  # also catches NaN, left by an overflow
            raise ValueError(
                "These weights give negative masses: the negative weights remove more evidence "
                f"than the positive ones add; the smallest weight is {weights.min():.6g}."
            )
        masses = np.maximum(masses, 0.0)
        masses = masses / masses.sum()
    return masses


def _combine_with_simple(masses: FloatArray, subset: int, weight: float) -> FloatArray:
    r"""Move the share :math:`1 - e^{-w}` of every B outside A to :math:`B \cap A`."""
    index = np.arange(masses.size)
    outside = index[index & subset != index]
    exponent = -np.longdouble(weight)
    result = masses.astype(np.longdouble)
    with np.errstate(over="ignore", invalid="ignore"):  # _take_back reports huge negative weights
        moved = -np.expm1(exponent) * result[outside]
        result[outside] *= np.exp(exponent)
        np.add.at(result, outside & subset, moved)
    return result


def _log_commonality(masses: FloatArray) -> FloatArray:
    r"""Return :math:`\ln Q`, accurate also where Q is close to 1.

    There :math:`1 - Q(A)`, the mass of sets that do not contain A, is the plausibility of A under
    the masses of the complements: a sum, not a difference.
    """
    commonality = commonality_from_mass(masses)
    doubt = plausibility_from_mass(masses[::-1])
    logs: FloatArray = np.where(doubt < 0.5, np.log1p(-np.minimum(doubt, 0.5)), np.log(commonality))
    return logs


def _checked_weights(weights: ArrayLike) -> FloatArray:
    array = lattice_array(weights, "weights")
    bad = np.isnan(array) | np.isneginf(array)
    if bad.any():
        raise ValueError(f"weights must be numbers above -inf; got {float(array[bad][0])}.")
    if array[-1] != 0:
        raise ValueError(
            "weights must be 0 on the whole frame, because it is certain already; "
            f"got {float(array[-1])}."
        )
    return array
