"""``DiscountedEvidence``: evidence from a source that may be wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj
from numpy.typing import NDArray

from shafer._typing import Array, Label
from shafer._validation import frozen, positions_of, to_numpy
from shafer.decision import Opinion
from shafer.evidence import deciding
from shafer.evidence.focal_set import FocalSet
from shafer.evidence.io import frame_table, notebook_display
from shafer.evidence.weight_sources import per_instance

if TYPE_CHECKING:
    from shafer.evidence.evidence import Evidence


def read_reliability(reliability: Any, like: Array) -> Array:
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
class DiscountedEvidence:
    r"""Evidence m with a reliability r for each instance: :math:`m' = r\,m + (1 - r)\,m_\Theta`.

    A share 1 − r of all mass moves to the whole frame (Shafer 1976, p. 252):
    :math:`Bel' = r\,Bel`, :math:`Pl' = 1 - r + r\,Pl`, :math:`m'(\Theta) = 1 - r + r\,m(\Theta)`.
    Belief, plausibility, masses, risks and decisions are exact for m'. The probabilities, the
    logits and the rule ``"utility_set"`` are those of m: one bets with them, never with Pl'.

    **It leaves the family of weights.** There are no weights of evidence of which m' is the pooled
    mass function, so it cannot be tempered, grouped, fused or saved as one: do that to
    ``evidence`` and discount the result. The weights, components and conflict shown here are those
    of ``evidence``, before discounting.

    Make one with :meth:`shafer.Evidence.discounted`.

    Examples
    --------
    >>> import shafer
    >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9], [-0.2, 0.2]]], classes=["no", "yes"])
    >>> half = ev.discounted(0.5)
    >>> half.belief.round(3), half.plausibility.round(3)
    (array([[0.386, 0.038]]), array([[0.962, 0.614]]))
    >>> half.ignorance.round(3), half.epistemic_ignorance, half.acts("maximality")
    (array([0.576]), array([0.5]), [('no', 'yes')])
    """

    evidence: Evidence
    reliability: Array

    @cached_property
    def _opinion(self) -> Opinion:
        return Opinion(self.evidence.pooled, self.reliability)

    # -- as in the evidence ---------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.evidence)

    @property
    def classes(self) -> NDArray[Any]:
        """Labels of the classes, (K,)."""
        return self.evidence.classes

    @property
    def component_names(self) -> tuple[str, ...]:
        """Names of the components."""
        return self.evidence.component_names

    @property
    def parts(self) -> tuple[str, ...]:
        """Names along the second axis, where the instances are the components of others."""
        return self.evidence.parts

    @property
    def n_classes(self) -> int:
        """The number K of classes."""
        return self.evidence.n_classes

    @property
    def n_components(self) -> int:
        """The number G of components."""
        return self.evidence.n_components

    @property
    def weights(self) -> Array:
        """Weights of evidence before discounting, (n, G, K)."""
        return self.evidence.weights

    @property
    def weights_for(self) -> Array:
        """Total weight of the evidence for each class before discounting, (n, K)."""
        return self.evidence.weights_for

    @property
    def weights_against(self) -> Array:
        """Total weight of the evidence against each class before discounting, (n, K)."""
        return self.evidence.weights_against

    @property
    def logits(self) -> Array:
        """The model's logits, centred over the classes, (n, K)."""
        return self.evidence.logits

    @property
    def components(self) -> Evidence:
        """Each component's own mass function before discounting."""
        return self.evidence.components

    @property
    def probability(self) -> Array:
        """The probabilities to bet with, (n, K): those of the evidence before discounting."""
        return self.evidence.probability

    @property
    def conflict(self) -> Array:
        """Total conflict between the components, (n,)."""
        return self.evidence.conflict

    @property
    def weight_of_conflict(self) -> Array:
        """Shafer's weight of conflict between the components, (n,)."""
        return self.evidence.weight_of_conflict

    @property
    def conflict_for_against(self) -> Array:
        """Conflict between all evidence for and all evidence against, (n,)."""
        return self.evidence.conflict_for_against

    def __getitem__(self, rows: Any) -> DiscountedEvidence:
        """Take instances by position, slice, list of positions or boolean mask."""
        if is_array_api_obj(rows):
            rows = to_numpy(rows)
        part = self.evidence[rows]
        positions = np.atleast_1d(np.arange(len(self))[rows])
        kept = to_numpy(self.reliability)[positions]
        return DiscountedEvidence(part, read_reliability(kept, part.logits))

    # -- the discounted mass function -----------------------------------------------------------

    @property
    def belief(self) -> Array:
        """Belief in each class, (n, K): r Bel."""
        return self._opinion.belief

    @property
    def plausibility(self) -> Array:
        """Plausibility of each class, (n, K): 1 − r + r Pl."""
        return self._opinion.plausibility

    @property
    def pignistic(self) -> Array:
        """Pignistic probability, (n, K): r BetP + (1 − r)/K."""
        return self._opinion.pignistic

    @property
    def epistemic_ignorance(self) -> Array:
        """1 − r, (n,): what is open because the source itself may be wrong."""
        return 1.0 - self.reliability

    @property
    def ignorance(self) -> Array:
        """Mass of the whole frame, (n,): 1 − r + r m(Θ)."""
        return self._with_rest(self.evidence.ignorance)

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
        """All masses, (n, 2^K), as :meth:`shafer.Evidence.masses` orders and limits them."""
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

    # -- deciding -------------------------------------------------------------------------------

    def decide(self, rule: str = "interval_dominance", **options: Any) -> Array:
        """Choose classes, (n, K), or acts, (n, acts), as :meth:`shafer.Evidence.decide` does.

        The rules see the discounted mass function, but for ``"utility_set"``, which bets.
        """
        return deciding.decide(self._opinion, deciding.question(rule, options))

    def acts(self, rule: str = "interval_dominance", **options: Any) -> list[Any]:
        """Decide, in words: the names of the acts chosen for each instance, or of the classes."""
        return deciding.named_acts(self._opinion, self.classes, deciding.question(rule, options))

    def lower_risk(self, loss: Any) -> Array:
        """Lower expected loss of each act, (n, acts): r · lower + (1 − r) · the least loss."""
        return deciding.lower_risk(self._opinion, loss)

    def upper_risk(self, loss: Any) -> Array:
        """Upper expected loss of each act, (n, acts): r · upper + (1 − r) · the largest loss."""
        return deciding.upper_risk(self._opinion, loss)

    # -- out of here ----------------------------------------------------------------------------

    def to_frame(self, backend: str | None = None) -> Any:
        """Return one row per instance as :meth:`shafer.Evidence.to_frame` does.

        There is one more column, ``epistemic_ignorance``.
        """
        return frame_table.to_frame(self, backend)

    def __repr__(self) -> str:
        return notebook_display.text(self)

    def _repr_html_(self) -> str:
        return notebook_display.html(self)
