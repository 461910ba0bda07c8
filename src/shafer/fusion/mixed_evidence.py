r"""Mixtures of evidence: what discounting and Yager's rule make of pooled evidence, exactly.

A source that is reliable with probability r says what it says with chance r, and nothing with
chance 1 − r (Shafer 1976, p. 252). Pooled by Dempster's rule, S such sources therefore give a
mixture over the :math:`2^S` sets T of sources that happen to be reliable,

.. math:: m = \sum_T c_T (1 - \kappa_T)\, m_T \Big/ \sum_T c_T (1 - \kappa_T), \qquad
          c_T = \prod_{s \in T} r_s \prod_{s \notin T} (1 - r_s),

with :math:`m_T` the Dempster sum of the sources in T, an ``Evidence``, and :math:`\kappa_T` the
conflict between them. Belief, plausibility and every other sum of masses is the same mixture of
the members' closed forms, so the cost is :math:`O(2^S K)` and no set of classes is enumerated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from shafer._typing import Array, Label
from shafer._validation import frozen
from shafer.evidence import Evidence
from shafer.evidence.weight_sources import DenseWeights
from shafer.fusion.fused_evidence import FusedEvidence, row_positions


@final
@dataclass(frozen=True, eq=False, repr=False)
class MixedEvidence(FusedEvidence):
    """One of several bodies of evidence holds, each with its chance; made by ``combine``.

    Attributes
    ----------
    members : tuple of M Evidence
        What is known if a given set of sources is reliable.
    shares : array of shape (n, M)
        The chance of each member.
    conflict : array of shape (n,)
        Conflict between the discounted sources, before it was normalised away (Dempster's rule)
        or turned into ignorance (Yager's).
    classes : array of shape (K,)

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
    conflict: Array
    classes: NDArray[Any]

    def __len__(self) -> int:
        return int(self.shares.shape[0])

    def __getitem__(self, rows: Any) -> MixedEvidence:
        """Take instances by position, slice, list of positions or boolean mask."""
        positions = row_positions(rows, len(self))
        xp = array_api_compat.array_namespace(self.shares)
        where = xp.asarray(positions, dtype=xp.int64, device=self.shares.device)
        return MixedEvidence(
            tuple(member[positions] for member in self.members),
            xp.take(self.shares, where, axis=0),
            xp.take(self.conflict, where, axis=0),
            self.classes,
        )

    def _mixed(self, read: Callable[[Evidence], Array]) -> Array:
        """Mix what is read off the members, (n,) or (n, K) or (n, 2^K)."""
        xp = array_api_compat.array_namespace(self.shares)
        total = low = high = None
        for position, member in enumerate(self.members):
            values, share = read(member), self.shares[:, position]
            part = values * (share if values.ndim == 1 else share[:, None])
            total = part if total is None else total + part
            low = values if low is None else xp.minimum(low, values)
            high = values if high is None else xp.maximum(high, values)
        # A mixture lies between its members; rounding must not lead outside, such as above 1.
        return frozen(xp.maximum(low, xp.minimum(total, high)))

    @cached_property
    def belief(self) -> Array:
        """Belief in each class, (n, K): the mass of the class itself."""
        return self._mixed(lambda member: member.belief)

    @cached_property
    def plausibility(self) -> Array:
        """Plausibility of each class, (n, K): one less the belief that it is another."""
        return self._mixed(lambda member: member.plausibility)

    @cached_property
    def pignistic(self) -> Array:
        """Pignistic probability, (n, K): each set's mass shared equally among its classes."""
        return self._mixed(lambda member: member.pignistic)

    @cached_property
    def ignorance(self) -> Array:
        """Mass of the whole frame m(Θ), (n,)."""
        return self._mixed(lambda member: member.ignorance)

    def mass_of(self, subset: Label | Iterable[Label]) -> Array:
        """Mass of one set of class labels, (n,)."""
        return self._mixed(lambda member: member.mass_of(subset))

    def belief_of(self, subset: Label | Iterable[Label]) -> Array:
        """Belief that the class is in a set of labels, (n,)."""
        return self._mixed(lambda member: member.belief_of(subset))

    def plausibility_of(self, subset: Label | Iterable[Label]) -> Array:
        """Plausibility that the class is in a set of labels, (n,)."""
        return self._mixed(lambda member: member.plausibility_of(subset))

    def commonality_of(self, subset: Label | Iterable[Label]) -> Array:
        """Commonality of a set of labels, (n,): the mass of all sets that contain it."""
        return self._mixed(lambda member: member.commonality_of(subset))

    def masses(self) -> Array:
        """All masses, (n, 2^K); class k is bit k of the column index, column 0 the empty set."""
        return self._mixed(lambda member: member.masses())

    def lower_risk(self, loss: Any) -> Array:
        """Return the lower expected loss of each act, (n, acts); see ``Evidence.lower_risk``."""
        return self._mixed(lambda member: member.lower_risk(loss))

    def upper_risk(self, loss: Any) -> Array:
        """Return the upper expected loss of each act, (n, acts); see ``Evidence.upper_risk``."""
        return self._mixed(lambda member: member.upper_risk(loss))


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
            f"{len(doubtful)} sources have a reliability below 1. Discounted sources are pooled "
            f"over all sets of them that may be reliable, at most {MOST_UNRELIABLE} at a time. "
            "Use tempering= instead: it scales weights, and any number of sources stays cheap."
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
        members[0].classes,
    )


def _vacuous(like: Evidence) -> Evidence:
    """Return evidence that says nothing, over the same classes and instances."""
    xp = array_api_compat.array_namespace(like.logits)
    nothing = DenseWeights(xp.zeros_like(like.logits)[:, None, :])
    return Evidence.from_source(nothing, like.classes, ("nothing",))
