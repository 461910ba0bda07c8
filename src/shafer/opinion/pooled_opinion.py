"""``PooledOpinion``: the closed forms of pooled weights of evidence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from shafer import kernels
from shafer._typing import Array, BoolArray, FloatArray
from shafer._validation import frozen, to_numpy
from shafer.kernels import Forms, LogTerms, Pooled, Shares
from shafer.opinion.opinion import MOST_ROUNDING, Opinion
from shafer.opinion.pooled_best_sets import pooled_best_sets


@final
@dataclass(frozen=True, eq=False)
class PooledOpinion(Opinion):
    """The pooled mass function of each row, in closed form for any number of classes.

    Parameters
    ----------
    pooled : Pooled
        Evidence for and against each class; arrays of (..., K).
    """

    pooled: Pooled

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
        """All closed forms, from the fastest kernel for the arrays."""
        return Forms(*(frozen(array) for array in kernels.closed_forms(self.pooled)))

    @property
    def belief(self) -> Array:
        """Belief in each class, (..., K)."""
        return self.forms.belief

    @property
    def plausibility(self) -> Array:
        """Plausibility of each class, (..., K)."""
        return self.forms.plausibility

    @cached_property
    def pignistic(self) -> Array:
        """Pignistic probability, (..., K), by exact quadrature.

        It lies between belief and plausibility, also where another kernel rounded these.
        """
        if self.pooled.logits.shape[-1] == 2:  # besides the classes there is only the frame
            found = self.forms.belief + self.forms.ignorance[..., None] / 2.0
        else:
            found = kernels.pignistic(self.terms)
        xp = array_namespace(self.pooled.logits)
        return frozen(xp.minimum(xp.maximum(found, self.belief), self.plausibility))

    @cached_property
    def weight_of_conflict(self) -> Array:
        r"""Shafer's weight of conflict −ln(1 − κ), (...).

        With the most plausible class k it is
        :math:`\sum_{l \neq k} w^+_l + w^-_k + \ln pl_k`, from the forms that are known already.
        """
        if not isinstance(self.forms.conflict, np.ndarray):
            return kernels.weight_of_conflict(self.terms)
        kappa, plausibility = self.forms.conflict, self.forms.plausibility
        w_for, w_against = self.pooled.weights_for, self.pooled.weights_against
        best = np.argmax(plausibility, axis=-1, keepdims=True)
        others = w_for.copy()
        np.put_along_axis(others, best, 0.0, axis=-1)
        largest = np.take_along_axis(plausibility, best, axis=-1)[..., 0]
        total = others.sum(axis=-1) + np.take_along_axis(w_against, best, axis=-1)[..., 0]
        small = kappa < 0.5
        near = -np.log1p(-np.where(small, kappa, 0.0))
        return np.where(small, near, np.maximum(total + np.log(largest), 0.0))

    @property
    def probability(self) -> Array:
        """Softmax of the logits, (..., K)."""
        return self.forms.probability

    @property
    def log_plausibility(self) -> Array:
        """The logits, (..., K): log plausibilities up to a constant, also where those underflow."""
        return self.pooled.logits

    @cached_property
    def log_belief(self) -> Array:
        """Logarithm of the belief, (..., K): it orders beliefs that underflow."""
        return kernels.log_belief(self.terms)

    def lower_risk(self, loss: Array) -> Array:
        """Lower expected loss of each act, (..., acts)."""
        return kernels.lower_expectation(self.shares, loss)

    def upper_risk(self, loss: Array) -> Array:
        """Upper expected loss of each act, (..., acts)."""
        return kernels.upper_expectation(self.shares, loss)

    @cached_property
    def _flat_shares(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The shares s, u and v of all rows, (rows, K), NumPy."""
        n_classes = self.pooled.logits.shape[-1]
        s, u, v = (to_numpy(x).reshape(-1, n_classes).astype(np.float64) for x in self.shares[:3])
        return s, u, v

    def extreme_points(self, value: FloatArray, rows: NDArray[np.intp]) -> FloatArray:
        """Give s to each class, and the other mass of a set to its member of least value."""
        order = np.argsort(value, kind="stable")
        s, u, v = (x[rows][:, order] for x in self._flat_shares)
        u[:, 1:] *= np.cumprod(v[:, :-1], axis=1)  # no class before it is in the set
        point = np.empty_like(s)
        point[:, order] = s + u
        # Rounding may leave the total an ulp from one.
        normalised: FloatArray = point / point.sum(axis=1, keepdims=True)
        return normalised

    def best_sets(self, utility: FloatArray, alpha: float) -> BoolArray:
        """Choose the set of largest expected utility, by sorting and search."""
        return pooled_best_sets(self.shares, self.terms, utility, alpha)

    def e_admissible_classes(self) -> Array:
        """Mark the E-admissible classes under 0-1 loss."""
        return self.classes_within(self.plausibility)

    def classes_within(self, threshold: Array) -> Array:
        """Mark the classes k for which every set B without k has ``Bel(B) ≤ |B| threshold_k``.

        Parameters
        ----------
        threshold : array of shape (..., K)
            One for each class.

        Returns
        -------
        boolean array of shape (..., K)
        """
        return kernels.e_admissible_classes(
            self.shares, self.pooled.logits, threshold, self.rounding[..., 0]
        )

    @property
    def _eps(self) -> float:
        return float(array_namespace(self.pooled.logits).finfo(self.pooled.logits.dtype).eps)

    @cached_property
    def rounding(self) -> Array:
        """An ulp of the largest weight in the logarithm of each of 2K products, (..., 1)."""
        xp = array_namespace(self.pooled.logits)
        largest = xp.max(self.pooled.weights_for + self.pooled.weights_against, axis=-1)
        size = largest[..., None] + float(self.pooled.logits.shape[-1])
        return xp.clip(16.0 * self._eps * size, max=MOST_ROUNDING)

    @property
    def relative_rounding(self) -> float:
        """A product over K classes, which may be multiplied in another order for each class."""
        return 4.0 * int(self.pooled.logits.shape[-1]) * self._eps

    @property
    def log_rounding(self) -> float:
        """None: the logits are what the model gave, and decide as its own probabilities do."""
        return 0.0

    def in_double(self) -> PooledOpinion:
        """Return the same in double precision."""
        xp = array_namespace(self.pooled.logits)
        if self.pooled.logits.dtype == xp.float64:
            return self
        return PooledOpinion(Pooled(*(xp.astype(array, xp.float64) for array in self.pooled)))
