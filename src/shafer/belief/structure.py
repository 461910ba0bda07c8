"""Special kinds of mass functions, told from the array of masses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer.belief._subsets import cardinalities, label_count
from shafer.belief.weights import weights_from_mass


def focal_masks(masses: FloatArray) -> NDArray[np.intp]:
    """Return the bitmasks of the focal sets: the subsets with positive mass.

    Examples
    --------
    >>> focal_masks(np.array([0, 0.5, 0, 0.5])).tolist()
    [1, 3]
    """
    return np.flatnonzero(masses > 0)


def core(masses: FloatArray) -> int:
    """Return the bitmask of the union of the focal sets.

    Examples
    --------
    >>> core(np.array([0, 0.5, 0.5, 0]))
    3
    """
    return int(np.bitwise_or.reduce(focal_masks(masses)))


def is_vacuous(masses: FloatArray) -> bool:
    """Return True if the whole frame is the only focal set.

    Examples
    --------
    >>> is_vacuous(np.array([0, 0, 0, 1.0]))
    True
    """
    return not np.any(masses[:-1] > 0)


def is_simple(masses: FloatArray) -> bool:
    """Return True if there is at most one focal set besides the frame, and it is not empty.

    Examples
    --------
    >>> is_simple(np.array([0, 0.5, 0, 0.5]))
    True
    """
    return not masses[0] > 0 and focal_masks(masses[:-1]).size <= 1


def is_bayesian(masses: FloatArray) -> bool:
    """Return True if all focal sets are single labels: the mass function is a probability.

    Examples
    --------
    >>> is_bayesian(np.array([0, 0.5, 0.5, 0]))
    True
    """
    sizes = cardinalities(label_count(masses))[focal_masks(masses)]
    return bool(np.all(sizes == 1))


def is_consonant(masses: FloatArray) -> bool:
    """Return True if the focal sets are nested, as those of a possibility distribution.

    The empty set is inside every set, so mass on it does not matter here.

    Examples
    --------
    >>> is_consonant(np.array([0, 0.5, 0, 0.5])), is_consonant(np.array([0, 0.5, 0.5, 0]))
    (True, False)
    """
    focal = focal_masks(masses)
    by_size = focal[np.argsort(cardinalities(label_count(masses))[focal], kind="stable")]
    return bool(np.all(by_size[:-1] & by_size[1:] == by_size[:-1]))


def is_separable(masses: FloatArray, tolerance: float = 1e-9) -> bool:
    r"""Return True if the (normalised) mass function is a Dempster sum of simple ones.

    With :math:`m(\Theta) > 0` this holds if no weight of a nonempty set is negative. Infinite
    weights are allowed: they confine the mass function to its core, the union of its focal sets,
    so the same question is asked inside the core (Shafer 1976, ch. 4).

    Examples
    --------
    >>> is_separable(np.array([0, 0.5, 0.25, 0.25])), is_separable(np.array([0, 0.5, 0.5, 0]))
    (True, False)
    """
    whole = core(masses)
    index = np.arange(masses.size)
    inside = masses[index & whole == index]  # the masses on the core, as a frame of its own
    if whole == 0 or not inside[-1] > 0:
        return False
    return bool(np.all(weights_from_mass(inside)[1:] >= -tolerance))
