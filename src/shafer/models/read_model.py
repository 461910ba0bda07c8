"""A trained model as a sum of contributions, linear or not: what each reader returns.

Identification needs different arrays from the two forms: the features of a linear model, so that no
(n, G, K) array is needed; the contributions of any other model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, final

import array_api_compat
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shafer._checks.arrays import float_array, same_library, to_numpy
from shafer._kernels.products import grouped_products
from shafer._typing import Array, BoolArray, FloatArray
from shafer.decision.policy import AnswerRule
from shafer.errors import UnsupportedModelError
from shafer.evidence.evidence import Evidence
from shafer.evidence.layout import (
    ComponentLayout,
    GridLayout,
    RegionLayout,
    read_layout,
    read_regions,
    region_shares,
)
from shafer.evidence.least_commitment import (
    LinearPool,
    Pool,
    RunningMean,
    least_commitment,
    least_commitment_additive,
)
from shafer.evidence.sources import take
from shafer.models.formula import Formula
from shafer.models.heads import Contributions, LinearHead
from shafer.models.live_parameters import LiveParameters
from shafer.rows.access import by_position, n_rows, take_rows, values_of
from shafer.rows.background import add_contributions
from shafer.rows.bins import ColumnBin
from shafer.rows.checks import explain_table_error
from shafer.texts.inputs import explain_text_error, settle_vocabularies

if TYPE_CHECKING:
    from shafer.models.located import LocatedModel


@dataclass(frozen=True, eq=False)
class ReadModel(ABC):
    """A trained model as components.

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
    calibration : OwnCalibration, optional
        Factors and discounts that are part of the model's own probabilities.
    options : mapping
        With these options the registry reads the model in the same way without a background.
    column_bins : callable, optional
        Returns the bins of a column of the model's input, by position; None if it has none.
    layout : ComponentLayout, optional
        Where the components lie in an image or a text.
    core : fitted model, optional
        The model inside pipelines and wrappers, whose terms these are.
    cutoff : Cutoff or LeastLoss, optional
        The threshold, or the losses, of the model's own predictions; without one, the most probable
        class is predicted.
    by_step : bool
        Each row of X has several rows of terms, one for each step of a sequence.
    """

    head: Any
    by_column: bool = True
    encoders: tuple[Any, ...] = ()
    finite: bool = False
    term_columns: tuple[tuple[int, ...], ...] | None = None
    live: tuple[LiveParameters, ...] = ()
    calibration: OwnCalibration | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    column_bins: Callable[[int], list[ColumnBin] | None] | None = None
    layout: ComponentLayout | None = None
    core: Any = None
    cutoff: AnswerRule | None = None
    by_step: bool = False

    def behind(self, encoder: Any) -> Self:
        """Put a fitted transformer in front."""
        settle_vocabularies(encoder)
        ahead = replace(self, encoders=(encoder, *self.encoders))
        return ahead.watching(LiveParameters.fitted(encoder))

    def watching(self, live: LiveParameters) -> Self:
        """Refuse further calls once these parameters change."""
        return replace(self, live=(*self.live, live))

    def check_current(self) -> None:
        """Raise an error if the model was trained again."""
        for live in self.live:
            live.check()

    def check_groupable(self) -> None:  # noqa: B027 - most models can be grouped
        """Raise an error if the components cannot be joined into groups."""

    def encoded(self, X: Any) -> Any:
        """Return X as the transformers encode it."""
        if self.encoders:
            X = by_position(X)
        for encoder in self.encoders:
            X = encoder.transform(X)
        return X

    def rows(self, X: Any) -> ModelRows:
        """Pass X through the transformers and the model once, after the model's own checks of X."""
        with self.checked_current(), self.clear_errors(X):
            encoded = self.encoded(X)
            terms = self.terms(encoded)
        return ModelRows(encoded, terms, steps=len(terms) // n_rows(X) if self.by_step else None)

    @contextmanager
    def checked_current(self) -> Iterator[None]:
        """Raise an error if the model was trained again, before any error of the code inside.

        The check comes last: a device works on the rows meanwhile.
        """
        try:
            yield
        finally:
            self.check_current()

    @contextmanager
    def clear_errors(self, X: Any) -> Iterator[None]:
        """Give clearer errors for tables that the model or its transformers cannot take."""
        try:
            yield
        except (ValueError, TypeError, AttributeError) as error:
            explain_text_error(X, self.encoders)
            explain_table_error(error, X, self.encoders)
            raise

    def incomplete_rows(self, X: Any) -> ModelRows:  # noqa: ARG002 - linear models use it
        """Pass X through once; the terms are NaN where X is NaN. The model must have ``gaps``."""
        raise TypeError("This model cannot take NaN.")

    @abstractmethod
    def terms(self, encoded: Any) -> Array:
        """Return the features or contributions of encoded rows."""

    @abstractmethod
    def accumulate(self, running: RunningMean, encoded: Any, sample_weight: Any) -> Array | None:
        """Add encoded background rows to the means of the terms; a linear model returns these."""

    @abstractmethod
    def identify(
        self,
        means: Array,
        classes: Any,
        names: Iterable[Any] | None,
        groups: Mapping[str, Sequence[int]] | None = None,
        prior: str = "shared",
    ) -> Pool:
        """Return the weights of evidence by least commitment, given the background means.

        With ``groups`` each group of components is one component, and ``names`` is not used.
        """

    @abstractmethod
    def grouped_terms(self, terms: Array, groups: Sequence[Sequence[int]]) -> Array:
        """Return the sum of the contributions in each group, (n, H, K)."""

    def weighed(
        self, pool: Any, terms: Array, groups: Mapping[str, Sequence[int]] | None
    ) -> Evidence:
        """Return the evidence of the terms of rows, by the pool that ``identify`` gave."""
        if groups is not None:
            terms = self.grouped_terms(terms, list(groups.values()))
        ev: Evidence = pool(terms)
        return ev if groups is not None else replace(ev, layout=self.layout)

    @abstractmethod
    def rescaled(self, slope: float, shift: float = 0.0) -> ReadModel:
        """Multiply the logits, and add to the log-odds of a binary model."""


@final
@dataclass(frozen=True, eq=False)
class LinearModel(ReadModel):
    """A linear head, and the function from (encoded) X to its features φ(X).

    Attributes
    ----------
    gaps : callable, optional
        As ``features``, but NaN in X stays NaN; only for heads on X itself.
    loss : PenalisedLoss, optional
        What the coefficients minimise; None if they were not trained by penalised log loss.
    edges : sequence of arrays, optional
        Where the feature of each column of X jumps, if it is constant between these numbers.
    """

    head: LinearHead
    features: Callable[[Any], Array] = values_of
    gaps: Callable[[Any], Array] | None = None
    loss: PenalisedLoss | None = None
    edges: Sequence[FloatArray] | None = None

    def terms(self, encoded: Any) -> Array:
        return self.features(encoded)

    def incomplete_rows(self, X: Any) -> ModelRows:
        if self.gaps is None:
            return super().incomplete_rows(X)
        with self.checked_current(), self.clear_errors(X):
            encoded = self.encoded(X)
            dense = encoded.toarray() if sparse.issparse(encoded) else encoded
            return ModelRows(encoded, self.gaps(dense))

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
        prior: str = "shared",
    ) -> Pool:
        head = self.head
        if groups is None:
            return least_commitment(
                head.coef, head.intercept, means, classes=classes, names=names, prior=prior
            )
        both = self._both_logits()
        contributions = self.grouped_terms(means[None, :], list(groups.values()))[0, ...]
        intercept = both.offset * both.beta.shape[0]
        return least_commitment_additive(
            contributions, intercept, classes=classes, names=list(groups), prior=prior
        )

    def grouped_terms(self, terms: Array, groups: Sequence[Sequence[int]]) -> Array:
        return _grouped_linear(terms, self._both_logits().beta, groups)

    def weighed(
        self, pool: Any, terms: Array, groups: Mapping[str, Sequence[int]] | None
    ) -> Evidence:
        if groups is not None:
            return super().weighed(pool, terms, groups)
        ev: Evidence = pool(values_of(terms), checked=self.finite)
        return ev

    def _both_logits(self) -> LinearPool:
        """Return the head with one logit for each class, also if it has one for two classes."""
        return least_commitment(self.head.coef, self.head.intercept)

    def rescaled(self, slope: float, shift: float = 0.0) -> LinearModel:
        coef, intercept = self.head.coef * slope, self.head.intercept * slope + shift
        head = replace(self.head, coef=coef, intercept=intercept)
        return replace(self, head=head, loss=None)


