r"""Uncertainty of the coefficients of a linear head, by Laplace's approximation.

Near their fitted values the coefficients :math:`\theta` have the posterior covariance
:math:`(H + \tau I)^{-1}`: H is the curvature of the log loss over the training rows, :math:`\tau`
the precision of the prior (1/C in logistic regression, where the intercept has none). The
variance of a row's centred logits is summarised by one number (MacKay 1992),

.. math:: \sigma^2(x) = \tfrac{2K}{K-1} \operatorname{mean}_k \operatorname{Var}(z^*_k(x)),

for K = 2 the variance of the log-odds. Only contrasts between classes matter, so the coefficients
are written in an orthonormal basis of K − 1 contrasts, in which they are unique.

With class weights c the loss is not a likelihood: its curvature would count a row of weight 10 as
ten rows. Then the covariance is :math:`(H + \tau I)^{-1} (M + \tau I) (H + \tau I)^{-1}`. Here M is
the covariance of the gradient (``ClassWeighting``). Without class weights M = H.

Over samples, the penalised estimate itself has the covariance
:math:`(H + \tau I)^{-1} \tilde M (H + \tau I)^{-1}`, the sandwich. A direction that the data leave
to the penalty is wide under the posterior, but does not vary over samples. In :math:`\tilde M`
each row counts :math:`1/(1 - h)` times, with h its leverage, the share of its own logits that it
determines: a fit comes too close to such rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Self, final

import numpy as np
from scipy import linalg, sparse
from scipy.special import softmax

from shafer._checks.arrays import row_weights, to_numpy
from shafer._kernels.products import Factor, product
from shafer._text import listed
from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError
from shafer.evidence.errors import class_contrasts
from shafer.evidence.least_commitment import least_commitment
from shafer.models.heads import LinearHead
from shafer.models.read_model import PenalisedLoss

LARGEST_CURVATURE = 4096
"""The most coefficients in one curvature matrix, which is factorised as a whole."""
_BLOCK = 2**22  # elements in memory at a time
_LEAST_LEFT = 0.01  # of 1 − leverage: a row counts at most a hundred times


@final
@dataclass(frozen=True, eq=False)
class LaplacePosterior:
    """The variance of the logits due to coefficient uncertainty.

    Attributes
    ----------
    root : array of shape (J + 1, number of fitted coefficients)
        σ² is the squared length of (features − centre, 1) @ root.
    centre : array of shape (J,)
    """

    root: Annotated[FloatArray, "J+1 r"]
    centre: Annotated[FloatArray, "J"]

    def logit_variance(self, features: Any) -> FloatArray:
        """Return σ² of each row of features (n, J), an array or a sparse matrix."""
        values = plain_features(features)
        if sparse.issparse(values):
            at_zero = self.root[-1] - product(self.centre[None, :], self.root[:-1])[0]
            spread = np.asarray(values @ self.root[:-1]) + at_zero
        else:
            spread = self._slopes.times(values - self.centre) + self.root[-1]
        # Squared and summed row by row: the same bits for a row in any batch.
        variance: FloatArray = np.sum(np.square(np.ascontiguousarray(spread)), axis=1)
        return variance

    @cached_property
    def _slopes(self) -> Factor:
        return Factor(self.root[:-1])

    def __getstate__(self) -> dict[str, Any]:
        return {"root": self.root, "centre": self.centre}  # not what is derived from them


@final
class LaplaceFit:
    """Adds up the curvature of a head's log loss, batch by batch.

    Parameters
    ----------
    head : LinearHead
    precision : float
        τ, of the coefficients as the head holds them.
    free_intercept : bool
        The intercept was fitted; otherwise it is fixed.
    intercept_precision : float
        The precision of the intercept, if it was fitted.
    class_weighting : ClassWeighting, optional
        Weights of the classes in the loss; used by :meth:`coefficient_posterior` only.
    keep_rows : bool
        Keep all batches, which :meth:`sampling_covariance` reads again.
    """

    def __init__(
        self,
        head: LinearHead,
        precision: float,
        free_intercept: bool = True,
        *,
        intercept_precision: float = 0.0,
        class_weighting: ClassWeighting | None = None,
        keep_rows: bool = False,
    ) -> None:
        pool = least_commitment(head.coef, head.intercept)
        n_features, n_classes = pool.beta.shape
        self._coef = to_numpy(pool.beta).astype(np.float64)
        self._intercept = to_numpy(pool.offset).astype(np.float64) * n_features
        self._contrasts = class_contrasts(n_classes)
        # One log-odds z is two logits of half its size, so the precision of the contrast doubles.
        one_logit = np.ndim(head.coef) == 1 or np.shape(head.coef)[0] == 1
        self._precision = 2.0 * precision if one_logit else precision
        self._intercept_precision = intercept_precision * (2.0 if one_logit else 1.0)
        self._free_intercept = free_intercept
        size = n_features + free_intercept
        if size > LARGEST_CURVATURE:
            raise UnsupportedModelError(
                f"moderate='laplace' accepts at most {LARGEST_CURVATURE - 1} features, because it "
                f"needs a matrix of all pairs of them; the model has {n_features}. Select "
                "features, or temper instead: explainer.temper(X_held, y_held) for an "
                "Explainer, temper='cv' for an EvidentialClassifier."
            )
        self._joint = (n_classes - 1) * size <= LARGEST_CURVATURE
        shape = (n_classes - 1, n_classes - 1) if self._joint else (n_classes - 1,)
        self._curvature = np.zeros((*shape, size, size))
        self._weighting = class_weighting
        self._kept: list[tuple[Any, FloatArray | None]] | None = [] if keep_rows else None
        self._gradient = None if class_weighting is None else np.zeros_like(self._curvature)
        # With an intercept without a prior, centring the features only improves the precision: far
        # from zero, a feature and the constant would be almost collinear.
        centred = free_intercept and intercept_precision == 0.0
        self._centre: FloatArray | None = None if centred else np.zeros(n_features)

    @classmethod
    def of_loss(
        cls,
        head: LinearHead,
        loss: PenalisedLoss,
        weighting: ClassWeighting | None = None,
        *,
        keep_rows: bool = False,
    ) -> LaplaceFit:
        """Start with the penalty that a head was trained with."""
        free, precision = loss.intercept_precision is not None, loss.intercept_precision or 0.0
        return cls(
            head,
            loss.precision,
            free,
            intercept_precision=precision,
            class_weighting=weighting,
            keep_rows=keep_rows,
        )

    def take_in(self, features: Any, sample_weight: Any = None) -> Self:
        """Add the curvature of a batch of training rows, features (n, J)."""
        values = plain_features(features)
        weight = row_weights(sample_weight, values.shape[0])
        self.centre_at(values)
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            for block, own in self._blocks(values, weight):
                self._add(block, own)
        if not np.isfinite(self._curvature).all():
            raise ValueError(
                "Laplace's approximation squares the features, and these are too large: up to "
                f"{abs(values).max():.3g}. Scale them with a scaler in front of the model."
            )
        if self._kept is not None:
            self._kept.append((values, weight))
        return self

    def _blocks(
        self, values: Any, weight: FloatArray | None
    ) -> Iterator[tuple[FloatArray, FloatArray | None]]:
        """Yield a few rows at a time, as a dense array."""
        rows = max(1, _BLOCK // (self._curvature.shape[-1] + self._contrasts.shape[1] ** 2))
        for start in range(0, values.shape[0], rows):
            part = slice(start, start + rows)
            block = values[part]
            block = block.toarray() if sparse.issparse(block) else block
            yield block, None if weight is None else weight[part]

    def centre_at(self, features: Any) -> None:
        """Centre the features at the means of these rows, unless they have a centre already."""
        if self._centre is None:
            values = plain_features(features)
            self._centre = np.asarray(values.mean(axis=0), dtype=np.float64).reshape(-1)

    def merge(self, other: LaplaceFit) -> None:
        """Add the curvature of other rows, of the same head and with the same centre."""
        mine, others = self._centre, other._centre
        if mine is None or others is None or not np.array_equal(mine, others):
            raise ValueError("Only curvatures with the same centre can be added.")
        self._curvature += other._curvature
        if self._gradient is not None and other._gradient is not None:
            self._gradient += other._gradient

    def _add(self, block: FloatArray, weight: FloatArray | None) -> None:
        """Add Σ_i Cᵀ(diag p − ppᵀ)C ⊗ φφᵀ, all pairs of contrasts or each by itself."""
        extended, curvature, gradient = self._of_rows(block)
        if self._gradient is not None:
            self._add_products(self._gradient, gradient, extended, weight)
        self._add_products(self._curvature, curvature, extended, weight)

    def _of_rows(self, block: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the features with a column of ones, and each row's curvature and gradient.

        The last two are of the logits, in contrasts (n, C, C).
        """
        assert self._centre is not None
        values = block - self._centre
        p = softmax(values @ self._coef + (self._intercept + self._centre @ self._coef), axis=1)
        mean = p @ self._contrasts
        between = np.einsum("ik,ka,kb->iab", p, self._contrasts, self._contrasts, optimize=True)
        between -= mean[:, :, None] * mean[:, None, :]
        extended = np.column_stack([values, np.ones(len(values))])[:, : self._curvature.shape[-1]]
        if self._weighting is None:
            return extended, between, between
        counted, spread = self._weighting.expected(p, self._contrasts)
        return extended, between * counted[:, None, None], spread

    def _add_products(
        self,
        total: FloatArray,
        between: FloatArray,
        extended: FloatArray,
        weight: FloatArray | None,
    ) -> None:
        """Add Σ_i between_i ⊗ φφᵀ, given the features with a column of ones."""
        if weight is not None:
            between = between * weight[:, None, None]
        n_contrasts = self._contrasts.shape[1]
        for a in range(n_contrasts):
            for b in range(a, n_contrasts) if self._joint else (a,):
                block = extended.T @ (between[:, a, b, None] * extended)
                if not self._joint:
                    total[a] += block
                    continue
                total[a, b] += block
                if a != b:
                    total[b, a] += block

    def coefficient_posterior(self, names: Sequence[str]) -> CoefficientPosterior:
        """Return the covariance of all coefficients of all classes, given all batches.

        There must be at most ``LARGEST_CURVATURE`` of them, the intercepts included.

        Parameters
        ----------
        names : sequence of J strings
            Names of the features, for an error.
        """
        gradient = self._curvature if self._gradient is None else self._gradient
        return CoefficientPosterior.fit(
            self._curvature, gradient, self._prior(), self._fitted_centre(), names
        )

    def sampling_covariance(self, names: Sequence[str]) -> CoefficientPosterior:
        """Return the covariance of the penalised coefficients over samples, given all batches.

        The rows must have been kept.

        Parameters
        ----------
        names : sequence of J strings
            As in :meth:`coefficient_posterior`.
        """
        assert self._kept is not None
        curvature = self._curvature
        inverse = CoefficientPosterior.fit(
            curvature, curvature, self._prior(), self._fitted_centre(), names, "sandwich"
        )
        size = curvature.shape[-1]
        between = inverse.covariance[:, :size, :, :size]
        total = np.zeros_like(curvature)
        for values, weight in self._kept:
            for block, own in self._blocks(values, weight):
                extended, curved, gradient = self._of_rows(block)
                left = 1.0 - _leverage(extended, curved, between)
                counted = gradient / np.maximum(left, _LEAST_LEFT)[:, None, None]
                self._add_products(total, counted, extended, own)
        return inverse.sandwiched(total)

    def _fitted_centre(self) -> FloatArray:
        return np.zeros(len(self._coef)) if self._centre is None else self._centre

    def _prior(self) -> FloatArray:
        """Return the precision of each coefficient, and of the intercept if it is free."""
        prior = np.full(self._curvature.shape[-1], self._precision)
        if self._free_intercept:
            prior[-1] = self._intercept_precision
        return prior

    def posterior(self) -> LaplacePosterior:
        """Return the posterior, given all batches."""
        n_classes, n_contrasts = self._contrasts.shape
        size = self._curvature.shape[-1]
        prior = self._prior()
        if self._joint:
            flat = self._curvature.transpose(0, 2, 1, 3).reshape(n_contrasts * size, -1)
            inverse = _inverse(flat + np.diag(np.tile(prior, n_contrasts)))
            blocks = [inverse[a : a + size, a : a + size] for a in range(0, len(flat), size)]
        else:
            blocks = [_inverse(block + np.diag(prior)) for block in self._curvature]
        # Σ_k Var(z*_k) is the sum over the contrasts; its mean has 1/K.
        gathered = np.sum(blocks, axis=0) * (2.0 / (n_classes - 1))
        # Scaled as in _inverse, because features may have very different sizes.
        scale = np.sqrt(np.diag(gathered))
        values, vectors = np.linalg.eigh(gathered / scale / scale[:, None])
        root = np.zeros((len(self._coef) + 1, size))
        root[:size] = scale[:, None] * vectors * np.sqrt(np.clip(values, 0.0, None))
        return LaplacePosterior(root, self._fitted_centre())


