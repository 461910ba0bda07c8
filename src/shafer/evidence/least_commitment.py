r"""Least commitment: the one choice of weights with the smallest sum of squares (Prop. 2).

The softmax does not change when a constant is added to all logits, and the intercept may be shared
among the components in any way. The least-commitment principle settles both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, final

import array_api_compat
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shafer import _kernels as kernels
from shafer._checks.arrays import (
    check_finite,
    check_overflow,
    float_array,
    frozen,
    row_weights,
    same_library,
    to_numpy,
)
from shafer._checks.frames import frame_columns
from shafer._checks.labels import class_labels, component_names
from shafer._kernels.pooling import centred_over_classes
from shafer._kernels.products import product
from shafer._typing import Array
from shafer.decision.acts import is_number
from shafer.evidence.base_rate import has_own_base_rate, with_base_rate_name
from shafer.evidence.evidence import Evidence
from shafer.evidence.layout import ComponentLayout
from shafer.evidence.other_commitments import LARGEST_POWER, MEASURED, least_committed
from shafer.evidence.sources import (
    BaseRateWeights,
    DenseWeights,
    LinearWeights,
    LocatedWeights,
    SparseWeights,
    WeightSource,
)

# A logit of this size is rounded by less than 1e-4 in single precision.
_LARGEST_IN_SINGLE = 1e3


class Pool(ABC):
    """A model with known weights of evidence: call it on the terms of rows to get their evidence.

    There is one type for each form of terms: features (``LinearPool``), contributions
    (``AdditivePool``), feature maps (``LocatedPool``).

    Attributes
    ----------
    classes : array of shape (K,)
        Class labels.
    component_names : tuple of strings
        Names of the components.
    base_rate : array of shape (K,), or None
        The logits at the means, if they are a component of their own.
    """

    classes: NDArray[Any]

    if TYPE_CHECKING:  # fields of some types, and properties of others

        @property
        def component_names(self) -> tuple[str, ...]:
            """Names of the components."""

        @property
        def base_rate(self) -> Array | None:
            """The logits at the means, if they are a component of their own."""

    @property
    @abstractmethod
    def constants(self) -> tuple[Array, Array, Array | None]:
        """Means, offset and coefficients: what the weights of a row depend on besides its terms.

        The coefficients are None where the terms are contributions.
        """


@final
@dataclass(frozen=True, eq=False)
class LinearPool(Pool):
    """A linear model with known weights of evidence: call it on features to get evidence.

    Attributes
    ----------
    beta, alpha : arrays of shape (J, K)
        β* and α* of Proposition 2: feature φ_j gives class k the weight β*_jk φ_j + α*_jk.
    means : array of shape (J,)
        The feature means μ.
    offset : array of shape (K,)
        What each feature gets of the intercept at the means: b_k / J, or 0 if the base rate is a
        component of its own. With another ``power`` or ``measured``, (J, K).
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

    @property
    def constants(self) -> tuple[Array, Array, Array | None]:
        """The feature means, the offset and β*."""
        return self.means, self.offset, self.beta

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
        if self.offset.ndim == 2:
            weights = (features - self.means)[:, :, None] * self.beta + self.offset
            return DenseWeights(xp.astype(weights, precision, copy=False), self.offset)
        features, means, beta, offset = (
            xp.astype(array, precision, copy=False)
            for array in (features, self.means, self.beta, self.offset)
        )
        return with_base_rate(LinearWeights(features, means, beta, offset), self.base_rate)

    def _sparse_source(self, features: Any) -> WeightSource:
        if features.dtype.kind not in "biuf":
            raise ValueError(f"features must hold real numbers; got {features.dtype}.")
        if self.offset.ndim == 2:
            raise ValueError(
                "features must be dense if power or measured was given to least_commitment; got a "
                "sparse matrix. Pass features.toarray()."
            )
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
    power: float = 2.0,
    measured: str = "components",
    features: Any = None,
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
    power : float
        The p of the information content :math:`I_p = \sum w^p` that is minimised, from 1 to 20.
        The paper takes 2.
    measured : {"components", "combined"}
        Whether the information is that of each feature's mass function, as in the paper, or of the
        combined mass function of each row.
    features : array of shape (n, J), optional
        Background rows, instead of ``feature_means``. They are needed for another power, or for
        the combined mass function: then the minimum has no closed form, and is found numerically.

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
    if features is not None or measured != "components" or power != 2.0:
        rows = _background(features, feature_means, coef, power, measured, own)
        if measured != "components" or power != 2.0:
            return _numerical(coef, intercept, rows, power, measured, classes, names)
        feature_means = xp.asarray(rows.mean(axis=0), dtype=coef.dtype, device=coef.device)
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
        at_means = (
            product(means[None, :], beta)[0] if isinstance(means, np.ndarray) else means @ beta
        )
        base_rate = centred_over_classes(intercept) + at_means
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


