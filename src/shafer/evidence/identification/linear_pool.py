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
    check_overflow,
    class_labels,
    component_names,
    float_array,
    frame_columns,
    frozen,
    same_library,
    to_numpy,
)
from shafer.evidence.base_rate import has_own_base_rate, with_base_rate_name
from shafer.evidence.evidence import Evidence
from shafer.evidence.weight_sources import (
    BaseRateWeights,
    LinearWeights,
    SparseWeights,
    WeightSource,
)
from shafer.kernels import centred_over_classes

# A logit of this size is rounded by less than 1e-4 in single precision.
_LARGEST_IN_SINGLE = 1e3


@final
@dataclass(frozen=True, eq=False)
class LinearPool:
    """A linear model with known weights of evidence: call it on features to get evidence.

    Attributes
    ----------
    beta, alpha : arrays of shape (J, K)
        β* and α* of Proposition 2: feature φ_j gives class k the weight β*_jk φ_j + α*_jk.
    means : array of shape (J,)
        The feature means μ.
    offset : array of shape (K,)
        What each feature gets of the intercept at the means: b_k / J, or 0 if the base rate is a
        component of its own.
    classes : array of shape (K,)
        Class labels.
    component_names : tuple of J strings, or J + 1
        Names of the features, and ``"base rate"`` if that is a component of its own.
    named : bool
        Whether the names were given, so that the columns of a data frame must match them.
    base_rate : array of shape (K,), or None
        The intercept at the means b_k, if it is a component of its own.

    See Also
    --------
    shafer.least_commitment : Makes one.
    AdditivePool : The same for sums of contributions.

    Examples
    --------
    >>> import shafer
    >>> pool = shafer.least_commitment(coef=[0.07, 0.18], intercept=-4.9, feature_means=[42.8, 4.7])
    >>> pool.alpha.round(3)
    array([[ 1.763, -1.763],
           [ 0.688, -0.688]])
    >>> pool([[61.0, 3.1]]).weights.round(3)
    array([[[-0.373,  0.373],
            [ 0.409, -0.409]]])
    """

    beta: Array
    alpha: Array
    means: Array
    offset: Array
    classes: NDArray[Any]
    component_names: tuple[str, ...]
    named: bool = True
    base_rate: Array | None = None

    def __call__(self, features: Any, *, checked: bool = False) -> Evidence:
        """Return the evidence of features φ of shape (n, J): an array or a scipy sparse matrix.

        ``checked`` tells that they are finite, which saves a pass over them.

        Parameters
        ----------
        features : array or scipy sparse matrix of shape (n, J)
            The features φ. The columns of a data frame must be the components.
        checked : bool
            Whether they are known to be finite.

        Returns
        -------
        Evidence
        """
        n_features = self.beta.shape[0]
        self._check_columns(features)
        sparse_input = sparse.issparse(features)
        given = features
        if not sparse_input:
            given = float_array(features, "features", ndim=(2,), finite=checked)
        if given.ndim != 2 or given.shape[1] != n_features:
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

    def _check_columns(self, features: Any) -> None:
        """Refuse a data frame whose columns are not the components, in their order."""
        columns = frame_columns(features)
        names = self.component_names[: self.beta.shape[0]]
        if columns is not None and self.named and columns != names:
            raise ValueError(
                f"features must have the columns {list(names)}, in that order; got {list(columns)}."
            )

    def _dense_source(self, features: Array) -> WeightSource:
        xp = same_library({"features": features, "coef": self.beta})
        precision = xp.result_type(features, self.beta)
        features, means, beta, offset = (
            xp.astype(array, precision, copy=False)
            for array in (features, self.means, self.beta, self.offset)
        )
        return with_base_rate(LinearWeights(features, means, beta, offset), self.base_rate)

    def _sparse_source(self, features: Any) -> WeightSource:
        if features.dtype.kind not in "biuf":
            raise ValueError(f"features must hold real numbers; got {features.dtype}.")
        head = [to_numpy(array) for array in (self.means, self.beta, self.offset)]
        narrow = features.dtype == head[1].dtype == np.float32
        precision = np.dtype(np.float32 if narrow else np.float64)
        rows = sparse.csr_array(features, copy=True, dtype=precision)
        rows.sum_duplicates()
        check_finite(rows.data, "features")
        source = SparseWeights(rows, *(array.astype(precision) for array in head))
        return with_base_rate(source, None if self.base_rate is None else to_numpy(self.base_rate))