@final
@dataclass(frozen=True, eq=False)
class AdditiveModel(ReadModel):
    """A function from (encoded) X to contributions, and the intercept of the logits.

    Attributes
    ----------
    bags : callable, optional
        Reads the terms of each outer bag, for models that were trained as several.
    slope : float
        The factor on the terms of the model itself, from a calibration around it.
    formula : callable, optional
        Given (encoded) rows, returns the terms as data; they know the categories of these rows.
        It raises ``UnsupportedModelError`` if the terms are more than data.
    against : callable, optional
        From encoded background rows and their weights to the function of the contributions, that of
        ``pairs``, and what a file keeps; for a model that compares rows with the background. See
        :meth:`compared`.
    pairs : callable, optional
        From encoded rows to what pairs of components add together, (n, outputs, G, G), for trees.
    """

    head: Contributions
    bags: Callable[[], TermBags] | None = None
    slope: float = 1.0
    formula: Callable[[Any], Formula] | None = None
    against: Callable[[Any, Any], tuple[Any, Any, dict[str, Any]]] | None = None
    pairs: Callable[[Any], FloatArray] | None = None

    def pair_terms(self, encoded: Any) -> FloatArray:
        """Return what pairs of components add together to each logit, (n, G, G, K)."""
        assert self.pairs is not None  # the caller has asked
        given = self.slope * np.moveaxis(self.pairs(encoded), 1, 3)
        return given if given.shape[3] > 1 else np.concatenate([-given / 2, given / 2], axis=3)

    def compared(self, background: Any, weight: FloatArray | None) -> AdditiveModel:
        """Return the model with contributions relative to rows of the background."""
        if self.against is None:
            return self
        with self.clear_errors(background):
            function, pairs, kept = self.against(self.encoded(background), weight)
        if self.slope != 1.0:
            function = partial(_rescaled, function, self.slope)
        kept = {**self.options, "restored": kept}
        return replace(self, against=None, pairs=pairs, options=kept).with_function(function)

    def with_function(self, function: Callable[[Any], Array]) -> AdditiveModel:
        """Return the model with another function of the contributions."""
        return replace(self, head=replace(self.head, function=function))

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
        prior: str = "shared",
    ) -> Pool:
        intercept = _class_intercept(self.head.intercept, means)
        if groups is not None:
            means = self.grouped_terms(means[None, ...], list(groups.values()))[0, ...]
            names = list(groups)
        return least_commitment_additive(
            means, intercept, classes=classes, names=names, prior=prior
        )

    def grouped_terms(self, terms: Array, groups: Sequence[Sequence[int]]) -> Array:
        xp = array_api_compat.array_namespace(terms)
        sums = [xp.sum(take(terms, group, 1), axis=1) for group in groups]
        return xp.stack(sums, axis=1)

    def rescaled(self, slope: float, shift: float = 0.0) -> AdditiveModel:
        head = self.head
        scaled = Contributions(
            partial(_rescaled, head.function, slope),
            _rescaled_intercept(head.intercept, slope, shift),
            head.classes,
            head.names,
        )
        bags = None if self.bags is None else partial(_rescaled_bags, self.bags, slope)
        return replace(self, head=scaled, bags=bags, slope=self.slope * slope)


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


