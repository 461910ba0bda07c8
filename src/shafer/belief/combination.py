r"""Rules that combine mass functions on the same frame.

========================  =====================================================================
rule                      when
========================  =====================================================================
:func:`dempster`          reliable, independent sources; conflict is normalised away
:func:`conjunctive`       the same, with the conflict left on the empty set
:func:`cautious`          reliable sources that may share evidence: idempotent
:func:`disjunctive`       independent sources of which at least one is reliable
:func:`bold`              the same for sources that may share evidence: idempotent
:func:`yager`             conflict becomes ignorance
:func:`dubois_prade`      conflict between B and C becomes evidence for their union
========================  =====================================================================

All are commutative. All but the last two are associative; those two combine all sources at once.
The products add only non-negative terms, in extended precision if the platform has it.

References
----------
G. Shafer, *A Mathematical Theory of Evidence*, Princeton University Press, 1976.

R. R. Yager, "On the Dempster-Shafer framework and new combination rules", Information Sciences 41
(1987) 93-137.

D. Dubois, H. Prade, "Representation and combination of uncertainty with belief functions and
possibility measures", Computational Intelligence 4 (1988) 244-264.

T. Denœux, "Conjunctive and disjunctive combination of belief functions induced by nondistinct
bodies of evidence", Artificial Intelligence 172 (2008) 234-264.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from shafer._typing import FloatArray
from shafer.belief.frame import Frame
from shafer.belief.mass import MassFunction
from shafer.belief.products import intersection_product, orthogonal_sum, union_product
from shafer.belief.structure import focal_masks
from shafer.belief.weights import add_weights, weights_from_mass


def conjunctive(*masses: MassFunction) -> MassFunction:
    r"""Combine by :math:`m(A) = \sum_{B \cap C = A} m_1(B)\, m_2(C)`, not normalised.

    The mass of the empty set is the degree of conflict κ.

    Parameters
    ----------
    *masses : MassFunction
        Of independent sources, on one frame.

    Returns
    -------
    MassFunction
        Its mass of the empty set is the conflict.

    See Also
    --------
    dempster : The same, normalised.
    degree_of_conflict : The mass of the empty set alone.

    Examples
    --------
    >>> frame = Frame(["a", "b"])
    >>> a, b = (MassFunction.simple(label, frame, support=0.5) for label in frame)
    >>> conjunctive(a, b)
    MassFunction(∅: 0.25, {a}: 0.25, {b}: 0.25, Θ: 0.25)
    """
    return _reduced(masses, intersection_product)


def dempster(*masses: MassFunction) -> MassFunction:
    r"""Combine by Dempster's rule: the conjunctive rule, then division by :math:`1 - \kappa`.

    Parameters
    ----------
    *masses : MassFunction
        Of independent sources, on one frame.

    Returns
    -------
    MassFunction
        The empty set has mass 0.

    Raises
    ------
    TotalConflictError
        If the sources contradict each other totally (κ = 1).

    See Also
    --------
    conjunctive : The same without normalising.
    cautious : For sources that share evidence.
    yager : Turns conflict into ignorance.
    shafer.combine : The same for the evidence of many rows.

    Notes
    -----
    The product costs :math:`O(3^K)`. Simple mass functions of huge weight are better pooled by
    ``MassFunction.from_weights``: past a weight of 745, :math:`e^{-w}` is 0 in float64.

    Examples
    --------
    >>> frame = Frame(["a", "b"])
    >>> a, b = (MassFunction.simple(label, frame, support=0.5) for label in frame)
    >>> dempster(a, b)
    MassFunction({a}: 0.3333, {b}: 0.3333, Θ: 0.3333)
    """
    frame = common_frame(masses)
    pooled, _ = orthogonal_sum(m.masses.astype(np.longdouble) for m in masses)
    return MassFunction(frame, pooled)


def disjunctive(*masses: MassFunction) -> MassFunction:
    r"""Combine by :math:`m(A) = \sum_{B \cup C = A} m_1(B)\, m_2(C)`.

    Parameters
    ----------
    *masses : MassFunction
        Of independent sources, at least one of which is reliable.

    Returns
    -------
    MassFunction

    See Also
    --------
    conjunctive : For sources that are all reliable.
    dubois_prade : Uses the union only where sources contradict each other.

    Examples
    --------
    >>> frame = Frame(["a", "b", "c"])
    >>> a, b = (MassFunction.categorical(label, frame) for label in "ab")
    >>> disjunctive(a, b)
    MassFunction({a, b}: 1)
    """
    return _reduced(masses, union_product)


def cautious(*masses: MassFunction, normalise: bool = True) -> MassFunction:
    r"""Combine by keeping, for each subset, the largest canonical weight (Denœux 2008).

    .. math:: m_1 \wedge m_2 = \bigoplus_{\emptyset \neq A \subset \Theta} A^{\max(w_1(A), w_2(A))}

    (the minimum in Denœux's 2008 notation, whose weight is :math:`e^{-w}`). Evidence that two
    sources share is counted once.

    Parameters
    ----------
    *masses : MassFunction
        Nondogmatic mass functions, :math:`m(\Theta) > 0`.
    normalise : bool, default=True
        If True, the normalised rule above, and the result has no mass on the empty set. If False,
        the original rule: the maximum is also taken for the weight of the empty set, and the sum
        is conjunctive. Only then is the rule idempotent for mass functions with
        :math:`m(\emptyset) > 0`.

    Returns
    -------
    MassFunction

    Raises
    ------
    ValueError
        If a mass function is dogmatic.

    See Also
    --------
    dempster : For independent sources, whose weights add up.
    bold : The dual rule.

    Examples
    --------
    >>> frame = Frame(["a", "b"])
    >>> weak, strong = (MassFunction.simple("a", frame, support=s) for s in (0.5, 0.75))
    >>> cautious(weak, strong)
    MassFunction({a}: 0.75, Θ: 0.25)
    """
    frame = common_frame(masses)
    return MassFunction(frame, _cautious([m.masses for m in masses], normalise))


def bold(*masses: MassFunction) -> MassFunction:
    r"""Combine by keeping, for each subset, the smallest disjunctive evidence (Denœux 2008).

    The dual of the unnormalised cautious rule under complementation:
    :math:`\overline{m_1 \vee m_2} = \overline{m_1} \wedge \overline{m_2}`, with
    :math:`\overline m(A) = m(\overline A)`.

    Parameters
    ----------
    *masses : MassFunction
        On one frame, each with mass on the empty set.

    Returns
    -------
    MassFunction

    Raises
    ------
    ValueError
        If a mass function has no mass on the empty set: it then has no disjunctive weights.

    See Also
    --------
    cautious : The dual rule, for sources that are reliable.
    disjunctive : The same for independent sources.

    Examples
    --------
    >>> m = MassFunction.from_array([0.25, 0.25, 0.25, 0.25], Frame(["a", "b"]))
    >>> bold(m, m) == m
    True
    """
    frame = common_frame(masses)
    for position, m in enumerate(masses, start=1):
        if m.is_normalised:
            raise ValueError(
                "The bold rule needs mass on the empty set in every source, because disjunctive "
                f"weights are not defined without it; source {position} is {m!r}. Use disjunctive "
                "for normalised sources."
            )
    return MassFunction(frame, _cautious([m.masses[::-1] for m in masses], False)[::-1])


def yager(*masses: MassFunction) -> MassFunction:
    r"""Combine conjunctively and move the conflict to the frame (Yager 1987).

    Parameters
    ----------
    *masses : MassFunction
        Of independent sources, on one frame.

    Returns
    -------
    MassFunction
        The empty set has mass 0.

    See Also
    --------
    dubois_prade : Moves conflict to smaller sets.
    dempster : Normalises conflict away.

    Examples
    --------
    >>> frame = Frame(["a", "b"])
    >>> a, b = (MassFunction.simple(label, frame, support=0.5) for label in frame)
    >>> yager(a, b)
    MassFunction({a}: 0.25, {b}: 0.25, Θ: 0.5)
    """
    pooled = conjunctive(*masses).masses.copy()
    pooled[-1] += pooled[0]
    pooled[0] = 0.0
    return MassFunction(masses[0].frame, pooled)


def dubois_prade(*masses: MassFunction) -> MassFunction:
    r"""Combine focal sets by their intersection, or by their union if that is empty.

    With more than two sources, the intersection and the union are those of all the sets. Costs
    the product of the numbers of focal sets, at most :math:`6^K` per source (Dubois and Prade
    1988).

    Parameters
    ----------
    *masses : MassFunction
        On one frame.

    Returns
    -------
    MassFunction

    See Also
    --------
    yager : Moves conflict to the whole frame instead.
    disjunctive : Uses the union throughout.

    Examples
    --------
    >>> frame = Frame(["a", "b", "c"])
    >>> a, b = (MassFunction.categorical(label, frame) for label in "ab")
    >>> dubois_prade(a, b)
    MassFunction({a, b}: 1)
    """
    frame = common_frame(masses)
    pairs = {(mask, mask): mass for mask, mass in _focal(masses[0])}
    for source in masses[1:]:
        grown: defaultdict[tuple[int, int], float] = defaultdict(float)
        for (meet, join), product in pairs.items():
            for mask, mass in _focal(source):
                grown[meet & mask, join | mask] += product * mass
        pairs = dict(grown)
    pooled = np.zeros(frame.n_subsets)
    for (meet, join), product in pairs.items():
        pooled[meet or join] += product
    return MassFunction(frame, pooled)


def common_frame(masses: Sequence[MassFunction]) -> Frame:
    """Return the frame that all mass functions share.

    Examples
    --------
    >>> common_frame([MassFunction.vacuous(Frame(["a", "b"]))])
    Frame(['a', 'b'])
    """
    if not masses:
        raise ValueError("masses must hold at least one mass function; got none.")
    frame = masses[0].frame
    for other in masses[1:]:
        if other.frame != frame:
            raise ValueError(
                "masses must share one frame, with the labels in the same order; got "
                f"{frame!r} and {other.frame!r}."
            )
    return frame


def _reduced(
    masses: Sequence[MassFunction], product: Callable[[FloatArray, FloatArray], FloatArray]
) -> MassFunction:
    frame = common_frame(masses)
    pooled: FloatArray = masses[0].masses.astype(np.longdouble)
    for other in masses[1:]:
        pooled = product(pooled, other.masses)
        pooled = pooled / pooled.sum()  # the sum is 1 up to rounding errors, which would accumulate
    return MassFunction(frame, pooled)


def _cautious(arrays: Sequence[FloatArray], normalise: bool) -> FloatArray:
    """Raise each weight of the first source to the largest of all sources."""
    weights = [weights_from_mass(array) for array in arrays]
    extra = np.maximum.reduce(weights) - weights[0]
    return add_weights(arrays[0], extra, normalise=normalise)


def _focal(mass: MassFunction) -> list[tuple[int, float]]:
    return [(int(mask), float(mass.masses[mask])) for mask in focal_masks(mass.masses)]
