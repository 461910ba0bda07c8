"""``DiscountedEvidence``: evidence from a source that may be wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Never, final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from shafer._checks.arrays import frozen, to_numpy
from shafer._checks.labels import positions_of
from shafer._masses.discounted import DiscountedMasses
from shafer._masses.pooled import PooledMasses
from shafer._typing import Array, Label
from shafer.evidence.mass_evidence import FocalSet, MassEvidence, no_attribute
from shafer.evidence.sources import per_instance, take

if TYPE_CHECKING:
    from shafer.evidence.evidence import Evidence


def row_reliability(reliability: Any, like: Array) -> Array:
    """Return one reliability from 0 to 1 for each instance."""
    array = per_instance(reliability, "reliability", like)
    xp = array_namespace(array)
    if array.shape[0] and not (float(xp.min(array)) >= 0.0 and float(xp.max(array)) <= 1.0):
        low, high = float(xp.min(array)), float(xp.max(array))
        raise ValueError(
            f"reliability must be from 0 to 1; got values from {low:.6g} to {high:.6g}."
        )
    return frozen(array)


@final
@dataclass(frozen=True, eq=False, repr=False)
class DiscountedEvidence(MassEvidence):
    r"""Evidence from a source that is reliable with probability r: belief shrinks, ignorance grows.

    The mass function of each instance is :math:`m' = r\,m + (1 - r)\,m_\Theta`.

    A share 1 − r of all mass moves to the whole frame (Shafer 1976, p. 252):
    :math:`Bel' = r\,Bel`, :math:`Pl' = 1 - r + r\,Pl`, :math:`m'(\Theta) = 1 - r + r\,m(\Theta)`.
    Everything is exact for m', ``probability`` too. One bets with m: ``betting_probability`` and
    the rules ``"utility_set"`` and ``"expected_loss"`` ignore the discount.

    There are no weights of evidence whose pooled mass function is m'. So discounted evidence has no
    weights, and cannot be tempered, grouped or saved. Do that to ``evidence``, and discount the
    result. The conflict is that of ``evidence``, before discounting.

    Make one with :meth:`shafer.Evidence.discounted`.

    Attributes
    ----------
    evidence : Evidence
        The evidence before discounting.
    reliability : array of shape (n,)
    classes : array of shape (K,)
        Class labels.
    index : pandas index or array of shape (n,), optional
        Row labels.

    See Also
    --------
    shafer.Evidence.discounted : Makes one.
    shafer.MassEvidence : What all types of evidence share.
    shafer.fusion.MixedEvidence : Several sources that may be wrong.

    Examples
    --------
    >>> import shafer
    >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9], [-0.2, 0.2]]], classes=["no", "yes"])
    >>> half = ev.discounted(0.5)
    >>> half.belief.round(3), half.plausibility.round(3)
    (array([[0.386, 0.038]]), array([[0.962, 0.614]]))
    >>> half.probability.round(3), half.betting_probability.round(3)
    (array([[0.61, 0.39]]), array([[0.802, 0.198]]))
    >>> half.ignorance.round(3), half.epistemic_ignorance, half.acts("maximality")
    (array([0.576]), array([0.5]), [('no', 'yes')])
    """

    evidence: Evidence
    reliability: Array

    _scalar_columns: ClassVar[tuple[str, ...]] = (
        "ignorance",
        "epistemic_ignorance",
        "conflict",
        "weight_of_conflict",
    )
    _class_columns: ClassVar[tuple[str, ...]] = (
        "probability",
        "betting_probability",
        "belief",
        "plausibility",
        "pignistic",
    )

    if not TYPE_CHECKING:  # a type checker must not accept every name

        def __getattr__(self, name: str) -> Never:
            advice = f"Use ev.evidence.{name}, the evidence before discounting."
            raise no_attribute("DiscountedEvidence", name, advice)

    # -- rows -----------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.evidence)

    def _rows(self, positions: NDArray[np.intp]) -> DiscountedEvidence:
        kept = frozen(take(self.reliability, positions, axis=0))
        return replace(self, evidence=self.evidence[positions], reliability=kept, index=None)

    @property
    def _axis_names(self) -> tuple[str, ...]:
        return self.evidence.parts

    def _size_text(self) -> str:
        size = self.evidence._size_text()
        if not len(self):
            return size
        r = to_numpy(self.reliability)
        return f"{size}, reliability {r.min():.3g} to {r.max():.3g}"

    # -- the mass function ----------------------------------------------------------------------

    @cached_property
    def _masses(self) -> DiscountedMasses:
        return DiscountedMasses(PooledMasses(self.evidence.pooled), self.reliability)

    @property
    def _bets_on_costs(self) -> bool:
        return self.evidence.calibrated

    @property
    def epistemic_ignorance(self) -> Array:
        """1 − r, (n,): the mass that is open because the source itself may be wrong."""
        return 1.0 - self.reliability

    @property
    def ignorance(self) -> Array:
        """Mass of the whole frame, (n,): 1 − r + r m(Θ)."""
        return self._with_rest(self.evidence.ignorance)

    @property
    def conflict(self) -> Array:
        """Total conflict between the components before discounting, (n,)."""
        return self.evidence.conflict

    @property
    def weight_of_conflict(self) -> Array:
        """Shafer's weight of conflict between the components before discounting, (n,)."""
        return self.evidence.weight_of_conflict

    def _with_rest(self, value: Array) -> Array:
        """Return r · value + 1 − r."""
        return self.reliability * value + self.epistemic_ignorance

    # -- sets of classes ------------------------------------------------------------------------

    def mass_of(self, subset: Label | Iterable[Label]) -> Array:
        """Mass of one set of class labels, (n,)."""
        inside = self._labels(subset)
        mass = self.evidence.mass_of(inside)
        return self._with_rest(mass) if self._is_frame(inside) else self.reliability * mass

    def belief_of(self, subset: Label | Iterable[Label]) -> Array:
        """Belief that the class is in a set of labels, (n,)."""
        inside = self._labels(subset)
        belief = self.evidence.belief_of(inside)
        return self._with_rest(belief) if self._is_frame(inside) else self.reliability * belief

    def plausibility_of(self, subset: Label | Iterable[Label]) -> Array:
        """Plausibility that the class is in a set of labels, (n,)."""
        inside = self._labels(subset)
        plausibility = self.evidence.plausibility_of(inside)
        return self._with_rest(plausibility) if inside else plausibility

    def commonality_of(self, subset: Label | Iterable[Label]) -> Array:
        """Commonality of a set of labels, (n,): the mass of all sets that contain it."""
        return self._with_rest(self.evidence.commonality_of(self._labels(subset)))

    def _labels(self, subset: Label | Iterable[Label]) -> list[Label]:
        labels = self.classes.tolist()
        return [labels[k] for k in positions_of(subset, self.classes)]

    def _is_frame(self, inside: list[Label]) -> bool:
        return len(inside) == self.n_classes

    def masses(self) -> Array:
        """All masses, (n, 2^K); class k is bit k of the column index, column 0 the empty set."""
        masses = self.evidence.masses()
        xp = array_namespace(masses)
        scaled = masses * self.reliability[..., None]
        frame = self._with_rest(masses[..., -1])[..., None]
        return xp.concat([scaled[..., :-1], frame], axis=-1)

    def focal_sets(self, top: int = 10) -> list[list[FocalSet]]:
        """Find the largest focal sets of each row, largest first, without enumerating 2^K."""
        frame = frozenset(self.classes.tolist())
        reliability = to_numpy(self.reliability).reshape(-1)
        ignorance = to_numpy(self.ignorance).reshape(-1)
        rows = []
        for found, r, rest in zip(
            self.evidence.focal_sets(top), reliability, ignorance, strict=True
        ):
            sets = [s._replace(mass=float(r) * s.mass) for s in found if s.classes != frame]
            sets.append(FocalSet(frame, float(rest)))
            sets.sort(key=lambda entry: -entry.mass)  # stable: ties stay in order
            rows.append([entry for entry in sets if entry.mass > 0.0][:top])
        return rows
