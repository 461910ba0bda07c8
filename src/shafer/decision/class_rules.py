"""Rules under 0-1 loss: an act is to name one class, and a set of acts is a set of classes.

Discounting multiplies the differences between classes by r. So a rule that chooses one class
chooses as without the discount, also where r is zero.
"""

from __future__ import annotations

import numpy as np
from array_api_compat import array_namespace

from shafer._masses.masses import Masses
from shafer._masses.pooled import TIE
from shafer._typing import Array, FloatArray
from shafer.decision.act_rules import e_admissible_acts
from shafer.decision.dominance import choose_smallest, levels, undominated


def interval_dominance(belief: Array, plausibility: Array) -> Array:
    r"""Keep every class that no other one dominates (Denœux 2019, §2.1).

    Class k is dropped only if some class l has :math:`bel_l > pl_k`, strictly, so the set is never
    empty; the paper's set drops on equality too, and is empty when two classes share all belief.
    Under 0-1 loss this is also the rule of maximality.

    Parameters
    ----------
    belief : array of shape (..., K)
        The belief of each class.
    plausibility : array of shape (..., K)
        The plausibility of each class.

    Returns
    -------
    boolean array of shape (..., K)
        True for the classes that remain.

    See Also
    --------
    choose : Applies a rule by its name.
    shafer.Evidence.decide : The same for evidence.

    Examples
    --------
    >>> import numpy as np
    >>> from shafer.decision.class_rules import interval_dominance
    >>> belief = np.array([[0.6, 0.1, 0.0], [0.3, 0.2, 0.0]])
    >>> interval_dominance(belief, np.array([[0.9, 0.4, 0.1], [0.7, 0.6, 0.1]]))
    array([[ True, False, False],
           [ True,  True, False]])
    """
    xp = array_namespace(belief)
    return plausibility >= xp.max(belief, axis=-1, keepdims=True)


def most_plausible(masses: Masses) -> Array:
    """Choose the class of least lower risk: the most plausible one."""
    return choose_smallest(-masses.base.log_plausibility, masses.base.log_rounding)


def most_believed(masses: Masses) -> Array:
    """Choose the class of least upper risk, which is also that of least regret."""
    return choose_smallest(-masses.base.belief, _belief_rounding(masses.base))


def _belief_rounding(masses: Masses) -> Array:
    """Return how far apart rounding can drive beliefs that are the same, (..., 1)."""
    xp = array_namespace(masses.belief)
    return masses.relative_rounding * xp.max(masses.belief, axis=-1, keepdims=True)


def most_probable_bet(masses: Masses) -> Array:
    """Choose the class of largest pignistic probability."""
    return choose_smallest(-masses.base.pignistic, masses.base.rounding)


def between(masses: Masses, alpha: float) -> Array:
    r"""Choose the class of largest :math:`\alpha\, bel + (1 - \alpha)\, pl` (Hurwicz).

    The distance of each class to the largest plausibility is taken from the logarithms, where it
    does not round to nothing.
    """
    base = masses.base
    xp = array_namespace(base.belief)
    largest = xp.max(base.plausibility, axis=-1, keepdims=True)
    logs = base.log_plausibility
    lacks = largest * xp.expm1(logs - xp.max(logs, axis=-1, keepdims=True))
    value = alpha * base.belief + (1.0 - alpha) * lacks
    # The logarithms alone, α = 0, decide as the rule "plausibility" does.
    relative = alpha * base.relative_rounding + (1.0 - alpha) * base.log_rounding
    tolerance = alpha * _belief_rounding(base) + relative * largest
    return choose_smallest(-value, tolerance)


def not_interval_dominated(masses: Masses) -> Array:
    """Keep what interval dominance keeps; under 0-1 loss maximality is the same."""
    return interval_dominance(masses.belief, masses.plausibility)


def not_weakly_dominated(masses: Masses) -> Array:
    """Keep every class that no other matches in belief and plausibility and beats in one."""
    return undominated(
        -levels(-masses.log_plausibility, masses.log_rounding),
        -levels(-masses.log_belief, masses.log_rounding),
    )


def e_admissible(masses: Masses) -> Array:
    """Keep every class that is a most probable one under some compatible probability."""
    closed_form = masses.e_admissible_classes()
    if closed_form is not None:
        return closed_form
    like = masses.belief
    xp = array_namespace(like)
    zero_one = 1.0 - xp.eye(like.shape[-1], dtype=like.dtype, device=like.device)
    return e_admissible_acts(masses, zero_one)


# Set-valued acts: answer with the set of classes whose expected utility is largest.


def most_probable_set(probability: Array, utility: FloatArray) -> Array:
    """Choose the best set by probability: the first b classes, for the best b; boolean (..., K)."""
    xp = array_namespace(probability)
    order = xp.argsort(probability, axis=-1, descending=True)
    ordered = xp.take_along_axis(probability, order, axis=-1)
    gain = xp.asarray(np.array(utility), dtype=probability.dtype, device=probability.device)
    value = xp.cumulative_sum(ordered, axis=-1) * gain
    tie = max(TIE, 8.0 * float(xp.finfo(value.dtype).eps))
    tied = value >= xp.max(value, axis=-1, keepdims=True) - tie
    size = xp.argmax(xp.astype(tied, xp.int64), axis=-1, keepdims=True)
    return xp.argsort(order, axis=-1) <= size
