"""Rules under 0-1 loss: an act is to name one class, and a set of acts is a set of classes.

Discounting multiplies the differences between classes by r, so a rule that chooses one class
chooses as without it (and so also where r is zero, and the discounted evidence says nothing).
"""

from __future__ import annotations

from array_api_compat import array_namespace

from shafer import kernels
from shafer._typing import Array
from shafer.decision.rules.dominance import choose_largest, choose_smallest, undominated
from shafer.opinion.pooled_opinion import Opinion


def interval_dominance(belief: Array, plausibility: Array) -> Array:
    r"""Keep every class that no other one dominates (Denœux 2019, §2.1).

    Class k is dropped only if some class l has :math:`bel_l > pl_k`, strictly, so the set is never
    empty; the paper's set drops on equality too, and is empty when two classes share all belief.
    Under 0-1 loss this is also the rule of maximality.
    """
    xp = array_namespace(belief)
    return plausibility >= xp.max(belief, axis=-1, keepdims=True)


def most_plausible(opinion: Opinion) -> Array:
    """Choose the class of least lower risk: the most plausible one, by its logit."""
    return choose_largest(opinion.logits)


def most_believed(opinion: Opinion) -> Array:
    """Choose the class of least upper risk, which is also that of least regret."""
    belief = opinion.forms.belief
    return choose_smallest(-belief, _rounding_of(belief))


def _rounding_of(belief: Array) -> Array:
    """Return how far apart rounding can drive beliefs that are the same, (..., 1).

    A product over the other classes may be multiplied in another order for each.
    """
    xp = array_namespace(belief)
    relative = 4.0 * belief.shape[-1] * float(xp.finfo(belief.dtype).eps)
    return relative * xp.max(belief, axis=-1, keepdims=True)


def most_probable_bet(opinion: Opinion) -> Array:
    """Choose the class of largest pignistic probability."""
    return choose_largest(opinion.base.pignistic)


def between(opinion: Opinion, alpha: float) -> Array:
    r"""Choose the class of largest :math:`\alpha\, bel + (1 - \alpha)\, pl` (Hurwicz).

    What each class lacks to the largest plausibility is taken from the logits, where it does not
    round to nothing.
    """
    xp = array_namespace(opinion.logits)
    forms = opinion.forms
    largest = xp.max(forms.plausibility, axis=-1, keepdims=True)
    lacks = largest * xp.expm1(opinion.logits - xp.max(opinion.logits, axis=-1, keepdims=True))
    value = alpha * forms.belief + (1.0 - alpha) * lacks
    return choose_smallest(-value, alpha * _rounding_of(forms.belief))


def not_interval_dominated(opinion: Opinion) -> Array:
    """Keep what interval dominance keeps; under 0-1 loss maximality is the same."""
    return interval_dominance(opinion.belief, opinion.plausibility)


def not_weakly_dominated(opinion: Opinion) -> Array:
    """Keep every class that no other matches in belief and plausibility and beats in one."""
    kept = undominated(opinion.logits, opinion.log_belief)
    if opinion.reliability is None:
        return kept
    return kept | (opinion.reliability == 0)[..., None]


def e_admissible(opinion: Opinion) -> Array:
    """Keep every class that is a most probable one under some compatible probability."""
    xp = array_namespace(opinion.logits)
    threshold = opinion.plausibility
    if opinion.reliability is not None:
        r = opinion.reliability[..., None]
        # Any threshold from one on is met: no belief exceeds the number of classes.
        met = r * 2.0 <= threshold
        threshold = xp.where(met, 2.0, threshold / xp.where(met, 1.0, r))
    return kernels.e_admissible_classes(
        opinion.shares, opinion.logits, threshold, opinion.rounding[..., 0]
    )


def worth(opinion: Opinion, rule: str, alpha: float) -> Array:
    """Return what the rule expects of naming each class, (..., K): one less its risk."""
    if rule == "plausibility":
        return opinion.plausibility
    if rule == "pignistic":
        return opinion.pignistic
    if rule == "hurwicz":
        return alpha * opinion.belief + (1.0 - alpha) * opinion.plausibility
    return opinion.belief
