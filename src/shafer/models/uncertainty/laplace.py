r"""Uncertainty of the coefficients of a linear head, by Laplace's approximation.

Near their fitted values the coefficients :math:`\theta` have the posterior covariance
:math:`(H + \tau I)^{-1}`: H is the curvature of the log loss over the training rows, :math:`\tau`
the precision of the prior (1/C in logistic regression, where the intercept has none). The
variance of a row's centred logits is summarised by one number (MacKay 1992),

.. math:: \sigma^2(x) = \tfrac{2K}{K-1} \operatorname{mean}_k \operatorname{Var}(z^*_k(x)),

for K = 2 the variance of the log-odds. Only contrasts between classes matter, so the coefficients
are written in an orthonormal basis of K − 1 contrasts, in which they are unique.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from scipy import linalg, sparse
from scipy.special import softmax

from shafer._errors import UnsupportedModelError
from shafer._typing import FloatArray
from shafer._validation import row_weights, to_numpy
from shafer.evidence import least_commitment
from shafer.models.heads import LinearHead

LARGEST_CURVATURE = 4096
"""The most coefficients in one curvature matrix, which is factorised as a whole."""
_BLOCK = 2**22  # elements in memory at a time


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

    root: FloatArray
    centre: FloatArray

    def logit_variance(self, features: Any) -> FloatArray:
        """Return σ² of each row of features (n, J), an array or a sparse matrix."""
        values = plain_features(features)
        if sparse.issparse(values):
            at_zero = self.root[-1] - self.centre @ self.root[:-1]
            spread = np.asarray(values @ self.root[:-1]) + at_zero
        else:
            spread = (values - self.centre) @ self.root[:-1] + self.root[-1]
        variance: FloatArray = np.einsum("ij,ij->i", spread, spread)
        return variance


@final
class LaplaceFit:
    """Adds up the curvature of a head's log loss, batch by batch.

    Parameters
    ----------
    head : LinearHead
    precision : float
        τ, of the coefficients as the head holds them.
    free_intercept : bool
        The intercept was fitted, without a prior; otherwise it is fixed.
    """

    def __init__(self, head: LinearHead, precision: float, free_intercept: bool = True) -> None:
        pool = least_commitment(head.coef, head.intercept)
        n_features, n_classes = pool.beta.shape
        self._coef = to_numpy(pool.beta).astype(np.float64)
        self._intercept = to_numpy(pool.offset).astype(np.float64) * n_features
        self._contrasts = linalg.helmert(n_classes).T  # (K, K - 1), orthonormal
        # One log-odds z is two logits of half its size, so the precision of the contrast doubles.
        one_logit = np.ndim(head.coef) == 1 or np.shape(head.coef)[0] == 1
        self._precision = 2.0 * precision if one_logit else precision
        self._free_intercept = free_intercept
        size = n_features + free_intercept
        if size > LARGEST_CURVATURE:
            raise UnsupportedModelError(
                f"moderate='laplace' accepts at most {LARGEST_CURVATURE - 1} features, because it "
                f"needs a matrix of all pairs of them; the model has {n_features}. Select "
                "features, or use temper='cv' alone."
            )
        self._joint = (n_classes - 1) * size <= LARGEST_CURVATURE
        shape = (n_classes - 1, n_classes - 1) if self._joint else (n_classes - 1,)
        self._curvature = np.zeros((*shape, size, size))
        # With a free intercept, centring the features only improves the precision: far from zero,
        # a feature and the constant would be almost collinear.
        self._centre: FloatArray | None = None if free_intercept else np.zeros(n_features)

    def take_in(self, features: Any, sample_weight: Any = None) -> Self:
        """Add the curvature of a batch of training rows, features (n, J)."""
        values = plain_features(features)
        weight = row_weights(sample_weight, values.shape[0])
        if self._centre is None:
            self._centre = np.asarray(values.mean(axis=0), dtype=np.float64).reshape(-1)
        rows = max(1, _BLOCK // (self._curvature.shape[-1] + self._contrasts.shape[1] ** 2))
        for start in range(0, values.shape[0], rows):
            part = slice(start, start + rows)
            block = values[part]
            block = block.toarray() if sparse.issparse(block) else block
            with np.errstate(over="ignore", invalid="ignore"):  # checked below
                self._add(block, self._centre, None if weight is None else weight[part])
        if not np.isfinite(self._curvature).all():
            raise ValueError(
                "moderate='laplace' squares the features, and these are too large: up to "
                f"{abs(values).max():.3g}. Scale them with a scaler in front of the model."
            )
        return self

    def _add(self, block: FloatArray, centre: FloatArray, weight: FloatArray | None) -> None:
        """Add Σ_i Cᵀ(diag p − ppᵀ)C ⊗ φφᵀ, all pairs of contrasts or each by itself."""
        values = block - centre
        p = softmax(values @ self._coef + (self._intercept + centre @ self._coef), axis=1)
        mean = p @ self._contrasts
        between = np.einsum("ik,ka,kb->iab", p, self._contrasts, self._contrasts, optimize=True)
        between -= mean[:, :, None] * mean[:, None, :]
        if weight is not None:
            between *= weight[:, None, None]
        extended = np.column_stack([values, np.ones(len(values))])[:, : self._curvature.shape[-1]]
        n_contrasts = self._contrasts.shape[1]
        for a in range(n_contrasts):
            for b in range(a, n_contrasts) if self._joint else (a,):
                block = extended.T @ (between[:, a, b, None] * extended)
                if not self._joint:
                    self._curvature[a] += block
                    continue
                self._curvature[a, b] += block
                if a != b:
                    self._curvature[b, a] += block

    def posterior(self) -> LaplacePosterior:
        """Return the posterior, given all batches."""
        n_classes, n_contrasts = self._contrasts.shape
        size = self._curvature.shape[-1]
        prior = np.full(size, self._precision)
        if self._free_intercept:
            prior[-1] = 0.0
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
        centre = np.zeros(len(self._coef)) if self._centre is None else self._centre
        return LaplacePosterior(root, centre)


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
        "moderate='laplace' cannot invert the curvature of the log loss: the matrix is not "
        "positive definite. Check that all features are finite, and scale them."
    )
