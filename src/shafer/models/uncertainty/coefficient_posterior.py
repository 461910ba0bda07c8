"""``CoefficientPosterior``: the covariance of all coefficients of a linear head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import linalg

from shafer._text import listed
from shafer._typing import FloatArray

# Reciprocal condition numbers below this leave no correct digit of the largest variance.
_SINGULAR = 1e-13


@final
@dataclass(frozen=True, eq=False)
class CoefficientPosterior:
    """Laplace's approximation of the posterior of all coefficients of all classes together.

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
        """
        n_contrasts, _, size, _ = curvature.shape
        precision = np.diag(np.tile(prior, n_contrasts))
        whole = _flat(curvature) + precision
        inverse = _inverse(whole)
        if inverse is None:
            raise ValueError(_flat_loss(curvature[0, 0] + np.diag(prior), prior, names))
        if gradient is not curvature:
            inverse = inverse @ (_flat(gradient) + precision) @ inverse
        covariance = np.zeros((n_contrasts, len(centre) + 1, n_contrasts, len(centre) + 1))
        covariance[:, :size, :, :size] = inverse.reshape(n_contrasts, size, n_contrasts, size)
        return cls(covariance, centre)

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


def _inverse(curvature: FloatArray) -> FloatArray | None:
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


def _flat_loss(curvature: FloatArray, prior: FloatArray, names: Sequence[str]) -> str:
    """Return the text of an error, with the features along which the loss is flat."""
    diagonal = np.diag(curvature)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    values, vectors = np.linalg.eigh(curvature * scale[:, None] * scale)
    flat = vectors[:, values <= max(values[0], 1e-10)]
    involved = np.flatnonzero((flat**2).sum(axis=1)[: len(names)] > 0.01).tolist()
    which = f" in the coefficients of {listed([names[j] for j in involved])}" if involved else ""
    penalty = "without a penalty" if not prior.any() else "with so weak a penalty"
    return (
        f"errors='laplace' needs coefficients that the background determines. Here, {penalty}, the "
        f"log loss is flat{which}: features are constant, repeat each other or separate the "
        "classes perfectly. Train with a penalty (a smaller C), or remove such features."
    )