def _background(
    features: Any, means: Any, coef: Array, power: float, measured: str, own: bool
) -> NDArray[np.float64]:
    """Check what another measure of commitment needs; return the rows in double precision."""
    if measured not in MEASURED:
        raise ValueError(f"measured must be 'components' or 'combined'; got {measured!r}.")
    if not is_number(power) or not 1.0 <= power <= LARGEST_POWER:
        raise ValueError(
            f"power must be a number from 1 to {LARGEST_POWER}; got {power!r}. A smaller power may "
            "have many minima."
        )
    other = power != 2.0 or measured != "components"
    if features is None or means is not None:
        given = "none" if features is None else "both features and feature_means"
        raise ValueError(
            f"power={power!r}, measured={measured!r} need the background rows; got {given}. Pass "
            "features= alone."
        )
    if other and own:
        raise ValueError(
            "prior='own' is known only for power=2, measured='components'; got "
            f"power={power!r}, measured={measured!r}. Use prior='shared'."
        )
    rows = to_numpy(float_array(features, "features", ndim=(2,))).astype(np.float64)
    if rows.shape[1] != coef.shape[1] or len(rows) == 0:
        raise ValueError(
            f"features must have at least one row and {coef.shape[1]} columns, one for each "
            f"coefficient; got shape {rows.shape}."
        )
    return rows


def _numerical(
    coef: Array,
    intercept: Array,
    rows: NDArray[np.float64],
    power: float,
    measured: str,
    classes: Any,
    names: Iterable[Any] | None,
) -> LinearPool:
    """Minimise another measure of commitment; each feature then has an offset of its own."""
    xp = array_api_compat.array_namespace(coef)
    means = rows.mean(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):  # checked below
        wide = (to_numpy(array).astype(np.float64) for array in (coef.T, intercept))
        flat, base = map(centred_over_classes, wide)
        beta, alpha = least_committed(flat, base, rows, power, measured)
        found = (beta, alpha, means, alpha + means[:, None] * beta)
    for array in found:
        check_overflow(array, "weights")
    beta, alpha, means, offset = (
        frozen(xp.asarray(array, dtype=coef.dtype, device=coef.device)) for array in found
    )
    labels = class_labels(classes, len(base))
    own_names = component_names(names, len(flat))
    return LinearPool(beta, alpha, means, offset, labels, own_names, named=names is not None)


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


# Least commitment for contributions that are given directly, and need not be linear (Prop. 2).


@final
@dataclass(frozen=True, eq=False)
class AdditivePool(Pool):
    """A sum with known weights of evidence: call it on contributions to get their evidence.

    Attributes
    ----------
    means : array of shape (G, K)
        Means of the contributions over the background, centred over the classes.
    offset : array of shape (K,)
        What each component gets of the logits at the means: b_k / G, or 0 if the base rate is a
        component of its own.
    classes : array of shape (K,)
        Class labels.
    component_names : tuple of G strings, or G + 1
        Names of the components, with ``"base rate"`` if that is a component of its own.
    base_rate : array of shape (K,), or None
        The logits at the means b_k, if they are a component of their own.

    See Also
    --------
    least_commitment_additive : Makes one.
    LinearPool : The same for linear models.

    Examples
    --------
    >>> from shafer.evidence import least_commitment_additive
    >>> pool = least_commitment_additive([[0.0, 1.0], [0.5, 0.5]], names=["age", "ldl"])
    >>> pool.means
    array([[-0.5,  0.5],
           [ 0. ,  0. ]])
    >>> pool([[[0.0, 1.0], [0.5, 0.5]]]).probability.round(3)
    array([[0.269, 0.731]])
    """

    means: Array
    offset: Array
    classes: NDArray[Any]
    component_names: tuple[str, ...]
    base_rate: Array | None = None

    @property
    def constants(self) -> tuple[Array, Array, Array | None]:
        """The mean contributions and the offset."""
        return self.means, self.offset, None

    def __call__(self, contributions: Any) -> Evidence:
        """Return the evidence of contributions of shape (n, G, K).

        Parameters
        ----------
        contributions : array of shape (n, G, K)
            What each component adds to each logit.

        Returns
        -------
        Evidence
        """
        given = float_array(contributions, "contributions", ndim=(3,))
        if given.shape[1:] != self.means.shape:
            raise ValueError(
                f"contributions must have shape (n, {self.means.shape[0]}, "
                f"{self.means.shape[1]}); got {tuple(given.shape)}."
            )
        if given.shape[0] == 0:
            raise ValueError(
                f"contributions must have at least one row; got shape {tuple(given.shape)}."
            )
        xp = same_library({"contributions": given, "means": self.means})
        precision = xp.result_type(given, self.means)
        given, means, offset = (
            xp.astype(array, precision, copy=False) for array in (given, self.means, self.offset)
        )
        with np.errstate(over="ignore", invalid="ignore"):  # checked once it is pooled
            weights = kernels.additive_weights(given, offset - means)
        source = with_base_rate(DenseWeights(weights, offset[None, :]), self.base_rate)
        return Evidence.from_source(source, self.classes, self.component_names)


