"""Numbers that sum up mass functions: conflict, information, imprecision, entropy."""

from __future__ import annotations

import math

import numpy as np

from shafer.belief._subsets import cardinalities
from shafer.belief.combination import common_frame, conjunctive
from shafer.belief.mass import MassFunction
from shafer.belief.products import orthogonal_sum
from shafer.errors import TotalConflictError

_SEPARABLE_TOLERANCE = 1e-9


def degree_of_conflict(*masses: MassFunction) -> float:
    r"""Return :math:`\kappa`, the mass the conjunctive rule gives to the empty set.

    .. math:: \kappa = \sum_{B \cap C = \emptyset} m_1(B)\, m_2(C)

    A sum of non-negative terms, so that weak conflict keeps its relative accuracy. For strong
    conflict, where κ saturates at 1, see :func:`weight_of_conflict`.

    Parameters
    ----------
    *masses : MassFunction
        On one frame.

    Returns
    -------
    float
        From 0 to 1.

    See Also
    --------
    weight_of_conflict : The same on a scale that does not saturate.
    conjunctive : The mass function that κ belongs to.

    Examples
    --------
    >>> from shafer.belief import Frame
    >>> frame = Frame(["a", "b"])
    >>> a, b = (MassFunction.simple(label, frame, support=0.5) for label in frame)
    >>> degree_of_conflict(a, b)
    0.25
    """
    return float(conjunctive(*masses).masses[0])


def weight_of_conflict(*masses: MassFunction) -> float:
    r"""Return :math:`-\ln(1 - \kappa)`, which adds up over the sources (Shafer 1976, p. 65).

    Total conflict gives ``inf``.

    Parameters
    ----------
    *masses : MassFunction
        On one frame.

    Returns
    -------
    float
        From 0 to infinity.

    See Also
    --------
    degree_of_conflict : The same as a mass from 0 to 1.
    shafer.fusion.conflict_between : The same for the evidence of many rows.

    Examples
    --------
    >>> from shafer.belief import Frame
    >>> frame = Frame(["a", "b"])
    >>> a, b = (MassFunction.simple(label, frame, support=0.5) for label in frame)
    >>> round(weight_of_conflict(a, b), 4)
    0.2877
    """
    common_frame(masses)
    try:
        _, weight = orthogonal_sum(m.masses.astype(np.longdouble) for m in masses)
    except TotalConflictError:
        return math.inf
    return weight


def information(mass: MassFunction, power: float) -> float:
    r"""Return :math:`I_p(m) = \sum_{\emptyset \neq A \subset \Theta} w(A)^p` (Denœux 2019, eq. Ip).

    Parameters
    ----------
    mass : MassFunction
        A separable mass function with :math:`m(\Theta) > 0`.
    power : float
        The exponent p > 0; the paper minimises :math:`I_2`.

    Returns
    -------
    float
        0 for no evidence.

    Raises
    ------
    ValueError
        If the mass function is dogmatic or not separable, or ``power`` is not positive.

    See Also
    --------
    entropy : A measure of uncertainty.
    is_w_more_committed : The order that this measure follows.

    Examples
    --------
    >>> from shafer.belief import Frame
    >>> m = MassFunction.from_weights({"a": 1.0, "b": 2.0}, Frame(["a", "b"]))
    >>> round(information(m, 2), 9)
    5.0
    """
    if not 0 < power < math.inf:
        raise ValueError(f"power must be a positive number; got {power!r}")
    weights = mass.weights[1:-1]
    if weights.min() < -_SEPARABLE_TOLERANCE:
        raise ValueError(
            "mass must be separable: all its weights of evidence must be ≥ 0; "
            f"its smallest weight is {weights.min():.6g}."
        )
    return float(np.sum(np.maximum(weights, 0.0) ** power))


def nonspecificity(mass: MassFunction) -> float:
    r"""Return :math:`N(m) = \sum_{A \neq \emptyset} m(A) \log_2 |A|` (Dubois and Prade 1985).

    From 0 for a probability to :math:`\log_2 K` for ignorance.

    Parameters
    ----------
    mass : MassFunction
        The empty set adds nothing.

    Returns
    -------
    float
        In bits.

    See Also
    --------
    entropy : Adds the uncertainty between labels.

    Examples
    --------
    >>> from shafer.belief import Frame
    >>> nonspecificity(MassFunction.vacuous(Frame(["a", "b", "c", "d"])))
    2.0
    """
    sizes = cardinalities(len(mass.frame))
    return float(mass.masses @ np.log2(np.maximum(sizes, 1)))


def entropy(mass: MassFunction) -> float:
    r"""Return the entropy of Jiroušek and Shenoy (2018), in bits.

    .. math:: H(m) = -\sum_\theta p_m(\theta) \log_2 p_m(\theta) + N(m)

    The Shannon entropy of the plausibility transform :math:`p_m` measures conflict, the
    nonspecificity N measures ignorance; both are those of the normalised mass function. From 0
    for certainty to :math:`2 \log_2 K` for ignorance.

    Parameters
    ----------
    mass : MassFunction
        Conflict is normalised away first.

    Returns
    -------
    float
        In bits.

    See Also
    --------
    nonspecificity : The part that measures ignorance.
    information : A measure of how much evidence there is.

    Examples
    --------
    >>> from shafer.belief import Frame
    >>> frame = Frame(["a", "b"])
    >>> entropy(MassFunction.bayesian([0.5, 0.5], frame)), entropy(MassFunction.vacuous(frame))
    (1.0, 2.0)
    """
    normalised = mass.normalised()
    positive = normalised.probability[normalised.probability > 0]
    return float(nonspecificity(normalised) - positive @ np.log2(positive))