def least_commitment(
    coef: Any,
    intercept: Any,
    feature_means: Any = None,
    *,
    classes: Any = None,
    names: Iterable[Any] | None = None,
    prior: str = "shared",
) -> LinearPool:
    r"""Find the weights of evidence in a linear model given as arrays (Denœux 2019, Prop. 2).

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
    prior : {"shared", "own"}
        Whether the features share the intercept at the means equally, as in the paper, or it is a
        component of its own, named ``"base rate"``. Then α*_jk = −β*_jk μ_j, and a feature at its
        mean has weight 0. Probabilities are the same.

    Returns
    -------
    LinearPool
        Call it on features to get their evidence.

    See Also
    --------
    shafer.Explainer : The same for a trained model of any framework.
    shafer.evidence.least_commitment_additive : The same for sums of contributions.

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
    own = has_own_base_rate(prior)
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
    precision = xp.result_type(coef, intercept, means)
    coef, intercept, means = (xp.astype(a, precision, copy=True) for a in (coef, intercept, means))
    if means.shape != (n_features,):
        raise ValueError(
            f"feature_means must have one mean for each of the {n_features} columns of coef; "
            f"got shape {tuple(means.shape)}."
        )
    with np.errstate(over="ignore", invalid="ignore"):  # checked below
        if _needs_double(xp, coef, intercept, means):
            coef, intercept, means = (xp.astype(a, xp.float64) for a in (coef, intercept, means))
        beta = _in_row_order(centred_over_classes(coef.T))
        base_rate = centred_over_classes(intercept) + means @ beta
        offset = xp.zeros_like(base_rate) if own else base_rate / n_features
        alpha = offset - means[:, None] * beta
    for array in (beta, alpha, base_rate):
        check_overflow(array, "weights")
    return LinearPool(
        frozen(beta),
        frozen(alpha),
        frozen(means),
        frozen(offset),
        class_labels(classes, n_classes),
        all_names(component_names(names, n_features), own),
        named=names is not None,
        base_rate=frozen(base_rate) if own else None,
    )


def _in_row_order(beta: Array) -> Array:
    """Return NumPy coefficients with the classes of a feature side by side, for the kernels."""
    return np.ascontiguousarray(beta) if isinstance(beta, np.ndarray) else beta


def like(value: Any, coef: Array) -> Any:
    """Bring plain numbers and lists to the library and device of the coefficients."""
    if not isinstance(value, float | int | list | tuple):
        return value
    if array_api_compat.is_numpy_array(coef):
        return np.asarray(value, dtype=coef.dtype)
    xp = array_api_compat.array_namespace(coef)
    return xp.asarray(value, dtype=coef.dtype, device=coef.device)


def all_names(names: tuple[str, ...], own_base_rate: bool) -> tuple[str, ...]:
    """Return the names of all components, the base rate included if it is one of them."""
    return with_base_rate_name(names) if own_base_rate else names


def with_base_rate(source: WeightSource, base_rate: Array | None) -> WeightSource:
    """Add the base rate as a component, in the precision of the source."""
    if base_rate is None:
        return source
    shares = source.base_shares()
    xp = array_api_compat.array_namespace(shares)
    return BaseRateWeights(source, xp.astype(base_rate, shares.dtype, copy=False))


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


def _needs_double(xp: Any, coef: Array, intercept: Array, means: Array) -> bool:
    """Say whether single precision would lose the digits of a logit near zero.

    Weights are measured from the means. If the logits at the means are large, as with unscaled
    inputs, other rows come from the difference of two large numbers.
    """
    if coef.dtype != xp.float32:
        return False
    largest = float(xp.max(xp.abs(intercept + coef @ means)))
    return _LARGEST_IN_SINGLE < largest < float("inf")