def least_commitment_additive(
    mean_contributions: Any,
    intercept: Any = None,
    *,
    classes: Any = None,
    names: Iterable[Any] | None = None,
    prior: str = "shared",
) -> AdditivePool:
    r"""Find the weights of evidence in a sum of contributions (Denœux 2019, Prop. 2).

    .. math:: w_{gk}(x) = z^*_{gk}(x) - \mu_{gk} + b_k / G, \qquad
              b_k = b^*_{0k} + \sum_g \mu_{gk},

    where the star is centring over the classes and :math:`\mu_{gk}` the background mean of
    :math:`z^*_{gk}`. What is added to a contribution and taken from the intercept cancels.

    Parameters
    ----------
    mean_contributions : array of shape (G, K)
        Means of the contributions over the background.
    intercept : array of shape (K,), optional
        What the logits hold besides the contributions; zeros by default.
    classes : array of shape (K,), optional
        Class labels; 0..K−1 by default.
    names : sequence of G strings, optional
        Names of the components; x0, x1, ... by default.
    prior : {"shared", "own"}
        Whether the components share the logits at the means equally, as in the paper, or these are
        a component of their own, named ``"base rate"``.

    Returns
    -------
    AdditivePool
        Call it on contributions to get their evidence.

    See Also
    --------
    shafer.least_commitment : The same for linear models.
    shafer.models.Contributions : Explains a model that is a sum.

    Examples
    --------
    >>> from shafer.evidence import least_commitment_additive
    >>> pool = least_commitment_additive([[0.0, 1.0], [0.5, 0.5]], intercept=[0.2, 0.0])
    >>> pool([[[0.0, 2.0], [0.5, 0.5]]]).weights.round(2)
    array([[[-0.7,  0.7],
            [-0.2,  0.2]]])
    """
    own = has_own_base_rate(prior)
    means = float_array(mean_contributions, "mean_contributions", ndim=(2,))
    n_components, n_classes = means.shape
    if n_components == 0:
        raise ValueError(f"mean_contributions must not be empty; got shape {tuple(means.shape)}.")
    start = [0.0] * n_classes if intercept is None else intercept
    constant = float_array(like(start, means), "intercept", ndim=(1,))
    if constant.shape != (n_classes,):
        raise ValueError(
            f"intercept must have one value for each of the {n_classes} classes; "
            f"got shape {tuple(constant.shape)}."
        )
    xp = same_library({"mean_contributions": means, "intercept": constant})
    precision = xp.result_type(means, constant)
    means, constant = (xp.astype(array, precision, copy=False) for array in (means, constant))
    with np.errstate(over="ignore", invalid="ignore"):  # checked below
        means = centred_over_classes(means)
        base_rate = centred_over_classes(constant) + xp.sum(means, axis=0)
        offset = xp.zeros_like(base_rate) if own else base_rate / n_components
    for array in (means, base_rate):
        check_overflow(array, "weights")
    return AdditivePool(
        frozen(means),
        frozen(offset),
        class_labels(classes, n_classes),
        all_names(component_names(names, n_components), own),
        frozen(base_rate) if own else None,
    )


# Least commitment for a linear head on feature maps: each location is a component (Prop. 2).

MEANS = ("place", "shared")
_MOST_KEPT = 4  # sizes of maps whose coefficients are kept