def _leverage(extended: FloatArray, curved: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return the leverage of each row, (n,): averaged over the contrasts, for a weight of 1."""
    n_contrasts = curved.shape[1]
    total = np.zeros(len(extended))
    for a in range(n_contrasts):
        for b in range(n_contrasts):
            form = ((extended @ covariance[a, :, b]) * extended).sum(axis=1)
            total += curved[:, b, a] * form
    return np.asarray(total / n_contrasts)


def plain_features(features: Any) -> Any:
    """Return features in double precision in NumPy; a sparse matrix stays sparse."""
    if sparse.issparse(features):
        return sparse.csr_array(features, dtype=np.float64)
    return to_numpy(features).astype(np.float64, copy=False)


def _inverse(curvature: FloatArray) -> FloatArray:
    """Invert a curvature; directions without data and prior get a weak prior."""
    # Scaled to a unit diagonal, so that features of any size are treated alike.
    diagonal = np.diag(curvature)
    floor = max(1e-12 * diagonal.max(), np.finfo(float).tiny)
    scale = 1.0 / np.sqrt(np.maximum(diagonal, floor))
    scaled = curvature * scale[:, None] * scale
    for weak in (0.0, 1e-10, 1e-8, 1e-6):
        try:
            factor = linalg.cho_factor(scaled + weak * np.eye(len(scaled)))
        except linalg.LinAlgError:
            continue
        inverse = linalg.cho_solve(factor, np.eye(len(scaled)))
        return np.asarray(inverse * scale[:, None] * scale)
    raise ValueError(
        "Laplace's approximation cannot invert the curvature of the log loss: the matrix is not "
        "positive definite. Check that all features are finite, and scale them."
    )


# What class weights in the log loss do to the curvature and the gradient.


@final
@dataclass(frozen=True, eq=False)
class ClassWeighting:
    """Class weights of a log loss.

    Attributes
    ----------
    weights : array of shape (K,)
        c, all > 0.
    """

    weights: FloatArray

    @classmethod
    def read(cls, class_weight: Any, classes: Any, kind: str = "laplace") -> ClassWeighting | None:
        """Read scikit-learn's ``class_weight``; None if all classes count the same.

        Raises
        ------
        UnsupportedModelError
            For balanced weights, which depend on the classes of the training rows, and for
            weights of 0.
        """
        if class_weight is None:
            return None
        if not isinstance(class_weight, Mapping):
            raise UnsupportedModelError(
                f"errors={kind!r} needs the weights of the classes; class_weight={class_weight!r} "
                "leaves them to the training data, and the model does not store them. Train with "
                "a dictionary, class_weight={label: n / (K * count)}, or use errors='bootstrap' "
                "with refits=."
            )
        labels = np.asarray(classes).tolist()
        weights = np.array([float(class_weight.get(label, 1.0)) for label in labels])
        if not (weights > 0.0).all():
            zero = labels[int(np.argmin(weights))]
            raise UnsupportedModelError(
                f"errors={kind!r} needs class weights > 0; class {zero!r} has the weight "
                f"{weights.min():g}, so its rows played no part in training. Use "
                "errors='bootstrap' with refits=."
            )
        return cls(weights)

    def expected(self, p: FloatArray, contrasts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the expected weight (n,) of rows, and the outer products of their gradients.

        Parameters
        ----------
        p : array of shape (n, K)
            The fitted probabilities.
        contrasts : array of shape (K, C)
            The outer products are those of the contrasts, (n, C, C).
        """
        counted = 1.0 / (p @ (1.0 / self.weights))
        q = p * self.weights * counted[:, None]
        mean, moment = p @ contrasts, q @ contrasts
        spread = np.einsum("ik,ka,kb->iab", q, contrasts, contrasts, optimize=True)
        cross = moment[:, :, None] * mean[:, None, :]
        spread -= cross + cross.transpose(0, 2, 1)
        spread += q.sum(axis=1)[:, None, None] * mean[:, :, None] * mean[:, None, :]
        return counted, spread


# The covariance of all coefficients of a linear head.

# Reciprocal condition numbers below this leave no correct digit of the largest variance.
_SINGULAR = 1e-13


@final
@dataclass(frozen=True, eq=False)
class CoefficientPosterior:
    """Laplace's approximation of the posterior of all coefficients of all classes together.

    Or, with the same shapes, their covariance over samples.

    Attributes
    ----------
    covariance : array of shape (K − 1, J + 1, K − 1, J + 1)
        Of the coefficients and, last, the intercept at the centre, in orthonormal contrasts of the
        classes (``class_contrasts``).
    centre : array of shape (J,)
    """

    covariance: FloatArray
    centre: FloatArray

    @classmethod
    def fit(
        cls,
        curvature: FloatArray,
        gradient: FloatArray,
        prior: FloatArray,
        centre: FloatArray,
        names: Sequence[str],
        kind: str = "laplace",
    ) -> CoefficientPosterior:
        """Invert the curvature.

        Parameters
        ----------
        curvature, gradient : arrays of shape (K − 1, K − 1, T, T)
            The curvature of the log loss and the covariance of its gradient, one block for each
            pair of contrasts. T is J + 1, or J if the intercept is fixed.
        prior : array of shape (T,)
            Precisions of the prior.
        centre : array of shape (J,)
        names : sequence of J strings
        kind : {"laplace", "sandwich"}
            The error bars that were asked for, for an error.
        """
        n_contrasts, _, size, _ = curvature.shape
        precision = np.diag(np.tile(prior, n_contrasts))
        whole = _flat(curvature) + precision
        inverse = _posterior_inverse(whole)
        if inverse is None:
            raise ValueError(_flat_loss(curvature[0, 0] + np.diag(prior), prior, names, kind))
        if gradient is not curvature:
            inverse = inverse @ (_flat(gradient) + precision) @ inverse
        covariance = np.zeros((n_contrasts, len(centre) + 1, n_contrasts, len(centre) + 1))
        covariance[:, :size, :, :size] = inverse.reshape(n_contrasts, size, n_contrasts, size)
        return cls(covariance, centre)

    def sandwiched(self, gradient: FloatArray) -> CoefficientPosterior:
        """Return this covariance times that of the gradient (C, C, T, T), times this one again."""
        n_contrasts, _, size, _ = gradient.shape
        inverse = self.covariance[:, :size, :, :size].reshape(n_contrasts * size, -1)
        result = np.zeros_like(self.covariance)
        middle = inverse @ _flat(gradient) @ inverse
        result[:, :size, :, :size] = middle.reshape(n_contrasts, size, n_contrasts, size)
        return CoefficientPosterior(result, self.centre)

    def at_means(self, means: FloatArray) -> FloatArray:
        """Return the covariance with the base rate, the intercept at the means, in last place."""
        shift = means - self.centre
        result = self.covariance.copy()
        result[:, -1] += np.einsum("j,ajbl->abl", shift, result[:, :-1])
        result[:, :, :, -1] += np.einsum("l,ajbl->ajb", shift, result[:, :, :, :-1])
        return result


def _flat(blocks: FloatArray) -> FloatArray:
    n_contrasts, _, size, _ = blocks.shape
    return blocks.transpose(0, 2, 1, 3).reshape(n_contrasts * size, -1)


def _posterior_inverse(curvature: FloatArray) -> FloatArray | None:
    """Invert a positive definite matrix; None if it is singular."""
    diagonal = np.diag(curvature)
    if not (diagonal > 0.0).all():
        return None
    # Scaled to a unit diagonal, so that features of any size are treated alike.
    scale = 1.0 / np.sqrt(diagonal)
    scaled = curvature * scale[:, None] * scale
    try:
        factor = linalg.cho_factor(scaled, lower=True)
    except linalg.LinAlgError:
        return None
    reciprocal, _ = linalg.lapack.dpocon(factor[0], np.abs(scaled).sum(axis=0).max(), uplo="L")
    if reciprocal < _SINGULAR:
        return None
    inverse = linalg.cho_solve(factor, np.eye(len(scaled)))
    return np.asarray((inverse + inverse.T) / 2.0 * scale[:, None] * scale)


def _flat_loss(curvature: FloatArray, prior: FloatArray, names: Sequence[str], kind: str) -> str:
    """Return the text of an error, with the features along which the loss is flat."""
    diagonal = np.diag(curvature)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    values, vectors = np.linalg.eigh(curvature * scale[:, None] * scale)
    flat = vectors[:, values <= max(values[0], 1e-10)]
    involved = np.flatnonzero((flat**2).sum(axis=1)[: len(names)] > 0.01).tolist()
    which = f" in the coefficients of {listed([names[j] for j in involved])}" if involved else ""
    penalty = "without a penalty" if not prior.any() else "with so weak a penalty"
    return (
        f"errors={kind!r} needs coefficients that the background determines. Here, {penalty}, the "
        f"log loss is flat{which}: features are constant, repeat each other or separate the "
        "classes perfectly. Train with a penalty (a smaller C), or remove such features."
    )
