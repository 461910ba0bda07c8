"""``DiscountedEvidence``: evidence from a source that may be wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from shafer._checks.arrays import frozen, to_numpy
from shafer._masses.discounted import DiscountedMasses
from shafer._typing import Array
from shafer.decision.policy import Policy
from shafer.evidence.mass_evidence import MassEvidence
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
        "lack",
        "contradiction",
        "ignorance",
        "epistemic_ignorance",
        "conflict",
        "weight_of_conflict",
    )
    _without_weights = "Use ev.evidence.{name}, the evidence before discounting."

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
        return DiscountedMasses(self.evidence._masses, self.reliability)

    @property
    def _policy(self) -> Policy:
        return self.evidence._policy

    @property
    def _answers(self) -> NDArray[np.intp]:
        return self.evidence._answers

    @property
    def undiscounted(self) -> Evidence:
        """The evidence before discounting."""
        return self.evidence

    @property
    def weighed(self) -> Evidence:
        """The evidence before discounting: it has the weights."""
        return self.evidence

    @property
    def epistemic_ignorance(self) -> Array:
        """1 − r, (n,): the mass that is open because the source itself may be wrong."""
        return 1.0 - self.reliability
