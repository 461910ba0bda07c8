"""What a family file makes of a model: a sum of contributions, linear or not.

The two forms differ in what they hand to identification: a linear model its features, so that no
(n, G, K) array is needed; any other model its contributions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self, TypeAlias, final

import array_api_compat
import numpy as np
from scipy import sparse

from shafer._typing import Array
from shafer._validation import float_array, same_library, to_numpy
from shafer.evidence import (
    AdditivePool,
    LinearPool,
    RunningMean,
    least_commitment,
    least_commitment_additive,
)
from shafer.models.heads import Contributions, LinearHead
from shafer.models.inputs.background import add_contributions
from shafer.models.inputs.rows import values_of
from shafer.models.readers.live_parameters import Origin
from shafer.models.readers.model_rows import ModelRows, OwnCalibration

Pool: TypeAlias = LinearPool | AdditivePool


@dataclass(frozen=True, eq=False)
class AdaptedModel(ABC):
    """A trained model as components.

    Attributes
    ----------
    by_column : bool
        Component g is column g of the model's input, so columns can name the components.
    encoders : tuple of fitted transformers
        What X passes through before the model sees it, in order.
    finite : bool
        What ``terms`` gives has been checked to be finite.
    term_columns : tuple of tuples of positions, optional
        The columns of the model's input in each component, where that may be several.
    origin : Origin, optional
        The live model that the head was copied from.
    calibration : OwnCalibration, optional
        Factors and discounts that are part of the model's own probabilities.
    options : mapping
        With these options the registry reads the model in the same way without a background.
    """

    head: Any
    by_column: bool = True
    encoders: tuple[Any, ...] = ()
    finite: bool = False
    term_columns: tuple[tuple[int, ...], ...] | None = None
    origin: Origin | None = None
    calibration: OwnCalibration | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def behind(self, encoder: Any) -> Self:
        """Put a fitted transformer in front."""
        return replace(self, encoders=(encoder, *self.encoders))

    def encoded(self, X: Any) -> Any:
        """Pass X through the transformers."""
        for encoder in self.encoders:
            X = encoder.transform(X)
        return X

    def check_current(self) -> None:
        """Raise an error if the model was trained again after it was read."""
        if self.origin is not None:
            self.origin.check()

    def rows(self, X: Any) -> ModelRows:
        """Pass X through the model once; X is checked as the model would check it."""
        self.check_current()
        encoded = self.encoded(X)
        return ModelRows(encoded, self.terms(encoded))

    def incomplete_rows(self, X: Any) -> ModelRows:  # noqa: ARG002 - for linear models
        """Pass X through the model once; its terms are NaN where X has missing values."""
        raise TypeError("This model does not read missing values.")

    @abstractmethod
    def terms(self, encoded: Any) -> Array:
        """Return what the pool of this model is called on, given rows behind the transformers."""

    @abstractmethod
    def accumulate(self, running: RunningMean, encoded: Any, sample_weight: Any) -> Array | None:
        """Add background rows to the means of the terms; return the terms if they were kept."""

    @abstractmethod
    def identify(
        self,
        means: Array,
        classes: Any,
        names: Iterable[Any] | None,
        groups: Mapping[str, Sequence[int]] | None = None,
    ) -> Pool:
        """Settle the weights of evidence by least commitment, given the means of the terms.

        With ``groups`` each group of components is one component, and ``names`` is not used.
        """

    @abstractmethod
    def grouped_terms(self, terms: Array, groups: Sequence[Sequence[int]]) -> Array:
        """Sum the contributions of the members of each group, (n, H, K)."""

    @abstractmethod
    def rescaled(self, slope: float, shift: float = 0.0) -> AdaptedModel:
        """Multiply the logits, and add to the log-odds of a binary model."""


@final
@dataclass(frozen=True, eq=False)
class LinearModel(AdaptedModel):
    """A linear head, and the function from (encoded) X to its features φ(X).

    Attributes
    ----------
    gaps : callable, optional
        The same as ``features``, but it leaves NaN where X has it, for heads on X itself.
    precision : float, optional
        Of the prior that its penalty puts on each coefficient; None if it was not trained by
        penalised log loss.
    free_intercept : bool
        The intercept was fitted too, without a penalty.
    """

    head: LinearHead
    features: Callable[[Any], Array] = values_of
    gaps: Callable[[Any], Array] | None = None
    precision: float | None = None
    free_intercept: bool = True

    def terms(self, encoded: Any) -> Array:
        return self.features(encoded)

    def incomplete_rows(self, X: Any) -> ModelRows:
        if self.gaps is None:
            return super().incomplete_rows(X)
        self.check_current()
        encoded = self.encoded(X)
        return ModelRows(
            encoded, self.gaps(encoded.toarray() if sparse.issparse(encoded) else encoded)
        )

    def accumulate(self, running: RunningMean, encoded: Any, sample_weight: Any) -> Array | None:
        features = self.terms(encoded)
        if not sparse.issparse(features):
            features = float_array(features, "background", ndim=(2,))
        running.partial_fit(features, sample_weight)
        return features

    def identify(
        self,
        means: Array,
        classes: Any,
        names: Iterable[Any] | None,
        groups: Mapping[str, Sequence[int]] | None = None,
    ) -> Pool:
        head = self.head
        if groups is None:
            return least_commitment(head.coef, head.intercept, means, classes=classes, names=names)
        both = least_commitment(head.coef, head.intercept)
        contributions = self.grouped_terms(means[None, :], list(groups.values()))[0, ...]
        intercept = both.offset * both.beta.shape[0]
        return least_commitment_additive(
            contributions, intercept, classes=classes, names=list(groups)
        )

    def grouped_terms(self, terms: Array, groups: Sequence[Sequence[int]]) -> Array:
        # Both logits, also if the head has one for two classes.
        return _grouped_linear(
            terms, least_commitment(self.head.coef, self.head.intercept).beta, groups
        )

    def rescaled(self, slope: float, shift: float = 0.0) -> LinearModel:
        coef, intercept = self.head.coef * slope, self.head.intercept * slope + shift
        head = replace(self.head, coef=coef, intercept=intercept)
        return replace(self, head=head, precision=None)


@final
@dataclass(frozen=True, eq=False)
class AdditiveModel(AdaptedModel):
    """A function from (encoded) X to contributions, and the rest of the logits."""

    head: Contributions

    def terms(self, encoded: Any) -> Array:
        return both_classes(self.head.function(encoded))

    def accumulate(self, running: RunningMean, encoded: Any, sample_weight: Any) -> Array | None:
        add_contributions(running, self.terms, encoded, sample_weight)
        return None

    def identify(
        self,
        means: Array,
        classes: Any,
        names: Iterable[Any] | None,
        groups: Mapping[str, Sequence[int]] | None = None,
    ) -> Pool:
        intercept = _class_intercept(self.head.intercept, means)
        if groups is not None:
            means = self.grouped_terms(means[None, ...], list(groups.values()))[0, ...]
            names = list(groups)
        return least_commitment_additive(means, intercept, classes=classes, names=names)

    def grouped_terms(self, terms: Array, groups: Sequence[Sequence[int]]) -> Array:
        xp = array_api_compat.array_namespace(terms)
        sums = [xp.sum(_columns(terms, group), axis=1) for group in groups]
        return xp.stack(sums, axis=1)

    def rescaled(self, slope: float, shift: float = 0.0) -> AdditiveModel:
        head = self.head
        scaled = Contributions(
            partial(_rescaled, head.function, slope),
            _rescaled_intercept(head.intercept, slope, shift),
            head.classes,
            head.names,
        )
        return replace(self, head=scaled)


def both_classes(contributions: Any) -> Array:
    """Write contributions z (n, G) to the log-odds of a binary model as (−z/2, +z/2)."""
    given = float_array(contributions, "contributions", ndim=(2, 3))
    if given.ndim == 3:
        return given
    return array_api_compat.array_namespace(given).stack([-given / 2, given / 2], axis=-1)


def _class_intercept(intercept: Any, means: Array) -> Any:
    """Bring an intercept to shape (K,) and to the library of the means."""
    if intercept is None:
        return None
    xp = array_api_compat.array_namespace(means)
    value = xp.asarray(intercept, dtype=means.dtype, device=means.device)
    value = xp.reshape(value, (-1,))
    if value.shape[0] == 1 and means.shape[1] == 2:
        return xp.concat([-value / 2, value / 2])
    return value


def _rescaled(function: Callable[[Any], Array], slope: float, X: Any) -> Array:
    return function(X) * slope


def _rescaled_intercept(intercept: Any, slope: float, shift: float) -> Any:
    if intercept is None:
        return shift if shift else None
    return np.asarray(intercept) * slope + shift


def _grouped_linear(values: Any, beta: Array, groups: Sequence[Sequence[int]]) -> Array:
    """Return what each group of features adds to the logits, (n, H, K)."""
    if sparse.issparse(values):
        by_column = values.tocsc()
        coef = to_numpy(beta)
        return np.stack([by_column[:, group] @ coef[group] for group in groups], axis=1)
    values = float_array(values, "features", ndim=(2,))
    xp = same_library({"features": values, "coef": beta})
    precision = xp.result_type(values, beta)
    values, beta = (xp.astype(array, precision, copy=False) for array in (values, beta))
    sums = [_columns(values, group) @ _columns(beta, group, axis=0) for group in groups]
    return xp.stack(sums, axis=1)


def _columns(array: Array, positions: Sequence[int], axis: int = 1) -> Array:
    xp = array_api_compat.array_namespace(array)
    where = xp.asarray(positions, dtype=xp.int64, device=array.device)
    return xp.take(array, where, axis=axis)