def _rescaled_bags(read: Callable[[], TermBags], slope: float) -> TermBags:
    return read().rescaled(slope)


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
    if isinstance(values, np.ndarray):  # with equal bits for a row in any batch
        return grouped_products(values, beta, groups).astype(precision, copy=False)
    sums = [take(values, group, 1) @ take(beta, group, 0) for group in groups]
    return xp.stack(sums, axis=1)


# Rows after one pass through a model, and the calibration that belongs to the model itself.


@final
@dataclass(frozen=True, eq=False)
class ModelRows:
    """Rows after one pass through a model. Everything else is computed from them.

    Attributes
    ----------
    encoded : array, data frame or sparse matrix of n rows
        The rows behind the transformers of a pipeline.
    terms : array or sparse matrix of n rows
        The features (n, J) of a linear model, or the contributions (n, G, K) of any other.
    gaps : boolean array of shape (n, J), or None
        The features that were missing and filled in; None if there were none.
    steps : int or None
        Rows of terms for each row of X, the steps of a sequence; None if there is one.
    """

    encoded: Any
    terms: Array
    gaps: BoolArray | None = None
    steps: int | None = None

    def __getitem__(self, rows: slice) -> ModelRows:
        gaps = None if self.gaps is None else self.gaps[rows]
        return ModelRows(take_rows(self.encoded, rows), take_rows(self.terms, rows), gaps)


