r"""``MixedEvidence``: exact results of discounting and of Yager's rule, as mixtures.

A source of reliability r counts in full with chance r, and not at all with chance 1 − r (Shafer
1976, p. 252). Pooled by Dempster's rule, S such sources therefore give a
mixture over the :math:`2^S` sets T of sources that happen to be reliable,

.. math:: m = \sum_T c_T (1 - \kappa_T)\, m_T \Big/ \sum_T c_T (1 - \kappa_T), \qquad
          c_T = \prod_{s \in T} r_s \prod_{s \notin T} (1 - r_s),

with :math:`m_T` the Dempster sum of the sources in T, an ``Evidence``, and :math:`\kappa_T` the
conflict between them. Belief, plausibility and every other sum of masses is the same mixture of
the members' closed forms, so the cost is :math:`O(2^S K)` and no set of classes is enumerated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import frozen
from shafer._masses.mixed import MixedMasses
from shafer._typing import Array
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.sources import DenseWeights, take


@final
@dataclass(frozen=True, eq=False, repr=False)
class MixedEvidence(MassEvidence):
    """A mixture of several pieces of evidence, each with its probability.

    :func:`shafer.combine` returns it for unreliable sources and for Yager's rule. It has no
    weights; its members have.

    Attributes
    ----------
    members : tuple of M Evidence
        The evidence if a given set of sources is reliable.
    shares : array of shape (n, M)
        The chance of each member.
    conflict_mass : array of shape (n,)
        Conflict between the discounted sources, before it was normalised away (Dempster's rule)
        or turned into ignorance (Yager's).
    classes : array of shape (K,)
    index : pandas index or array of shape (n,), optional
        Row labels.

    See Also
    --------
    shafer.combine : Makes one.
    shafer.MassEvidence : What all types of evidence share.

    Examples
    --------
    >>> import shafer
    >>> a = shafer.Evidence.from_weights([[[3.0, 0.0]]], classes=["no", "yes"])
    >>> b = shafer.Evidence.from_weights([[[0.0, 3.0]]], classes=["no", "yes"])
    >>> mixed = shafer.combine({"a": a, "b": b}, reliability={"b": 0.5})
    >>> mixed.belief.round(3), mixed.ignorance.round(3)
    (array([[0.909, 0.043]]), array([0.048]))
    """

    members: tuple[Evidence, ...]
    shares: Array
    conflict_mass: Array

    def __len__(self) -> int:
        return int(self.shares.shape[0])

    def _rows(self, positions: NDArray[np.intp]) -> MixedEvidence:
        return replace(
            self,
            members=tuple(member[positions] for member in self.members),
            shares=frozen(take(self.shares, positions, axis=0)),
            conflict_mass=frozen(take(self.conflict_mass, positions, axis=0)),
            index=None,
        )

    @cached_property
    def _masses(self) -> MixedMasses:
        members = tuple(member._masses for member in self.members)
        return MixedMasses(members, self.shares, self.conflict_mass)


MOST_UNRELIABLE = 10
"""Sources that may be unreliable at a time: they make 2^10 members."""


def discounted_sum(
    sources: list[Evidence],
    reliability: NDArray[np.float64],
    pool: Callable[[list[int]], Evidence],
    *,
    to_ignorance: bool = False,
) -> MixedEvidence:
    """Pool discounted sources by Dempster's rule, or by Yager's if conflict is to be ignorance.

    Parameters
    ----------
    sources : list of Evidence
        Each over the joined frame.
    reliability : array of shape (n, S)
    pool : function from positions of sources to their Dempster sum
    to_ignorance : bool
    """
    doubtful = [s for s in range(len(sources)) if (reliability[:, s] < 1.0).any()]
    if len(doubtful) > MOST_UNRELIABLE:
        raise ValueError(
            f"{len(doubtful)} sources have a reliability below 1; at most {MOST_UNRELIABLE} are "
            "accepted, because each of them doubles the work. Use tempering= instead, which takes "
            "any number of sources."
        )
    silent = _vacuous(sources[0])
    certain = [s for s in range(len(sources)) if s not in doubtful]
    inner = [source.weight_of_conflict for source in sources]
    xp = array_api_compat.array_namespace(silent.logits)
    members, log_shares, lost = [], [], xp.zeros_like(silent.ignorance)
    for mask in range(2 ** len(doubtful)):
        inside = [s for position, s in enumerate(doubtful) if mask >> position & 1]
        chosen = sorted(certain + inside)
        log_chance = _log_chance(reliability[:, doubtful], np.isin(doubtful, inside))
        log_c = xp.asarray(log_chance, dtype=silent.logits.dtype, device=silent.logits.device)
        member = pool(chosen) if chosen else silent
        between = member.weight_of_conflict - sum((inner[s] for s in chosen), 0.0 * lost)
        between = xp.clip(between, min=0.0)
        members.append(member)
        log_shares.append(log_c - between)
        lost = lost - xp.exp(log_c) * xp.expm1(-between)
    shares = xp.stack(log_shares, axis=1)
    if not to_ignorance:  # sources may conflict beyond what a float holds: only ratios count
        shares = xp.exp(shares - xp.max(shares, axis=1, keepdims=True))
        return _mixture(members, shares, lost)
    return _mixture([*members, silent], xp.concat([xp.exp(shares), lost[:, None]], axis=1), lost)


def _log_chance(trust: NDArray[np.float64], inside: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the logarithm of the chance that just these sources are reliable, (n,)."""
    with np.errstate(divide="ignore"):  # no chance at all is -inf
        logs: NDArray[np.float64] = np.where(inside, np.log(trust), np.log1p(-trust)).sum(axis=1)
    return logs


def _mixture(members: list[Evidence], shares: Array, lost: Array) -> MixedEvidence:
    xp = array_api_compat.array_namespace(shares)
    total = xp.sum(shares, axis=1, keepdims=True)
    return MixedEvidence(
        tuple(members),
        frozen(shares / total),
        frozen(xp.clip(lost, max=1.0)),
        classes=members[0].classes,
    )


def _vacuous(like: Evidence) -> Evidence:
    """Return vacuous evidence, over the same classes and instances."""
    xp = array_api_compat.array_namespace(like.logits)
    nothing = DenseWeights(xp.zeros_like(like.logits)[:, None, :])
    return Evidence.from_source(nothing, like.classes, ("nothing",))
