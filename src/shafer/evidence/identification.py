r"""Least commitment: the one choice of weights with the smallest sum of squares (Prop. 2).

The softmax does not change when a constant is added to all logits, and the intercept may be shared
among the components in any way. The least-commitment principle settles both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

import array_api_compat
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shafer._typing import Array
from shafer._validation import (
    check_finite,
    class_labels,
    component_names,
    float_array,
    same_library,
    to_numpy,
)
from shafer.evidence.evidence import Evidence
from shafer.evidence.weights import LinearWeights, SparseWeights, WeightSource


@final
@dataclass(frozen=True, eq=False)
class LinearPool:
    """A linear head, identified: call it on features to get their :class:`Evidence`.

    Attributes
    ----------
    beta, alpha : arrays of shape (J, K)
        β* and α* of Proposition 2: feature φ_j gives class k the weight β*_jk φ_j + α*_jk.
    means : array of shape (J,)
        The feature means μ.
    offset : array of shape (K,)
        What each feature gets of the intercept at the means, b_k / J.
    classes : array of shape (K,)
        Class labels.
    component_names : tuple of J strings
        Names of the features.
    """

    beta: Array
    alpha: Array
    means: Array
    offset: Array
    classes: NDArray[Any]
    component_names: tuple[str, ...]

    def __call__(self, features: Any) -> Evidence:
        """Return the evidence of features φ of shape (n, J): an array or a scipy sparse matrix."""
        n_features = self.beta.shape[0]
        sparse_input = sparse.issparse(features)
        given = features if sparse_input else float_array(features, "features", ndim=(2,))
        if given.shape[1] != n_features:
            raise ValueError(
                f"features must have {n_features} columns, one for each coefficient; "
                f"got shape {tuple(given.shape)}."
            )
        if given.shape[0] == 0:
            raise ValueError(
                f"features must have at least one row; got shape {tuple(given.shape)}."
            )
        source = self._sparse_source(given) if sparse_input else self._dense_source(given)
        return Evidence.from_source(source, self.classes, self.component_names)

    def _dense_source(self, features: Array) -> WeightSource:
        same_library({"features": features, "coef": self.beta})
        return LinearWeights(features - self.means, self.beta, self.offset)

    def _sparse_source(self, features: Any) -> WeightSource:
        if features.dtype.kind not in "biuf":
            raise ValueError(f"features must hold real numbers; got {features.dtype}.")
        rows = sparse.csr_array(features, copy=True)
        rows.sum_duplicates()
        check_finite(rows.data, "features")
        return SparseWeights(rows, to_numpy(self.beta), to_numpy(self.alpha))


def least_commitment(
    coef: Any,
    intercept: Any,
    feature_means: Any = None,
    *,
    classes: Any = None,
    names: Iterable[Any] | None = None,
) -> LinearPool:
    r"""Identify the weights of evidence of a linear head (Denœux 2019, Prop. 2).

    .. math:: \beta^*_{jk} = \beta_{jk} - \tfrac1K \sum_l \beta_{jl}, \qquad
              b_k = \beta^*_{0k} + \sum_j \beta^*_{jk} \mu_j, \qquad
              \alpha^*_{jk} = b_k / J - \beta^*_{jk} \mu_j .

    Parameters
    ----------
    coef : array of shape (K, J), or (J,) or (1, J)
        Coefficients as in scikit-learn and ``torch.nn.Linear``. One row is a binary log-odds model
        whose positive class is column 1 of the result.
    intercept : array of shape (K,), or a number for a binary model
    feature_means : array of shape (J,), optional
        Means of the features over the background; zeros (features already centred) by default.
    classes : array of shape (K,), optional
        Class labels; 0..K−1 by default.
    names : sequence of J strings, optional
        Names of the features; x0, x1, ... by default.

    Returns
    -------
    LinearPool
        Call it on features to get their evidence.

    Examples
    --------
    >>> import shafer
    >>> pool = shafer.least_commitment(coef=[0.07, 0.18], intercept=-4.9, feature_means=[42.8, 4.7])
    >>> pool.beta
    array([[-0.035,  0.035],
           [-0.09 ,  0.09 ]])
    >>> pool([[61.0, 3.1]]).probability.round(3)
    array([[0.518, 0.482]])
    """
    coef = float_array(coef, "coef", ndim=(1, 2))
    intercept = float_array(like(intercept, coef), "intercept", ndim=(0, 1))
    xp = same_library({"coef": coef, "intercept": intercept})
    if 0 in coef.shape:
        raise ValueError(
            f"coef must have at least one row and one feature; got shape {tuple(coef.shape)}."
        )
    coef, intercept = _both_classes(xp, coef, intercept)
    n_classes, n_features = coef.shape
    if feature_means is None:
        means = xp.zeros_like(coef[0, :])
    else:
        means = float_array(like(feature_means, coef), "feature_means", ndim=(1,))
    same_library({"coef": coef, "feature_means": means})
    if means.shape != (n_features,):
        raise ValueError(
            f"feature_means must have one mean for each of the {n_features} columns of coef; "
            f"got shape {tuple(means.shape)}."
        )
    beta = centred_over_classes(xp, coef.T)
    offset = (centred_over_classes(xp, intercept) + means @ beta) / n_features
    return LinearPool(
        beta,
        offset - means[:, None] * beta,
        means,
        offset,
        class_labels(classes, n_classes),
        component_names(names, n_features),
    )


def like(value: Any, coef: Array) -> Any:
    """Bring plain numbers and lists to the library and device of the coefficients."""
    if not isinstance(value, float | int | list | tuple):
        return value
    if array_api_compat.is_numpy_array(coef):
        return np.asarray(value, dtype=coef.dtype)
    xp = array_api_compat.array_namespace(coef)
    return xp.asarray(value, dtype=coef.dtype, device=coef.device)


def _both_classes(xp: Any, coef: Array, intercept: Array) -> tuple[Array, Array]:
    """Write a binary log-odds model z as the two logits (−z/2, +z/2)."""
    binary = coef.ndim == 1 or coef.shape[0] == 1
    wanted = 1 if binary else coef.shape[0]
    if intercept.ndim == 0:
        intercept = xp.reshape(intercept, (1,))
    if intercept.shape[0] != wanted:
        raise ValueError(
            f"intercept must have {wanted} value(s), as coef of shape {tuple(coef.shape)} has; "
            f"got {intercept.shape[0]}."
        )
    if not binary:
        return coef, intercept
    coef = xp.reshape(coef, (1, -1))
    return xp.concat([-coef / 2, coef / 2], axis=0), xp.concat([-intercept / 2, intercept / 2])


def centred_over_classes(xp: Any, array: Array) -> Array:
    """Subtract the mean over the classes, the last axis; equal classes give exact zeros."""
    relative = array - array[..., :1]
    return relative - xp.mean(relative, axis=-1, keepdims=True)
