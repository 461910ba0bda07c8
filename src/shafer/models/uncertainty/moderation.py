r"""Honest weights: evidence worth no more than its estimates are.

Laplace moderation multiplies all weights of a row by
:math:`\kappa(x) = (1 + \pi\sigma^2(x)/8)^{-1/2}` (MacKay 1992): where the coefficients are poorly
determined, the evidence shrinks, and no class changes its rank. The errors of correlated features
cancel only jointly, so the components are not moderated one by one.

The epistemic discount is reported beside it. Ignorance m(Θ) cannot exceed the smallest
plausibility, so no weights can say "unlike anything seen" while the probabilities stay confident:
bet with the moderated probabilities p, and report a mass function discounted by r.

.. math:: v = \frac{\sigma^2}{2}
              \frac{\sum_k p_k^2 (1 - 2 p_k + \sum_l p_l^2)}{1 - \sum_l p_l^2}, \qquad
          r = \frac{\rho(x)}{1 + v},

where v, for K = 2 just :math:`\sigma^2 p (1 - p)`, is the variance of the probabilities relative
to that of one draw, and ρ the nearness to the background (``familiarity.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from shafer._errors import UnsupportedModelError
from shafer._typing import FloatArray
from shafer._validation import row_weights, to_numpy
from shafer.models.readers.adapted_model import AdaptedModel, LinearModel
from shafer.models.uncertainty.familiarity import Familiarity, inputs_of
from shafer.models.uncertainty.laplace import LaplaceFit, LaplacePosterior

KINDS = ("laplace", "laplace+discount")


@final
@dataclass(frozen=True, eq=False)
class Moderation:
    """What a row's evidence is worth: the factor on its weights, and the discount of its mass."""

    model: LinearModel
    posterior: LaplacePosterior
    familiarity: Familiarity | None

    def factor(self, X: Any) -> FloatArray:
        """Return κ of each row."""
        return moderating_factor(self._variance(X))

    def reliability(self, X: Any, probability: FloatArray) -> FloatArray:
        """Return r of each row, given the probabilities that are bet on; needs the discount."""
        assert self.familiarity is not None
        spread = relative_variance(self._variance(X), probability)
        return self.familiarity(inputs_of(self.model.encoded(X))) / (1.0 + spread)

    def calibrate(self, X: Any) -> None:
        """Let held-out rows say how far from the background rows that belong may lie."""
        if self.familiarity is not None:
            self.familiarity.calibrate(inputs_of(self.model.encoded(X)))

    def _variance(self, X: Any) -> FloatArray:
        return self.posterior.logit_variance(self.model.terms(X))


@final
class ModerationFit:
    """Gathers what moderation needs from the background, batch by batch."""

    def __init__(self, adapted: AdaptedModel, kind: str) -> None:
        if kind not in KINDS:
            raise ValueError(
                f"moderate must be None, 'laplace' or 'laplace+discount'; got {kind!r}."
            )
        if not isinstance(adapted, LinearModel) or adapted.precision is None:
            raise UnsupportedModelError(
                "moderate='laplace' needs a linear head trained by penalised log loss: a "
                "LogisticRegression, an MLPClassifier, a torch module, alone or at the end of a "
                "pipeline. Use temper='cv' alone for this model."
            )
        self._model = adapted
        self._laplace = LaplaceFit(adapted.head, adapted.precision, adapted.free_intercept)
        self._inputs: list[FloatArray] | None = [] if kind == "laplace+discount" else None

    def take_in(self, X: Any, sample_weight: Any = None) -> Self:
        """Take in a batch of background rows."""
        self._laplace.take_in(self._model.terms(X), sample_weight)
        if self._inputs is not None:
            inputs = inputs_of(self._model.encoded(X))
            weight = row_weights(sample_weight, len(inputs))
            # A row without weight is not there, so nothing is near for being near to it.
            self._inputs.append(inputs if weight is None else inputs[weight > 0.0])
        return self

    def moderation(self) -> Moderation:
        """Return the moderation, given all batches."""
        near = None if self._inputs is None else Familiarity(np.concatenate(self._inputs))
        return Moderation(self._model, self._laplace.posterior(), near)


def moderating_factor(variance: FloatArray) -> FloatArray:
    r"""Return :math:`\kappa = (1 + \pi\sigma^2/8)^{-1/2}`."""
    return np.asarray(1.0 / np.sqrt(1.0 + np.pi / 8.0 * variance))


def relative_variance(variance: FloatArray, probability: FloatArray) -> FloatArray:
    """Return v: the variance of the probabilities as a share of p(1 − p), summed."""
    p = to_numpy(probability).astype(np.float64)
    # Sums over the other classes, not differences from 1, so that confident rows keep digits.
    others = _sum_of_others(p)
    squares_of_others = _sum_of_others(p**2)
    above = np.sum(p**2 * (others**2 + squares_of_others), axis=1)
    below = np.sum(p * others, axis=1)
    share = np.divide(above, below, out=np.zeros_like(above), where=below > 0.0)
    return np.asarray(variance / 2.0 * share)


def _sum_of_others(values: FloatArray) -> FloatArray:
    """Return for each class the sum over the other ones, without cancellation."""
    before, after = np.zeros_like(values), np.zeros_like(values)
    before[:, 1:] = np.cumsum(values[:, :-1], axis=1)
    after[:, :-1] = np.cumsum(values[:, :0:-1], axis=1)[:, ::-1]
    return before + after