@final
@dataclass(frozen=True, eq=False)
class LocatedPool(Pool):
    """A linear head on feature maps with known weights: call it on maps to get their evidence.

    Attributes
    ----------
    beta : array of shape (C, K), or (G, C, K)
        Coefficients, centred over the classes; with one axis more if each location has its own.
    at_means : array of shape (G, K), or (1, K)
        What the background means add to the logits: at each location, or at all together if the
        means are shared.
    logits_at_means : array of shape (K,)
        The base rate b_k.
    own : bool
        Whether the base rate is a component of its own.
    classes : array of shape (K,)
        Class labels.
    layout : ComponentLayout
        The places of the components in the background.
    names : tuple of strings, optional
        The user's names of these components.
    """

    beta: Array
    at_means: Array
    logits_at_means: Array
    own: bool
    classes: NDArray[Any]
    layout: ComponentLayout
    names: tuple[str, ...] | None = None
    _scaled: dict[float, Array] = field(default_factory=dict, repr=False)

    def _beta(self, scale: float) -> Array:
        """Return the coefficients times a factor; they are kept for the next rows."""
        if scale not in self._scaled:
            if len(self._scaled) >= _MOST_KEPT:
                self._scaled.clear()
            self._scaled[scale] = frozen(self.beta * scale)
        return self._scaled[scale]

    @property
    def constants(self) -> tuple[Array, Array, Array | None]:
        """What the means add to the logits, the base rate and the coefficients."""
        return self.at_means, self.logits_at_means, self.beta

    @property
    def base_rate(self) -> Array | None:
        """The base rate (K,), if it is a component of its own; otherwise None."""
        return self.logits_at_means if self.own else None

    @property
    def component_names(self) -> tuple[str, ...]:
        """The names of the components in the background."""
        return self._names_in(self.layout)

    def _names_in(self, layout: ComponentLayout) -> tuple[str, ...]:
        if self.names is None:
            return all_names(layout.names, self.own)
        if len(self.names) != layout.n_components:
            raise ValueError(
                f"names= has {len(self.names)} names, for the locations of the background, but "
                f"these rows have {layout.n_components}. Make the Explainer without names=."
            )
        return all_names(self.names, self.own)

    def __call__(
        self,
        features: Array,
        layout: ComponentLayout,
        scale: float = 1.0,
        shares: Array | None = None,
        total: Array | None = None,
    ) -> Evidence:
        """Return the evidence of maps.

        Parameters
        ----------
        features : array of shape (n, G, C)
            Finite values, perhaps in half precision.
        layout : ComponentLayout
            The places of the G locations.
        scale : float
            A factor on the features, such as 1 / G for a mean.
        shares : array of shape (n, G), optional
            How each row shares among its locations what belongs to all of them; they add up to 1.
            Locations with 0, such as padding, must have features of 0. Equal by default.
        total : array of shape (n, C), optional
            The features summed over the locations, if they are known.
        """
        xp = array_api_compat.array_namespace(self.beta)
        n_locations = features.shape[1]
        at_all = xp.sum(self.at_means, axis=0)[None, :]
        base = self.logits_at_means[None, :]
        by_place = shares is None and self.at_means.shape[0] == n_locations
        each = 1.0 if shares is not None else 1.0 / n_locations
        source = LocatedWeights(
            features,
            self._beta(scale),
            -self.at_means if by_place else -at_all * each,
            xp.zeros_like(base) if self.own else base * each,
            None if shares is None else xp.astype(shares, self.beta.dtype, copy=False),
            total,
        )
        whole = with_base_rate(source, self.base_rate)
        names = self._names_in(layout)
        return Evidence.from_source(whole, self.classes, names, layout=layout)


def least_commitment_located(
    beta: Array,
    intercept: Array,
    means: Array,
    *,
    layout: ComponentLayout,
    shared: bool,
    classes: Any = None,
    names: tuple[str, ...] | None = None,
    prior: str = "shared",
) -> LocatedPool:
    r"""Find the weights of evidence of a linear head on feature maps (Denœux 2019, Prop. 2).

    .. math:: w_{gk} = \sum_c \beta^*_{ck} (a_{gc} - \mu_{gc}) + b_k / G, \qquad
              b_k = b^*_{0k} + \sum_g \sum_c \beta^*_{ck} \mu_{gc} .

    Parameters
    ----------
    beta : array of shape (C, K), or (G, C, K)
        Coefficients, centred over the classes.
    intercept : array of shape (K,)
        The same of the intercept.
    means : array of shape (G, C), or (1, C)
        Means of the features over the background: at each location, or of their sum over all.
    layout : ComponentLayout
        The places of the components.
    shared : bool
        Whether all locations have an equal share of the means, or each the means of its own place.
    classes, names, prior : as in ``least_commitment``
    """
    xp = array_api_compat.array_namespace(beta)
    with np.errstate(over="ignore", invalid="ignore"):  # checked below
        if beta.ndim == 2:
            at_means = xp.astype(means, beta.dtype, copy=False) @ beta
        else:
            at_means = xp.sum(xp.astype(means, beta.dtype, copy=False)[..., None] * beta, axis=1)
        total = xp.sum(at_means, axis=0, keepdims=True)
        logits = intercept + total[0, :]
    for array in (at_means, logits):
        check_overflow(array, "weights")
    return LocatedPool(
        frozen(beta),
        frozen(total if shared else at_means),
        frozen(logits),
        has_own_base_rate(prior),
        class_labels(classes, beta.shape[-1]),
        layout,
        names,
    )


