r"""Least commitment for contributions that are given directly, and need not be linear (Prop. 2).

A tree, a Gaussian likelihood or a spline term contributes :math:`z_{gk}(x)` to the logits. The
weights of evidence follow from the contributions and their means over the background alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer import kernels
from shafer._typing import Array
from shafer._validation import (
    check_overflow,
    class_labels,
    component_names,
    float_array,
    frozen,
    same_library,
)
from shafer.evidence.base_rate import has_own_base_rate
from shafer.evidence.evidence import Evidence
from shafer.evidence.identification.linear_pool import (
    all_names,
    like,
    with_base_rate,
)
from shafer.evidence.weight_sources import DenseWeights
from shafer.kernels import centred_over_classes


@final
@dataclass(frozen=True, eq=False)
class AdditivePool:
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
