"""The mass function: a body of evidence about which label of a frame is true."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from shafer._typing import FloatArray, Label
from shafer.belief import construction, discounting, probabilities, structure, transforms
from shafer.belief.frame import Frame, Subset
from shafer.belief.products import condition, split_off_conflict
from shafer.belief.weights import mass_from_weights, weights_from_mass


@final
@dataclass(frozen=True, eq=False, repr=False)
class MassFunction:
    r"""A mass function :math:`m : 2^\Theta \to [0, 1]` with :math:`\sum_A m(A) = 1`.

    Mass on the empty set is allowed: it is the conflict after the conjunctive rule. Objects never
    change; every method returns a new one.

    Parameters
    ----------
    frame : Frame
        The labels.
    masses : array-like of shape (2**K,)
        Masses by bitmask, label k at bit k. Kept as a read-only float64 array.

    See Also
    --------
    Frame : The labels that masses are about.
    dempster : Combine several mass functions.
    shafer.Evidence : Mass functions of many rows in closed form, for any number of classes.

    Examples
    --------
    >>> frame = Frame(["cat", "dog", "owl"])
    >>> m = MassFunction.from_dict({"cat": 0.5, ("cat", "dog"): 0.3, tuple(frame): 0.2}, frame)
    >>> m
    MassFunction({cat}: 0.5, {cat, dog}: 0.3, Θ: 0.2)
    >>> m.mass_of("cat"), m.belief_of(["cat", "dog"]), m.plausibility_of("dog")
    (0.5, 0.8, 0.5)
    >>> m.commonality_of(["cat", "dog"])
    0.5
    >>> m.contour.round(4).tolist()
    [1.0, 0.5, 0.2]
    >>> m.probability.round(4).tolist()
    [0.5882, 0.2941, 0.1176]
    >>> m.pignistic.round(4).tolist()
    [0.7167, 0.2167, 0.0667]
    >>> m.is_consonant, m.is_separable, m.is_dogmatic
    (True, True, False)
    """

    frame: Frame
    masses: FloatArray

    def __post_init__(self) -> None:
        checked = construction.checked_masses(self.masses, self.frame)
        object.__setattr__(self, "masses", _read_only(checked))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MassFunction):
            return NotImplemented
        return self.frame == other.frame and np.array_equal(self.masses, other.masses)

    def __hash__(self) -> int:
        return hash((self.frame, self.masses.tobytes()))

    def __repr__(self) -> str:
        return f"MassFunction({construction.listing(self.masses, self.frame)})"

    @classmethod
    def from_dict(cls, masses: Mapping[Any, float], frame: Frame) -> MassFunction:
        """Build from a mapping of subsets to masses; subsets that are left out have mass 0.

        Parameters
        ----------
        masses : mapping from subset to float
            A subset is a label or a tuple of labels. The masses must sum to 1.
        frame : Frame
            The labels.

        Returns
        -------
        MassFunction

        Examples
        --------
        >>> MassFunction.from_dict({"a": 0.3, ("a", "b"): 0.7}, Frame(["a", "b"]))
        MassFunction({a}: 0.3, Θ: 0.7)
        """
        return cls(frame, construction.array_from_mapping(masses, frame, "masses"))

    @classmethod
    def from_array(cls, masses: ArrayLike, frame: Frame) -> MassFunction:
        """Build from the 2**K masses in the order of the bitmasks.

        Parameters
        ----------
        masses : array-like of shape (2**K,)
            They must sum to 1.
        frame : Frame
            The labels.

        Returns
        -------
        MassFunction

        Examples
        --------
        >>> MassFunction.from_array([0, 0.3, 0, 0.7], Frame(["a", "b"]))
        MassFunction({a}: 0.3, Θ: 0.7)
        """
        return cls(frame, np.asarray(masses))

    @classmethod
    def from_weights(
        cls,
        weights: Mapping[Any, float] | ArrayLike,
        frame: Frame,
        *,
        normalise: bool = True,
    ) -> MassFunction:
        r"""Build :math:`\bigoplus_A A^{w(A)}` from weights of evidence w (Denœux 2019, §2.1).

        Parameters
        ----------
        weights : mapping of subset to float, or array-like of shape (2**K,)
            :math:`w = -\ln(1 - s)`; ``inf`` is certainty, and negative weights are accepted if a
            mass function has them.
        frame : Frame
            The labels.
        normalise : bool, default=True
            Whether conflict is normalised away (Dempster's rule) or stays on the empty set. If
            True, a weight of the empty set has no effect.

        Returns
        -------
        MassFunction

        Examples
        --------
        >>> MassFunction.from_weights({"a": 1.0, "b": 2.0}, Frame(["a", "b"]))
        MassFunction({a}: 0.1887, {b}: 0.7015, Θ: 0.1098)
        """
        if isinstance(weights, Mapping):
            weights = construction.array_from_mapping(weights, frame, "weights")
        construction.check_length(np.asarray(weights), frame, "weights")
        return cls(frame, mass_from_weights(weights, normalise=normalise))

    @classmethod
    def simple(
        cls,
        subset: Subset,
        frame: Frame,
        *,
        weight: float | None = None,
        support: float | None = None,
    ) -> MassFunction:
        r"""Build :math:`m(A) = s`, :math:`m(\Theta) = 1 - s` from w or s, :math:`w = -\ln(1 - s)`.

        Parameters
        ----------
        subset : label or iterable of labels
            The set A that the evidence supports.
        frame : Frame
            The labels.
        weight : float, optional
            The weight of evidence w. Give this or ``support``.
        support : float, optional
            The mass s of the subset, from 0 to 1.

        Returns
        -------
        MassFunction

        Examples
        --------
        >>> MassFunction.simple("a", Frame(["a", "b"]), support=0.3)
        MassFunction({a}: 0.3, Θ: 0.7)
        """
        return cls(frame, construction.simple_masses(subset, frame, weight, support))

    @classmethod
    def vacuous(cls, frame: Frame) -> MassFunction:
        """Build complete ignorance: all mass on the frame.

        Parameters
        ----------
        frame : Frame
            The labels.

        Returns
        -------
        MassFunction

        Examples
        --------
        >>> MassFunction.vacuous(Frame(["a", "b"]))
        MassFunction(Θ: 1)
        """
        return cls.categorical(frame.labels, frame)

    @classmethod
    def categorical(cls, subset: Subset, frame: Frame) -> MassFunction:
        """Build certainty that the true label is in a subset.

        Parameters
        ----------
        subset : label or iterable of labels
            The set that holds the true label.
        frame : Frame
            The labels.

        Returns
        -------
        MassFunction
            All mass is on the subset.

        Examples
        --------
        >>> MassFunction.categorical("a", Frame(["a", "b"]))
        MassFunction({a}: 1)
        """
        masses = np.zeros(frame.n_subsets)
        masses[frame.subset(subset)] = 1.0
        return cls(frame, masses)

    @classmethod
    def bayesian(cls, probabilities: Mapping[Any, float] | ArrayLike, frame: Frame) -> MassFunction:
        """Build from a probability: one per label, in the order of the frame or by label.

        Parameters
        ----------
        probabilities : array-like of shape (K,), or mapping from label to float
            They must sum to 1.
        frame : Frame
            The labels.

        Returns
        -------
        MassFunction
            All mass is on single labels.

        Examples
        --------
        >>> MassFunction.bayesian([0.25, 0.75], Frame(["a", "b"]))
        MassFunction({a}: 0.25, {b}: 0.75)
        """
        return cls(frame, construction.bayesian_masses(probabilities, frame))

    def mass_of(self, subset: Subset) -> float:
        r"""Return :math:`m(A)`, the evidence for A that does not support any smaller set.

        Parameters
        ----------
        subset : label or iterable of labels
            The set A.

        Returns
        -------
        float
            From 0 to 1.
        """
        return float(self.masses[self.frame.subset(subset)])

    def belief_of(self, subset: Subset) -> float:
        r"""Return :math:`Bel(A)`, the mass of the nonempty subsets of A.

        Parameters
        ----------
        subset : label or iterable of labels
            The set A.

        Returns
        -------
        float
            From 0 to 1.
        """
        return float(self.belief[self.frame.subset(subset)])

    def plausibility_of(self, subset: Subset) -> float:
        r"""Return :math:`Pl(A)`, the mass of the sets that meet A.

        Parameters
        ----------
        subset : label or iterable of labels
            The set A.

        Returns
        -------
        float
            From 0 to 1; at least the belief.
        """
        return float(self.plausibility[self.frame.subset(subset)])

    def commonality_of(self, subset: Subset) -> float:
        r"""Return :math:`Q(A)`, the mass of the sets that contain A.

        Parameters
        ----------
        subset : label or iterable of labels
            The set A.

        Returns
        -------
        float
            From 0 to 1.
        """
        return float(self.commonality[self.frame.subset(subset)])

    @property
    def focal_sets(self) -> dict[frozenset[Label], float]:
        """The subsets with positive mass, with their masses, in the order of the bitmasks."""
        return {
            frozenset(self.frame.labels_in(int(mask))): float(self.masses[mask])
            for mask in structure.focal_masks(self.masses)
        }

    @cached_property
    def belief(self) -> FloatArray:
        r"""Belief of every subset; that of the frame is :math:`1 - m(\emptyset)`."""
        return _read_only(np.minimum(transforms.belief_from_mass(self.masses), 1.0))

    @cached_property
    def implicability(self) -> FloatArray:
        r"""Belief plus :math:`m(\emptyset)`, for every subset."""
        return _read_only(np.minimum(transforms.implicability_from_mass(self.masses), 1.0))

    @cached_property
    def plausibility(self) -> FloatArray:
        """Plausibility of every subset."""
        return _read_only(np.minimum(transforms.plausibility_from_mass(self.masses), 1.0))

    @cached_property
    def commonality(self) -> FloatArray:
        """Commonality of every subset."""
        return _read_only(np.minimum(transforms.commonality_from_mass(self.masses), 1.0))

    @cached_property
    def weights(self) -> FloatArray:
        """Canonical weights of evidence, 0 for the frame; an error if dogmatic."""
        return _read_only(weights_from_mass(self.masses))

    @property
    def contour(self) -> FloatArray:
        """Plausibility of each label, of shape (K,)."""
        return np.minimum(probabilities.contour(self.masses), 1.0)

    @property
    def probability(self) -> FloatArray:
        """The plausibility transform: the contour, normalised to sum to 1."""
        return probabilities.plausibility_transform(self.masses)

    @property
    def pignistic(self) -> FloatArray:
        """The pignistic probability, which shares each mass equally among the labels of its set."""
        return probabilities.pignistic(self.masses)

    @property
    def is_normalised(self) -> bool:
        """Whether the empty set has no mass."""
        return not self.masses[0] > 0

    @property
    def is_vacuous(self) -> bool:
        """Whether all mass is on the frame."""
        return structure.is_vacuous(self.masses)

    @property
    def is_dogmatic(self) -> bool:
        """Whether the frame has no mass."""
        return not self.masses[-1] > 0

    @property
    def is_bayesian(self) -> bool:
        """Whether all focal sets are single labels."""
        return structure.is_bayesian(self.masses)

    @property
    def is_simple(self) -> bool:
        """Whether at most one nonempty set besides the frame is focal."""
        return structure.is_simple(self.masses)

    @property
    def is_separable(self) -> bool:
        """Whether it is, once normalised, a Dempster sum of simple mass functions."""
        return structure.is_separable(self.masses)

    @property
    def is_consonant(self) -> bool:
        """Whether the focal sets are nested."""
        return structure.is_consonant(self.masses)

    def is_close(
        self, other: MassFunction, *, relative: float = 1e-9, absolute: float = 1e-12
    ) -> bool:
        """Return True if two mass functions on the same frame agree up to rounding.

        Parameters
        ----------
        other : MassFunction
            On the same frame.
        relative, absolute : float
            Two masses agree if they differ by at most either tolerance.

        Returns
        -------
        bool

        Examples
        --------
        >>> frame = Frame(["a", "b"])
        >>> third = MassFunction.simple("a", frame, support=1 / 3)
        >>> third.is_close(MassFunction.simple("a", frame, weight=-np.log(2 / 3)))
        True
        """
        return self.frame == other.frame and np.allclose(
            self.masses, other.masses, rtol=relative, atol=absolute
        )

    def normalised(self) -> MassFunction:
        r"""Return :math:`m(A) / (1 - m(\emptyset))` for the nonempty A.

        Returns
        -------
        MassFunction
            The empty set has mass 0.

        Raises
        ------
        TotalConflictError
            If all mass is on the empty set.

        Examples
        --------
        >>> MassFunction.from_array([0.5, 0.25, 0, 0.25], Frame(["a", "b"])).normalised()
        MassFunction({a}: 0.5, Θ: 0.5)
        """
        return MassFunction(self.frame, split_off_conflict(self.masses)[0])

    def conditioned_on(self, subset: Subset) -> MassFunction:
        r"""Return :math:`m(\cdot \mid A)`: Dempster's combination with the certainty of A.

        Parameters
        ----------
        subset : label or iterable of labels
            The set A that is known to hold the true label.

        Returns
        -------
        MassFunction
            Normalised.

        Raises
        ------
        TotalConflictError
            If A has no plausibility.

        Examples
        --------
        >>> m = MassFunction.bayesian([0.25, 0.25, 0.5], Frame(["a", "b", "c"]))
        >>> m.conditioned_on(["a", "b"])
        MassFunction({a}: 0.5, {b}: 0.5)
        """
        moved = condition(self.masses, self.frame.subset(subset))
        return MassFunction(self.frame, split_off_conflict(moved)[0])

    def discounted(self, rate: float) -> MassFunction:
        r"""Return :math:`(1 - \alpha) m`, with the rest moved to the frame (Shafer 1976, p. 252).

        Parameters
        ----------
        rate : float
            The probability α that the source is unreliable.

        Returns
        -------
        MassFunction

        Examples
        --------
        >>> MassFunction.categorical("a", Frame(["a", "b"])).discounted(0.25)
        MassFunction({a}: 0.75, Θ: 0.25)
        """
        return MassFunction(self.frame, discounting.discount(self.masses, rate))

    def contextually_discounted(self, rates: Mapping[Any, float] | ArrayLike) -> MassFunction:
        """Discount at a rate that depends on the true label (Mercier, Quost and Denœux 2008).

        Parameters
        ----------
        rates : mapping of subset to float, or array-like of shape (K,)
            Probability that the source is unreliable if the true label is in the subset, for
            disjoint subsets, or for each label. For labels left out the source is reliable.

        Returns
        -------
        MassFunction

        Examples
        --------
        >>> m = MassFunction.categorical("a", Frame(["a", "b", "c"]))
        >>> m.contextually_discounted({"b": 0.25})
        MassFunction({a}: 0.75, {a, b}: 0.25)
        """
        contexts = construction.rates_by_mask(rates, self.frame)
        return MassFunction(self.frame, discounting.contextual_discount(self.masses, contexts))


def _read_only(array: FloatArray) -> FloatArray:
    array.flags.writeable = False
    return array