class OwnCalibration(ABC):
    """Factors on the weights of each row that are part of a model's own probabilities.

    A tempered or moderated ``EvidentialClassifier`` has one. An ``Explainer`` applies it, so that
    its probabilities are those of the classifier.
    """

    @property
    @abstractmethod
    def moderates(self) -> bool:
        """Whether the factors depend on the row."""

    @property
    @abstractmethod
    def discounts(self) -> bool:
        """Whether the mass functions are discounted."""

    @abstractmethod
    def factor(self, rows: ModelRows) -> float | FloatArray:
        """Return one factor on all weights, or one for each row."""

    @abstractmethod
    def reliability(self, rows: ModelRows, probability: Array) -> FloatArray | None:
        """Return the reliability of each row, given its probabilities; None without a discount."""


# The terms of a model that was trained several times on parts of the data.


@final
@dataclass(frozen=True, eq=False)
class TermBags:
    """Scores of the terms in each of R outer bags, as a table that rows are looked up in.

    Attributes
    ----------
    lines : callable
        From (encoded) rows to the line of the table for each term, integers (n, G).
    scores : array of shape (R, lines, K)
        What each line adds to the logits in each bag.
    intercepts : array of shape (R, K)
        The intercept of the logits in each bag.
    shares : array of shape (R,)
        Weights of the bags; their sum is 1.
    """

    lines: Callable[[Any], NDArray[Any]]
    scores: FloatArray
    intercepts: FloatArray
    shares: FloatArray

    def rescaled(self, slope: float) -> TermBags:
        """Multiply the logits."""
        return replace(self, scores=self.scores * slope, intercepts=self.intercepts * slope)


# The log loss that the coefficients of a linear head minimise.


@final
@dataclass(frozen=True, eq=False)
class PenalisedLoss:
    """The penalised log loss of a linear head, as a posterior sees it.

    Attributes
    ----------
    precision : float
        Of the normal prior that the penalty puts on each coefficient; 0 without a penalty.
    intercept_precision : float or None
        The same for the intercept, most often 0; None if the intercept is fixed.
    class_weight : mapping, "balanced" or None
        Weights of the classes in the loss, as in scikit-learn.
    has_corner : bool
        The penalty has an L1 part, which has no curvature where a coefficient is 0.
    """

    precision: float
    intercept_precision: float | None = 0.0
    class_weight: Any = None
    has_corner: bool = False


# A model of the locations of images, read as a model of the regions of one segmentation.


def by_region(model: LocatedModel, regions: Any) -> AdditiveModel:
    """Return a model whose components are the regions of a label map (H, W)."""
    layout = read_layout(regions) if isinstance(regions, dict) else read_regions(regions)
    if not isinstance(layout, RegionLayout) or not isinstance(model.layout, GridLayout):
        raise UnsupportedModelError(
            "A label map as groups= needs components='locations', whose components lie on a grid."
        )
    if layout.label_map.ndim != 2:
        raise ValueError(
            "groups= takes one label map of shape (H, W) for all images; got shape "
            f"{layout.label_map.shape}. For a map of each image, group the evidence: "
            "explainer(X).grouped(labels)."
        )
    _, intercept = model.centred()
    function = partial(_contributions, model, layout)
    return AdditiveModel(
        Contributions(function, intercept, None, layout.names),
        by_column=False,
        live=model.live,
        options={**model.options, "regions": layout.plain()},
        layout=layout,
    )


def _contributions(model: LocatedModel, regions: RegionLayout, X: Any) -> Array:
    """Return what each region adds to the logits, (n, R, K)."""
    parts = []
    for terms in model.batches(X):
        cells = model.contributions(terms)
        xp = array_api_compat.array_namespace(cells)
        grid = terms.layout
        assert isinstance(grid, GridLayout)
        shares = np.ascontiguousarray(region_shares(regions, grid).T)
        parts.append(xp.asarray(shares, dtype=cells.dtype, device=cells.device) @ cells)
    return array_api_compat.array_namespace(parts[0]).concat(parts, axis=0)