# Means over data that need not fit in memory: one pass, batch by batch, mergeable.

_ROWS_TO_ADD = 4096  # at a time: few enough that a copy of them is small


@final
class RunningMean:
    """The mean over the first axis of all batches seen, in double precision.

    Means of batches are merged by their weights (Chan, Golub and LeVeque 1983), so no large sum is
    ever formed. Workers may each see a part of the data and merge their results.

    See Also
    --------
    shafer.scale.background : Means over a distributed frame.

    Examples
    --------
    >>> from shafer.evidence import RunningMean
    >>> first = RunningMean().partial_fit([[1.0, 2.0], [3.0, 4.0]])
    >>> second = RunningMean().partial_fit([[8.0, 9.0]])
    >>> first.merge(second).mean
    array([4., 5.])
    """

    def __init__(self) -> None:
        self.weight = 0.0
        self._mean: Array = None
        self._dtype: Any = None

    def partial_fit(self, values: Any, sample_weight: Any = None) -> Self:
        """Take in a batch of rows, (n, ...) or a sparse matrix (n, J), weighted if asked.

        Parameters
        ----------
        values : array of shape (n, ...) or sparse matrix of shape (n, J)
            The rows of the batch.
        sample_weight : array of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        RunningMean
            The object itself.
        """
        if not sparse.issparse(values):
            values = float_array(values, "background")
        n = values.shape[0]
        weight = row_weights(sample_weight, n, allow_all_zero=True)
        total = float(n if weight is None else weight.sum())
        if total > 0.0:
            self._take_in(_batch_mean(values, weight), total, values.dtype)
        return self

    def merge(self, other: RunningMean) -> Self:
        """Add the rows of another running mean, over the same columns.

        Parameters
        ----------
        other : RunningMean
            Of other rows. It stays as it is.

        Returns
        -------
        RunningMean
            The object itself.
        """
        if other.weight > 0.0:
            self._take_in(other._mean, other.weight, other._dtype)
        return self

    def _take_in(self, mean: Array, weight: float, dtype: Any) -> None:
        if self._mean is None:
            self._mean, self._dtype = mean, dtype
        elif self._mean.shape != mean.shape:
            raise ValueError(
                f"All batches must have the same columns; got shape {tuple(mean.shape)} "
                f"after {tuple(self._mean.shape)}."
            )
        else:
            self._mean = self._mean + (mean - self._mean) * (weight / (self.weight + weight))
        self.weight += weight

    @property
    def mean(self) -> Array:
        """The mean so far, in the precision of the data."""
        if self._mean is None:
            raise ValueError("background must have at least one row with a positive weight.")
        xp = array_api_compat.array_namespace(self._mean)
        return xp.astype(self._mean, _floating(xp, self._dtype), copy=False)


def _floating(xp: Any, dtype: Any) -> Any:
    return xp.float32 if dtype == xp.float32 else xp.float64


def _sum_of_rows(values: Array, xp: Any) -> Array:
    """Sum the rows in double precision; the layout in memory does not change the last digit.

    Frames of pandas 2 and 3 lie in different orders, and NumPy adds in the order of the memory.
    """
    if not isinstance(values, np.ndarray):
        return xp.sum(values, axis=0, dtype=xp.float64)
    blocks = (values[i : i + _ROWS_TO_ADD] for i in range(0, len(values), _ROWS_TO_ADD))
    sums = [np.ascontiguousarray(block).sum(axis=0, dtype=np.float64) for block in blocks]
    return np.sum(sums, axis=0)


def _batch_mean(values: Any, weight: Any) -> Array:
    """Average one batch in double precision."""
    if sparse.issparse(values):
        share = np.full(values.shape[0], 1.0 / values.shape[0])
        return np.asarray((share if weight is None else weight / weight.sum()) @ values)
    xp = array_api_compat.array_namespace(values)
    if weight is None:
        mean = _sum_of_rows(values, xp) / values.shape[0]
    else:
        share = xp.asarray(weight / weight.sum(), device=values.device)
        share = xp.reshape(share, (-1, *(1,) * (values.ndim - 1)))
        mean = _sum_of_rows(values * share, xp)
    # A column that never varies gives no evidence: its mean must be its value to the last digit.
    constant = xp.all(values == values[:1, ...], axis=0)
    return xp.where(constant, xp.astype(values[0, ...], mean.dtype), mean)
