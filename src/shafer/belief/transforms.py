r"""The equivalent descriptions of a mass function, by the fast Möbius transform.

Every function takes and returns an array of 2**K numbers indexed by bitmask, and costs
:math:`O(K\,2^K)`. Going from masses adds non-negative numbers only, so small values keep their
relative accuracy; coming back subtracts, so small masses are exact to about 1e-16 absolutely.

The empty set needs care. *Implicability* :math:`b(A) = \sum_{B \subseteq A} m(B)` counts it,
*belief* :math:`Bel(A) = b(A) - m(\emptyset)` does not, because it supports no label; hence
:math:`Bel(\Theta) = 1 - m(\emptyset)` and :math:`Pl(A) = 1 - b(\overline A)`. The two agree for
normalised mass functions.

References
----------
R. Kennes, "Computational aspects of the Möbius transformation of graphs", IEEE Transactions on
Systems, Man, and Cybernetics 22 (1992) 201-223.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from shafer._typing import FloatArray
from shafer.belief._subsets import label_count, lattice_array

_WITHOUT, _WITH = 0, 1  # the halves of each slice: subsets without and with the label in question


def sum_over_subsets(values: ArrayLike) -> FloatArray:
    r"""Return :math:`g(A) = \sum_{B \subseteq A} f(B)`.

    Examples
    --------
    >>> sum_over_subsets([1, 2, 3, 4]).tolist()
    [1.0, 3.0, 4.0, 10.0]
    """
    array = lattice_array(values, "values")
    for halves in _label_by_label(array):
        halves[:, _WITH] += halves[:, _WITHOUT]
    return array


def sum_over_supersets(values: ArrayLike) -> FloatArray:
    r"""Return :math:`g(A) = \sum_{B \supseteq A} f(B)`.

    Examples
    --------
    >>> sum_over_supersets([1, 2, 3, 4]).tolist()
    [10.0, 6.0, 7.0, 4.0]
    """
    array = lattice_array(values, "values")
    for halves in _label_by_label(array):
        halves[:, _WITHOUT] += halves[:, _WITH]
    return array


def undo_sum_over_subsets(sums: ArrayLike) -> FloatArray:
    r"""Return :math:`f(A) = \sum_{B \subseteq A} (-1)^{|A| - |B|} g(B)`.

    Examples
    --------
    >>> undo_sum_over_subsets([1, 3, 4, 10]).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    array = lattice_array(sums, "sums")
    for halves in _label_by_label(array):
        halves[:, _WITH] -= halves[:, _WITHOUT]
    return array


def undo_sum_over_supersets(sums: ArrayLike) -> FloatArray:
    r"""Return :math:`f(A) = \sum_{B \supseteq A} (-1)^{|B| - |A|} g(B)`.

    Examples
    --------
    >>> undo_sum_over_supersets([10, 6, 7, 4]).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    array = lattice_array(sums, "sums")
    for halves in _label_by_label(array):
        halves[:, _WITHOUT] -= halves[:, _WITH]
    return array


def implicability_from_mass(masses: ArrayLike) -> FloatArray:
    r"""Return :math:`b(A) = \sum_{B \subseteq A} m(B)`, the empty set included.

    Examples
    --------
    >>> implicability_from_mass([0.25, 0.5, 0, 0.25]).tolist()
    [0.25, 0.75, 0.25, 1.0]
    """
    return sum_over_subsets(lattice_array(masses))


def belief_from_mass(masses: ArrayLike) -> FloatArray:
    r"""Return :math:`Bel(A) = \sum_{\emptyset \neq B \subseteq A} m(B)` (Denœux 2019, §2.1).

    Examples
    --------
    >>> belief_from_mass([0.25, 0.5, 0, 0.25]).tolist()
    [0.0, 0.5, 0.0, 0.75]
    """
    array = lattice_array(masses)
    array[0] = 0.0
    return sum_over_subsets(array)


def plausibility_from_mass(masses: ArrayLike) -> FloatArray:
    r"""Return :math:`Pl(A) = \sum_{B \cap A \neq \emptyset} m(B)` (Denœux 2019, §2.1).

    The sum is computed directly. The form :math:`1 - b(\overline A)` would lose small
    plausibilities to cancellation.

    Examples
    --------
    >>> plausibility_from_mass([0.25, 0.5, 0, 0.25]).tolist()
    [0.0, 0.75, 0.25, 0.75]
    """
    missed = lattice_array(
        masses
    )  # mass of the B that do not meet A in the labels processed so far
    met = np.zeros_like(missed)
    for outside, inside in zip(_label_by_label(missed), _label_by_label(met), strict=True):
        either = inside[:, _WITHOUT] + inside[:, _WITH]
        inside[:, _WITH] = either + outside[:, _WITH]
        inside[:, _WITHOUT] = either
        both = outside[:, _WITHOUT] + outside[:, _WITH]
        outside[:, _WITH] = outside[:, _WITHOUT]
        outside[:, _WITHOUT] = both
    return met


def commonality_from_mass(masses: ArrayLike) -> FloatArray:
    r"""Return :math:`Q(A) = \sum_{B \supseteq A} m(B)` (Shafer 1976, ch. 2).

    Examples
    --------
    >>> commonality_from_mass([0.25, 0.5, 0, 0.25]).tolist()
    [1.0, 0.75, 0.25, 0.25]
    """
    return sum_over_supersets(lattice_array(masses))


def mass_from_implicability(implicability: ArrayLike) -> FloatArray:
    """Return the masses whose implicability is given.

    Examples
    --------
    >>> mass_from_implicability([0.25, 0.75, 0.25, 1]).tolist()
    [0.25, 0.5, 0.0, 0.25]
    """
    return undo_sum_over_subsets(lattice_array(implicability, "implicability"))


def mass_from_belief(belief: ArrayLike) -> FloatArray:
    r"""Return the masses whose belief is given, with :math:`m(\emptyset) = 1 - Bel(\Theta)`.

    Examples
    --------
    >>> mass_from_belief([0, 0.5, 0, 0.75]).tolist()
    [0.25, 0.5, 0.0, 0.25]
    """
    array = lattice_array(belief, "belief")
    masses = undo_sum_over_subsets(array)
    masses[0] = 1.0 - array[-1]
    return masses


def mass_from_plausibility(plausibility: ArrayLike) -> FloatArray:
    r"""Return the masses whose plausibility is given, through :math:`b(A) = 1 - Pl(\overline A)`.

    Examples
    --------
    >>> mass_from_plausibility([0, 0.75, 0.25, 0.75]).tolist()
    [0.25, 0.5, 0.0, 0.25]
    """
    array = lattice_array(plausibility, "plausibility")
    return undo_sum_over_subsets(1.0 - array[::-1])


def mass_from_commonality(commonality: ArrayLike) -> FloatArray:
    """Return the masses whose commonality is given.

    Examples
    --------
    >>> mass_from_commonality([1, 0.75, 0.25, 0.25]).tolist()
    [0.25, 0.5, 0.0, 0.25]
    """
    return undo_sum_over_supersets(lattice_array(commonality, "commonality"))


def _label_by_label(array: FloatArray) -> Iterator[FloatArray]:
    """Yield, for each label, a view in which axis 1 tells subsets without it from those with it."""
    for k in range(label_count(array)):
        yield array.reshape(-1, 2, 1 << k)
