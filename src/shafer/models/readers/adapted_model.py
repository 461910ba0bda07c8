"""A trained model as a sum of contributions, linear or not: what each reader returns.

Identification needs different arrays from the two forms: the features of a linear model, so that no
(n, G, K) array is needed; the contributions of any other model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self, TypeAlias, final

import array_api_compat
import numpy as np
from scipy import sparse

from shafer._typing import Array, FloatArray
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
from shafer.models.inputs.row_access import by_position, values_of
from shafer.models.inputs.table_errors import explain_table_error
from shafer.models.readers.live_parameters import LiveParameters

Pool: TypeAlias = LinearPool | AdditivePool


@dataclass(frozen=True, eq=False)
class AdaptedModel(ABC):
    """A trained model as components; everything it holds must be picklable.

    Attributes
    ----------
    by_column : bool
        Component g is column g of the model's input, so columns can name the components.
    encoders : tuple of fitted transformers
        The transformers in front of the model, in order.
    finite : bool
        The reader has checked that what ``terms`` returns is finite.
    term_columns : tuple of tuples of positions, optional
        The columns of the model's input in each component, if a component may have several.
    live : tuple of LiveParameters
        Parameters of the model and its transformers; if they change, the model was trained again.
    """

    head: Any
    by_column: bool = True
    encoders: tuple[Any, ...] = ()
    finite: bool = False
    term_columns: tuple[tuple[int, ...], ...] | None = None
    live: tuple[LiveParameters, ...] = ()

    def behind(self, encoder: Any) -> Self:
        """Put a fitted transformer in front."""
        ahead = replace(self, encoders=(encoder, *self.encoders))
        return ahead.watching(LiveParameters.fitted(encoder))

    def watching(self, live: LiveParameters) -> Self:
        """Refuse further calls once these parameters change."""
        return replace(self, live=(*self.live, live))

    def check_current(self) -> None:
        """Raise an error if the model was trained again."""
        for live in self.live:
            live.check()

    def encoded(self, X: Any) -> Any:
        """Return X as the transformers encode it."""
        if self.encoders:
            X = by_position(X)
        for encoder in self.encoders:
            X = encoder.transform(X)
        return X

    def read(self, X: Any, function: Callable[[Any], Array]) -> Array:
        """Return a function of encoded X, with clearer errors for tables that cannot be taken."""
        try:
            return function(self.encoded(X))
        except (ValueError, TypeError) as error:
            explain_table_error(error, X, self.encoders)
            raise

    @abstractmethod
    def terms(self, X: Any) -> Array:
        """Return the features or contributions of rows X, after the model's own checks of X."""

    @abstractmethod
    def accumulate(self, running: RunningMean, X: Any, sample_weight: Any) -> None:
        """Add a batch of background rows to the means of what ``terms`` returns."""

    @abstractmethod
    def identify(self, means: Array, classes: Any, names: Iterable[Any] | None) -> Pool:
        """Return the weights of evidence by least commitment, given the background means."""

    @abstractmethod
    def rescaled(self, slope: float, shift: float = 0.0) -> AdaptedModel:
        """Multiply the logits, and add to the log-odds of a binary model."""

    @abstractmethod
    def grouped(self, groups: Mapping[str, Sequence[int]]) -> AdaptedModel:
        """Return the model with groups as its components; each adds up its members.

        If each group is a single component, and they are in order, only the names change.
        """


