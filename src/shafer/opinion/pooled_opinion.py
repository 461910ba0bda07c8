"""``Opinion``: the mass function of every row, as the decision rules read it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

from array_api_compat import array_namespace

from shafer import kernels
from shafer._typing import Array
from shafer._validation import frozen
from shafer.kernels import Forms, LogTerms, Pooled, Shares


@final
@dataclass(frozen=True, eq=False)
class Opinion:
    r"""The pooled mass function m of each row, discounted where a reliability r is given.

    Discounting (Shafer 1976, p. 252) moves a share 1 − r of every mass to the whole frame:
    :math:`m' = r\, m + (1 - r)\, m_\Theta`. Belief, plausibility, pignistic probability and risks
    are those of m'. The logits and probabilities stay those of m: one bets with them.

    Parameters
    ----------
    pooled : Pooled
        Evidence for and against each class; arrays of (..., K).
    reliability : array of shape (...), optional
        r, between 0 and 1; none means that the source is reliable.
    """

    pooled: Pooled
    reliability: Array | None = None

    @property
    def base(self) -> Opinion:
        """The same without discounting."""
        return self if self.reliability is None else replace(self, reliability=None)

    @cached_property
    def terms(self) -> LogTerms:
        """Logarithms that the closed forms share."""
        return kernels.log_terms(self.pooled)

    @cached_property
    def shares(self) -> Shares:
        """The terms relative to D, out of the logarithms."""
        return kernels.shares(self.terms)

    @cached_property
    def forms(self) -> Forms:
        """The closed forms before discounting."""
        return Forms(*(frozen(array) for array in kernels.closed_forms(self.pooled)))

    @property
    def logits(self) -> Array:
        """The logits, (..., K): they order the classes as plausibilities do, without saturating."""
        return self.pooled.logits

    @property
    def probability(self) -> Array:
        """Normalised plausibilities of m, (..., K)."""
        return self.forms.probability

    @cached_property
    def belief(self) -> Array:
        """Belief in each class, (..., K): r Bel."""
        return frozen(self._mixed(self.forms.belief, 0.0))

    @cached_property
    def plausibility(self) -> Array:
        """Plausibility of each class, (..., K): 1 − r + r Pl."""
        return frozen(self._mixed(self.forms.plausibility, 1.0))

    @cached_property
    def pignistic(self) -> Array:
        """Pignistic probability, (..., K): r BetP + (1 − r)/K."""
        n_classes = self.logits.shape[-1]
        return frozen(self._mixed(kernels.pignistic(self.terms), 1.0 / n_classes))

    @cached_property
    def log_belief(self) -> Array:
        """Logarithm of the belief before discounting, (..., K): it orders what underflows."""
        return kernels.log_belief(self.terms)

    def lower_risk(self, loss: Array) -> Array:
        """Lower expected loss of each act, (..., acts), for a loss of (acts, K)."""
        xp = array_namespace(loss)
        risk = kernels.lower_expectation(self.shares, loss)
        return self._mixed(risk, xp.min(loss, axis=-1))

    def upper_risk(self, loss: Array) -> Array:
        """Upper expected loss of each act, (..., acts)."""
        xp = array_namespace(loss)
        risk = kernels.upper_expectation(self.shares, loss)
        return self._mixed(risk, xp.max(loss, axis=-1))

    @cached_property
    def rounding(self) -> Array:
        r"""How far rounding can move an expectation of losses in [−1, 1], (..., 1).

        A sum of 2K products whose logarithms were off by an ulp of the largest weight: a rule that
        drops acts asks for a difference beyond this, so that what it drops is really worse.
        """
        xp = array_namespace(self.logits)
        largest = xp.max(self.pooled.weights_for + self.pooled.weights_against, axis=-1)
        size = largest[..., None] + float(self.logits.shape[-1])
        return 16.0 * float(xp.finfo(self.logits.dtype).eps) * size

    def _mixed(self, value: Array, ignorant: Array | float) -> Array:
        """Mix what m says with what ignorance says; the last axis of ``value`` has no r."""
        if self.reliability is None:
            return value
        r = self.reliability[..., None]
        return r * value + (1.0 - r) * ignorant
