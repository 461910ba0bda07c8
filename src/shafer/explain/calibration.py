r"""Accounting for coefficient uncertainty: smaller weights, and a discount.

Laplace moderation multiplies all weights of a row by
:math:`\kappa(x) = (1 + \pi\sigma^2(x)/8)^{-1/2}` (MacKay 1992). Where the data determine the
coefficients poorly, the weights shrink. The order of the classes stays the same. The errors of
correlated features cancel only jointly, so all components of a row get the same factor.

The epistemic discount is reported in addition. Ignorance m(Θ) cannot exceed the smallest
plausibility, so weights alone cannot show that a row is out of distribution while its
probabilities are confident. Bet with the moderated probabilities p, and report a mass function
discounted by the reliability r.

.. math:: v = \frac{\sigma^2}{2}
              \frac{\sum_k p_k^2 (1 - 2 p_k + \sum_l p_l^2)}{1 - \sum_l p_l^2}, \qquad
          r = \frac{\rho(x)}{1 + v},

where v, for K = 2 just :math:`\sigma^2 p (1 - p)`, is the variance of the probabilities relative
to that of one draw, and ρ the nearness to the background (``Familiarity``).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Annotated, Any, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from shafer._checks.arrays import row_weights, to_numpy
from shafer._typing import Array, FloatArray
from shafer.errors import UnsupportedModelError
from shafer.explain.laplace import LaplaceFit, LaplacePosterior
from shafer.models.read_model import LinearModel, ModelRows, OwnCalibration, ReadModel
from shafer.rows.access import values_of

KINDS = ("laplace", "laplace+discount")


@final
@dataclass(frozen=True, eq=False)
class Moderation:
    """The factor on the weights of a row, and the reliability of its mass function."""

    posterior: LaplacePosterior
    familiarity: Familiarity | None

    def factor(self, rows: ModelRows) -> FloatArray:
        """Return κ of each row."""
        return moderating_factor(self.posterior.logit_variance(rows.terms))

    def reliability(self, rows: ModelRows, probability: Array) -> FloatArray | None:
        """Return r of each row, given its moderated probabilities; None without a discount."""
        if self.familiarity is None:
            return None
        variance = self.posterior.logit_variance(rows.terms)
        spread = relative_variance(variance, to_numpy(probability))
        return self.familiarity(inputs_of(rows.encoded)) / (1.0 + spread)

    def calibrated(self, held_out: ModelRows) -> Moderation:
        """Take the distances of in-distribution rows from held-out rows."""
        if self.familiarity is None:
            return self
        familiarity = self.familiarity.calibrated(inputs_of(held_out.encoded))
        return replace(self, familiarity=familiarity)


@final
@dataclass(frozen=True, eq=False)
class Calibration(OwnCalibration):
    """What tempering and moderation make of a model's weights, in one object.

    Attributes
    ----------
    tempering : float
        The factor on all weights.
    moderation : Moderation, optional
    inner : OwnCalibration, optional
        The calibration of the classifier inside, if that has its own.
    """

    tempering: float = 1.0
    moderation: Moderation | None = None
    inner: OwnCalibration | None = None

    @property
    def moderates(self) -> bool:
        """Whether the factors depend on the row."""
        return self.moderation is not None or (self.inner is not None and self.inner.moderates)

    @property
    def discounts(self) -> bool:
        """Whether the mass functions are discounted, here or by the classifier inside."""
        if self.moderation is not None:
            return self.moderation.familiarity is not None
        return self.inner is not None and self.inner.discounts

    @property
    def is_plain(self) -> bool:
        """Whether the weights stay as they are."""
        return self.tempering == 1.0 and self.moderation is None and self.inner is None

    def factor(self, rows: ModelRows) -> float | FloatArray:
        """Return one factor on all weights, or one for each row."""
        inner = 1.0 if self.inner is None else self.inner.factor(rows)
        if self.moderation is None:
            return self.tempering * inner
        return self.tempering * self.moderation.factor(rows) * inner

    def reliability(self, rows: ModelRows, probability: Array) -> FloatArray | None:
        """Return the reliability of each row; None without a discount."""
        if self.moderation is not None:
            return self.moderation.reliability(rows, probability)
        return None if self.inner is None else self.inner.reliability(rows, probability)


@final
class ModerationFit:
    """Collects what moderation needs from the background, batch by batch."""

    def __init__(self, adapted: ReadModel, kind: str) -> None:
        if kind not in KINDS:
            raise ValueError(
                f"moderate must be None, 'laplace' or 'laplace+discount'; got {kind!r}."
            )
        if adapted.calibration is not None and adapted.calibration.moderates:
            raise ValueError(
                f"moderate={kind!r} was given, but the model is an EvidentialClassifier that is "
                "already moderated. Leave moderate=None: its own moderation is used."
            )
        if not isinstance(adapted, LinearModel) or adapted.loss is None:
            raise UnsupportedModelError(
                "moderate='laplace' needs a linear head trained by penalised log loss: a "
                "LogisticRegression, an MLPClassifier, a torch module, alone or at the end of a "
                "pipeline. Leave moderate out for this model, and temper it: "
                "explainer.temper(X_held, y_held) for an Explainer, temper='cv' for an "
                "EvidentialClassifier."
            )
        self._laplace = LaplaceFit.of_loss(adapted.head, adapted.loss)
        self._inputs: list[FloatArray] | None = [] if kind == "laplace+discount" else None

    def take_in(self, rows: ModelRows, sample_weight: Any = None) -> Self:
        """Add a batch of background rows."""
        self._laplace.take_in(rows.terms, sample_weight)
        if self._inputs is not None:
            inputs = inputs_of(rows.encoded)
            weight = row_weights(sample_weight, len(inputs))
            # Rows with zero sample weight are ignored: no row is familiar for being near to them.
            self._inputs.append(inputs if weight is None else inputs[weight > 0.0])
        return self

    def centre_at(self, features: Any) -> None:
        """Fix the centre of the curvature, so that those of several parts can be merged."""
        self._laplace.centre_at(features)

    def merge(self, other: ModerationFit) -> None:
        """Add the rows of another part, with the same centre."""
        self._laplace.merge(other._laplace)
        if self._inputs is not None and other._inputs is not None:
            self._inputs += other._inputs

    def moderation(self) -> Moderation:
        """Return the moderation, given all batches."""
        near = None if self._inputs is None else Familiarity.fit(np.concatenate(self._inputs))
        return Moderation(self._laplace.posterior(), near)


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


# How near a row is to the background (training) rows.

_NEIGHBOURS = 5
_CANDIDATES = 10  # the nearest are among them, also where the search rounds ties
_BLOCK = 2**20  # elements in memory at a time
_MOST_ROWS = 10_000  # background rows that are kept to search for neighbours
_ENOUGH_ROWS = 20  # held-out rows from which quantiles can be taken
# In standard deviations: well above the effect of rounding a column to single precision.
_SAME = 1e-6


@final
@dataclass(frozen=True, eq=False)
class Familiarity:
    """The share ρ in (0, 1] of the evidence that the nearness to the background supports.

    Make one with :meth:`fit`.

    Attributes
    ----------
    rows : array of shape (n, J)
        Background rows, standardised.
    centre, scale : arrays of shape (J,)
        The means and standard deviations of the inputs.
    q50, q90 : float
        Quantiles of the distance of in-distribution rows.
    """

    rows: Annotated[FloatArray, "n d"]
    centre: Annotated[FloatArray, "d"]
    scale: Annotated[FloatArray, "d"]
    q50: float
    q90: float

    @classmethod
    def fit(cls, background: FloatArray) -> Familiarity:
        """Keep background rows (n, J), and take the quantiles from them."""
        if len(background) < 3:
            raise ValueError(
                f"moderate='laplace+discount' needs at least 3 background rows to compare with; "
                f"got {len(background)}. Give more rows, or use moderate='laplace'."
            )
        if len(background) > _MOST_ROWS:
            chosen = np.random.default_rng(0).choice(len(background), _MOST_ROWS, replace=False)
            background = background[np.sort(chosen)]
        scaler = StandardScaler().fit(background)
        rows = scaler.transform(background)
        unmeasured = cls(rows, np.asarray(scaler.mean_), np.asarray(scaler.scale_), 0.0, 0.0)
        # Without rows given, a row is no neighbour of itself.
        near = unmeasured._index.kneighbors(return_distance=False)
        return unmeasured._with_quantiles(unmeasured._smallest(rows, near))

    def calibrated(self, held_out: FloatArray) -> Familiarity:
        """Take the quantiles from held-out rows (m, J), if there are enough of them."""
        if len(held_out) < _ENOUGH_ROWS:
            return self
        return self._with_quantiles(self._nearest(self._standardised(held_out)))

    def _with_quantiles(self, distances: FloatArray) -> Familiarity:
        q50, q90 = np.quantile(distances.mean(axis=1), [0.5, 0.9])
        return replace(self, q50=float(q50), q90=float(q90))

    @cached_property
    def _index(self) -> NearestNeighbors:
        return NearestNeighbors(n_neighbors=min(_CANDIDATES, len(self.rows) - 1)).fit(self.rows)

    def _nearest(self, rows: FloatArray) -> FloatArray:
        """Return the distances of standardised rows to their nearest background rows."""
        return self._smallest(rows, self._index.kneighbors(rows, return_distance=False))

    def _smallest(self, rows: FloatArray, near: NDArray[np.intp]) -> FloatArray:
        """Return the smallest distances to some background rows, with equal bits in any batch.

        The search may take them from a matrix product, whose digits depend on the batch.
        """
        found = np.empty((len(rows), min(_NEIGHBOURS, near.shape[1])))
        step = max(1, _BLOCK // max(1, near.shape[1] * rows.shape[1]))
        for start in range(0, len(rows), step):
            block = slice(start, start + step)
            squares = (self.rows[near[block]] - rows[block, None, :]) ** 2
            distances = np.sqrt(np.sum(np.ascontiguousarray(squares), axis=2))
            found[block] = np.sort(distances, axis=1)[:, : found.shape[1]]
        return found

    def _standardised(self, rows: FloatArray) -> FloatArray:
        return np.asarray((rows - self.centre) / self.scale)

    def distance(self, rows: FloatArray) -> FloatArray:
        """Return the mean distance of each row to its nearest background rows."""
        return np.asarray(self._nearest(self._standardised(rows)).mean(axis=1))

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Return ρ of each row of inputs (n, J)."""
        beyond = np.maximum(0.0, self.distance(rows) - self.q90)
        # If background rows repeat each other, both quantiles may be equal. Then every distance
        # beyond them is large, except for the effect of rounding.
        spread = max(self.q90 - self.q50, _SAME * np.sqrt(rows.shape[1]))
        return np.asarray(np.exp(-beyond / spread))

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # not the index


def inputs_of(encoded: Any) -> FloatArray:
    """Return a model's (encoded) inputs as one row of numbers each."""
    if sparse.issparse(encoded):
        return np.asarray(encoded.toarray(), dtype=np.float64)
    values = to_numpy(values_of(encoded)).astype(np.float64)
    return values.reshape(len(values), -1)