@final
@dataclass(frozen=True, eq=False)
class LinearModel(AdaptedModel):
    """A linear head, and the function from (encoded) X to its features φ(X).

    Attributes
    ----------
    gaps : callable, optional
        As ``features``, but NaN in X stays NaN; only for heads on X itself.
    precision : float, optional
        Precision of the normal prior that its penalty puts on each coefficient; None if it was
        not trained by penalised log loss.
    free_intercept : bool
        The intercept was fitted too, without a penalty.
    """

    head: LinearHead
    features: Callable[[Any], Array] = values_of
    gaps: Callable[[Any], Array] | None = None
    precision: float | None = None
    free_intercept: bool = True

    def terms(self, X: Any) -> Array:
        return self.read(X, self.current_features)

    def current_features(self, encoded: Any) -> Array:
        """Return the features φ of encoded rows; an error if the model was trained again."""
        self.check_current()
        return self.features(encoded)

    def incomplete_features(self, X: Any) -> Array:
        """Return the features of X with NaN where X has NaN; the model must have ``gaps``."""
        if self.gaps is None:
            raise TypeError("This model cannot take NaN.")
        self.check_current()
        return self.read(X, partial(_of_dense, self.gaps))

    def accumulate(self, running: RunningMean, X: Any, sample_weight: Any) -> None:
        features = self.terms(X)
        if not sparse.issparse(features):
            features = float_array(features, "background", ndim=(2,))
        running.partial_fit(features, sample_weight)

    def identify(self, means: Array, classes: Any, names: Iterable[Any] | None) -> LinearPool:
        head = self.head
        return least_commitment(head.coef, head.intercept, means, classes=classes, names=names)

    def rescaled(self, slope: float, shift: float = 0.0) -> LinearModel:
        coef, intercept = self.head.coef * slope, self.head.intercept * slope + shift
        head = replace(self.head, coef=coef, intercept=intercept)
        return replace(self, head=head, precision=None)

    def grouped(self, groups: Mapping[str, Sequence[int]]) -> AdaptedModel:
        plain = least_commitment(self.head.coef, self.head.intercept)  # both logits, also if K = 2
        if _is_renaming(groups, plain.beta.shape[0]):
            return replace(self, head=replace(self.head, names=list(groups)))
        function = partial(_grouped_linear, self.features, plain.beta, list(groups.values()))
        intercept = plain.offset * plain.beta.shape[0]
        head = Contributions(function, intercept, self.head.classes, list(groups))
        return AdditiveModel(head, by_column=False, encoders=self.encoders, live=self.live)


@final
@dataclass(frozen=True, eq=False)
class AdditiveModel(AdaptedModel):
    """A function from (encoded) X to contributions, and the intercept of the logits."""

    head: Contributions

    def terms(self, X: Any) -> Array:
        self.check_current()
        return both_classes(self.read(X, self.head.function))

    def accumulate(self, running: RunningMean, X: Any, sample_weight: Any) -> None:
        add_contributions(running, self.terms, X, sample_weight)

    def identify(self, means: Array, classes: Any, names: Iterable[Any] | None) -> AdditivePool:
        intercept = _class_intercept(self.head.intercept, means)
        return least_commitment_additive(means, intercept, classes=classes, names=names)

    def rescaled(self, slope: float, shift: float = 0.0) -> AdditiveModel:
        head = self.head
        scaled = Contributions(
            partial(_rescaled, head.function, slope),
            _rescaled_intercept(head.intercept, slope, shift),
            head.classes,
            head.names,
        )
        return replace(self, head=scaled)

    def grouped(self, groups: Mapping[str, Sequence[int]]) -> AdaptedModel:
        function = partial(_grouped, self.head.function, list(groups.values()))
        head = replace(self.head, function=function, names=list(groups))
        return replace(self, head=head, by_column=False, term_columns=None)


def _of_dense(function: Callable[[Any], Array], X: Any) -> Array:
    return function(X.toarray() if sparse.issparse(X) else X)


def _is_renaming(groups: Mapping[str, Sequence[int]], n_components: int) -> bool:
    return [list(members) for members in groups.values()] == [[g] for g in range(n_components)]


def both_classes(contributions: Any) -> Array:
    """Write contributions z (n, G) to the log-odds of a binary model as (−z/2, +z/2)."""
    given = float_array(contributions, "contributions", ndim=(2, 3))
    if given.ndim == 3:
        return given
    return array_api_compat.array_namespace(given).stack([-given / 2, given / 2], axis=-1)


def both_probabilities(given: Any) -> FloatArray:
    """Write the probability of the second of two classes, (n,), as (1 − p, p)."""
    p = np.asarray(given, dtype=np.float64)
    return p if p.ndim == 2 else np.stack([1.0 - p, p], axis=1)


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


def _grouped(function: Callable[[Any], Array], groups: Sequence[Sequence[int]], X: Any) -> Array:
    """Sum contributions (n, G, K) or (n, G) inside each group."""
    contributions = function(X)
    xp = array_api_compat.array_namespace(contributions)
    sums = [xp.sum(_columns(contributions, group), axis=1) for group in groups]
    return xp.stack(sums, axis=1)


def _grouped_linear(
    features: Callable[[Any], Array], beta: Array, groups: Sequence[Sequence[int]], X: Any
) -> Array:
    """Return what each group of features adds to the logits, (n, H, K)."""
    values = features(X)
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
